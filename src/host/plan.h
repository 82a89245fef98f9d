// What the host does to run a module: which memory arrays get and when, what is copied, launched and repeated.
// A graph, in which nothing is said twice: what a launch reads and writes is found in its function's body, the
// edges follow from that, and memory lives from the first node that needs it to the last. Emitted C++ and CUDA
// print the plan, the CUDA runtime executes it, and none of them decides anything. The plan of one kernel on a
// GPU, without its last nodes:
//
//     n0   allocate in: in_pitch * h f32, rows (w + 31) / 32 * 32 apart; if the image is the host's
//     n1   copy in: rows 0 to h, host to device 0; after n0; if the image is the host's
//     n2   launch blur_kernel: w x h x 1 threads, blocks of 32x4x1; reads in; writes blur; after n1
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "analysis/row_reach.h"
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

/// Memory for an array, on the node's device. There is one stride for each of the array's; the outer ones name
/// the inner ones.
struct Allocate {
  kernel::Symbol array;
  Scalar type;
  std::vector<Symbolic> strides;
  Symbolic scalars;  ///< How many it takes.
  Symbolic zeroed;   ///< Whether it begins as zeros.
  bool operator==(const Allocate&) const = default;
};
struct Free {
  kernel::Symbol array;
  bool operator==(const Free&) const = default;
};
/// The rows [first, last) of an array, from one device to the other. Rows are counted along the last
/// dimension.
struct Copy {
  kernel::Symbol array;
  int from, to;
  Symbolic first, last;
  bool operator==(const Copy&) const = default;
};
/// What a kernel takes: an array's pointer, or a scalar of the module's fields.
struct Parameter {
  kernel::Symbol name;
  Scalar type;            ///< Of the array's scalars, or as which the scalar is passed.
  bool is_array = false;  ///< Else a scalar.
  bool is_const = false;  ///< Of an array: only read.
  bool operator==(const Parameter&) const = default;
};
/// On the host, [0, work[0]) is divided among the cores, in portions where an iteration is known to take few
/// picoseconds. On a device, `work` is the number of threads in each
/// dimension; where a grid may not have enough blocks for them, kernels loop.
struct Launch {
  kernel::Symbol function;
  std::vector<Parameter> parameters;
  std::vector<Symbolic> work;
  std::array<int, 3> block = {1, 1, 1};
  std::optional<Symbolic> picoseconds = {};  ///< Of an iteration on a core, about.
  bool operator==(const Launch&) const = default;
};

struct Node;
/// A graph that runs for the counter from `from` up to, and without, `to`, each time after the one before.
struct Turns {
  Symbolic from, to;
  std::int64_t by;
  std::vector<Node> nodes;
  int places = 1;  ///< By which the arrays rotate before each time.
  bool operator==(const Turns&) const;
};
/// Graphs that run again and again, one after the other; before each time the arrays rotate. All of it comes
/// after what the repeat itself comes after.
struct Repeat {
  kernel::Symbol counter;  ///< A field, which begins at 0.
  std::vector<kernel::Rotation> rotations;
  std::vector<Turns> parts;
  std::vector<kernel::StandIn> first =
      {};  ///< The first time, once arrays have rotated: what is read instead.
  bool operator==(const Repeat&) const = default;
};

/// An array's memory on one device. On another device it has another place.
struct Place {
  kernel::Symbol array;
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
  Uses uses = {};  ///< Allocations and releases write.
  /// Nodes of the same graph, by index, that come before. They keep their place in the order where they take no
  /// part. Nodes on one stream run one after another; an edge from one stream to another is an event.
  std::vector<std::size_t> after = {};
  bool operator==(const Node&) const = default;
};

/// The largest value of a size that kernels are made for.
struct Limit {
  kernel::Symbol size;
  std::int64_t most;
  bool operator==(const Limit&) const = default;
};

/// Of a device, for blocks of a kernel at a time: what its grid depends on.
struct RoomFor {
  kernel::Symbol room, function;
  std::int64_t expected;  ///< Blocks.
  bool operator==(const RoomFor&) const = default;
};

/// Images lie where the caller gives them: on the host, or on the device.
struct Plan {
  std::vector<Limit> limits;
  std::vector<RoomFor> rooms = {};
  /// If they have a reach, images of the host move in parts (host/parts.h).
  analysis::RowReachOrWhy rows = {};
  std::vector<Node> nodes;  ///< In an order that respects all edges.
  bool operator==(const Plan&) const = default;
};

/// Verified. All on one stream, of the host or of the first GPU. `rows` are those of the pipeline.
Plan plan_of(const kernel::Module& module, analysis::RowReachOrWhy rows = {});

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
const kernel::Array& array_named(const kernel::Module& module, const kernel::Symbol& name);
/// The condition under which an array has no pixels: false for a scalar.
kernel::Expr is_empty(const kernel::Array& a);
/// Whether it has none for some sizes of images, which have pixels themselves.
bool may_be_empty(const kernel::Array& a);

// ---- finding one's way in a plan ----

/// How often a part runs, if that is not less than 0.
kernel::Expr times_of(const kernel::Expr& from, const kernel::Expr& to, std::int64_t by);
/// By how many places a rotation turns ahead of the first time, so that the last time leaves every array where it was.
kernel::Expr turns_ahead(const Repeat& repeat, const kernel::Rotation& rotation);
/// The array that a node allocates, frees or copies; none of others.
kernel::Symbol array_of(const Node& node);
/// What allocates an array in such runs; null if nothing does.
const Allocate* allocation_of(const Plan& plan, const kernel::Symbol& array, When when);

}  // namespace weft::host
