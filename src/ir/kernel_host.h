// What the host of a GPU has to know of a module to run it: what kernels take, and what memory arrays need.
// The emitted host functions say it as text (emit/cuda.cpp), the runtime does it (runtime/cuda_program.cpp).
#pragma once

#include <string>
#include <vector>

#include "ir/kernel_ir.h"

namespace weft::kernel {

/// What a kernel takes: an array's pointer, or a scalar of the module's fields.
struct Parameter {
  std::string name;
  Scalar type;            ///< Of the array's scalars, or as which the scalar is passed.
  bool is_array = false;  ///< Else a scalar.
  bool is_const = false;  ///< Of an array: only read.
};
/// In the order of the kernel's declaration.
std::vector<Parameter> parameters_of(const Module& module, const Function& function);

/// Throws InternalError if there is no such function, or nothing launches it.
const Function& function_named(const Module& module, const std::string& name);
const Launch& launch_of(const Module& module, const Function& function);

/// The condition under which an array has no pixels; null for a scalar.
Expr is_empty(const Array& a);
/// Whether other stages read an output that has no pixels for some sizes.
bool is_read_while_empty(const Module& module, const Array& a);
/// Whether updates of the array exchange the words around its scalars. It takes whole words then, and begins
/// as zeros, since others of the words may lie between its rows.
bool exchanges_words(const Module& module, const Array& a);
/// The first and the last of the module's steps that touch an array.
std::size_t first_use(const Module& module, const std::string& array);
std::size_t last_use(const Module& module, const std::string& array);

/// The strides of an array that the host allocates, one per field of a.strides; rows begin at whole 128
/// bytes. Those of the inner dimensions are named, with the prefix.
std::vector<Expr> allocated_strides(const Array& a, const std::string& prefix = "");
/// The scalars that such an array takes; one row at least, since empty images are read as zeros.
Expr allocated_scalars(const Array& a, const std::string& prefix = "");
/// The scalars of the row that stands in for an array without pixels.
Expr scalars_of_stand_in(const Array& a);

}  // namespace weft::kernel
