// The value of an index expression outside of kernels, where sizes, strides and parameters have values: how
// large an array is, how many threads a launch needs.
#pragma once

#include <map>
#include <string>

#include "ir/kernel_ir.h"

namespace weft::kernel {

/// Values of a module's fields by name, each of its field's type.
using FieldValues = std::map<std::string, ir::Number>;

/// An integer expression without loads. Throws weft::Error if 64 bits cannot hold a result, InternalError for
/// an unknown name.
std::int64_t evaluate(const Expr& e, const FieldValues& fields);

}  // namespace weft::kernel
