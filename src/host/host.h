// What the host of a GPU has to know of a module to run it: what kernels take, and what memory arrays need.
// The emitted host functions say it as text (emit/gpu.cpp), the runtime does it (runtime/cuda_program.cpp).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernel/ir.h"

namespace weft::host {

/// What a kernel takes: an array's pointer, or a scalar of the module's fields.
struct Parameter {
  std::string name;
  Scalar type;            ///< Of the array's scalars, or as which the scalar is passed.
  bool is_array = false;  ///< Else a scalar.
  bool is_const = false;  ///< Of an array: only read.
};
/// In the order of the kernel's declaration.
std::vector<Parameter> parameters_of(const kernel::Module& module, const kernel::Function& function);

/// Throws InternalError if nothing launches the function.
const kernel::Launch& launch_of(const kernel::Module& module, const kernel::Function& function);

/// The condition under which an array has no pixels; null for a scalar.
kernel::Expr is_empty(const kernel::Array& a);
/// Whether other stages read an output that has no pixels for some sizes.
bool is_read_while_empty(const kernel::Module& module, const kernel::Array& a);
/// Arrays whose updates exchange the words around their scalars. Such an array takes whole words, and begins
/// as zeros, since others of the words may lie between its rows.
std::set<std::string> arrays_exchanging_words(const kernel::Module& module);

/// The intermediate arrays that a step is the first, or the last, to touch, as indices into module.arrays.
struct Lifetimes {
  std::vector<std::size_t> begin, end;
};
/// One for each step of the module. An array that no step touches has no lifetime.
std::vector<Lifetimes> lifetimes_of(const kernel::Module& module);

/// The strides of an array that the host allocates, one per field of a.strides; rows begin at whole 128
/// bytes. Those of the inner dimensions are named, with the prefix.
std::vector<kernel::Expr> allocated_strides(const kernel::Array& a, const std::string& prefix = "");
/// The scalars that such an array takes; one row at least, since empty images are read as zeros.
kernel::Expr allocated_scalars(const kernel::Array& a, const std::string& prefix = "");
/// The scalars of the row that stands in for an array without pixels.
kernel::Expr scalars_of_stand_in(const kernel::Array& a);

}  // namespace weft::host
