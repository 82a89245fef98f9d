// What the host does to run a module: which memory arrays get and when, what is copied, launched and repeated.
// It is a graph. What a node reads and writes follows from the functions' bodies, the edges follow from that,
// and memory lives from the first node that needs it to the last. Emitted C++ and CUDA print the plan and the
// runtime executes it; none of them decides anything. It prints itself, here of two launches on a GPU:
//
//     n0  allocate in: f32 x in_pitch * h, in_pitch = (w + 31) / 32 * 32      if the host's image is given
//     n1  copy in, rows 0 to h, host -> device 0      reads host in      writes in      after n0      if …
//     n2  launch blur_kernel      reads in      writes blur      after n1
#pragma once

#include <array>
#include <compare>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "kernel/build.h"
#include "kernel/ir.h"

namespace weft::host {

/// An expression of sizes and parameters. Two are equal if they say the same.
struct Symbolic {
  Symbolic(kernel::Expr e) : expr(std::move(e)) {}
  operator const kernel::Expr&() const { return expr; }
  bool operator==(const Symbolic& other) const { return kernel::same(expr, other.expr); }

  kernel::Expr expr;
};

/// The host's own memory and cores; GPUs are 0, 1, …
constexpr int the_host = -1;

/// Memory for an array, on the node's device. Rows lie so far apart as the strides say, one for each field of
/// the array's; the outer ones name the inner ones.
struct Allocate {
  std::string array;
  Scalar type;
  std::vector<Symbolic> strides;
  Symbolic scalars;  ///< How many it takes.
  Symbolic zeroed;   ///< Whether it begins as zeros.
  bool operator==(const Allocate&) const = default;
};
struct Free {
  std::string array;
  bool operator==(const Free&) const = default;
};
/// The rows [first, last) of an array, from one device to the other. Rows are counted along the last
/// dimension.
struct Copy {
  std::string array;
  int from, to;
  Symbolic first, last;
  bool operator==(const Copy&) const = default;
};
/// What a kernel takes: an array's pointer, or a scalar of the module's fields.
struct Parameter {
  std::string name;
  Scalar type;            ///< Of the array's scalars, or as which the scalar is passed.
  bool is_array = false;  ///< Else a scalar.
  bool is_const = false;  ///< Of an array: only read.
  bool operator==(const Parameter&) const = default;
};
/// On the host, parts of [0, work[0]) are divided among the cores. On a device a grid has enough blocks for so
/// many threads in each dimension, as far as there may be so many blocks: kernels loop over the rest.
struct Launch {
  std::string function;
  std::vector<Parameter> parameters;
  std::vector<Symbolic> work;
  std::array<int, 3> block = {1, 1, 1};
  bool operator==(const Launch&) const = default;
};

struct Node;
/// A graph that runs `count` times, one time after another. Whatever comes before a node of the outer graph
/// comes before all of its inner ones.
struct Repeat {
  Symbolic count;
  std::string counter;  ///< The field that holds the number of the current time, from 0.
  std::vector<kernel::Rotation> rotations;
  std::vector<Node> nodes;
  bool operator==(const Repeat&) const;
};

/// Memory of an array. Copies of one array on two devices are two places.
struct Place {
  std::string array;
  int device;
  auto operator<=>(const Place&) const = default;
};
struct Uses {
  std::set<Place> reads, writes;
  bool operator==(const Uses&) const = default;
};

/// The runs in which a node takes part.
enum class When {
  Always,
  HostImage,  ///< Those whose caller gives this image in the host's memory, though it is computed on a device.
  EmptyImage,  ///< Those whose caller gives this image on the node's device, and without pixels.
};

struct Node {
  std::variant<Allocate, Free, Copy, Launch, Repeat> what;
  int device, stream = 0;
  When when = When::Always;
  Uses uses = {};  ///< Who allocates or frees memory writes it.
  /// Nodes of the same graph, by index, that have to be done before, even those that take no part. Nodes on
  /// one stream run one after another; an edge from one stream to another is an event that the second waits
  /// for.
  std::vector<std::size_t> after = {};
  bool operator==(const Node&) const = default;
};

/// A size that kernels are made for up to a limit.
struct Limit {
  std::string size;
  std::int64_t most;
  bool operator==(const Limit&) const = default;
};

/// Images lie where the caller gives them: on the host, or on the device.
struct Plan {
  std::vector<Limit> limits;
  std::vector<Node> nodes;  ///< In an order that respects all edges.
  bool operator==(const Plan&) const = default;
};

/// Verified. All on one stream, of the host or of the first GPU.
Plan plan_of(const kernel::Module& module);

bool is_on_one_stream(const Plan& plan);
/// The plan itself. Throws InternalError if it has several streams or devices, which emitters and the runtime
/// do not know yet.
Plan on_one_stream(Plan plan);

std::string to_string(const Plan& plan);
std::string to_string(const Node& node);  ///< What it does; not its uses, edges and place.
std::string name_of(int device);          ///< "host", "device 0"

// ---- what follows from the module alone ----

/// In the order of the kernel's declaration.
std::vector<Parameter> parameters_of(const kernel::Module& module, const kernel::Function& function);
/// Throws InternalError if nothing launches the function.
const kernel::Launch& launch_of(const kernel::Module& module, const kernel::Function& function);
/// Throws InternalError if there is no such array.
const kernel::Array& array_named(const kernel::Module& module, const std::string& name);
/// The condition under which an array has no pixels: false for a scalar.
kernel::Expr is_empty(const kernel::Array& a);
/// Whether it has none for some sizes: images of users have some.
bool may_be_empty(const kernel::Array& a);

// ---- finding one's way in a plan ----

/// So many times a rotation turns ahead of the first time, so that the last time leaves every array where it
/// was.
kernel::Expr turns_ahead(const Repeat& repeat, const kernel::Rotation& rotation);
/// The array that a node allocates, frees or copies; "" of others.
const std::string& array_of(const Node& node);
/// The node's memory of an array; null if it is not the plan that allocates it.
const Allocate* allocation_of(const Plan& plan, const std::string& array, When when);

}  // namespace weft::host
