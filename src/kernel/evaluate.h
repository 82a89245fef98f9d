// The value of an index expression outside of kernels, where sizes, strides and parameters have values: how
// large an array is, how many threads a launch needs, how often steps are repeated.
#pragma once

#include <map>
#include <vector>

#include "ir/bindings.h"
#include "kernel/ir.h"

namespace weft::kernel {

/// Values of a module's fields, each of its field's type.
using FieldValues = std::map<Symbol, ir::Number>;

/// Sizes and parameters of a run of `pipeline`, which `module` was lowered from; counters are 0, and
/// devices have the room that is expected. Of the images only the sizes matter.
FieldValues field_values(const Module& module, const ir::Pipeline& pipeline, const ir::Bindings& bindings);

/// An integer expression without loads. Throws weft::Error if 64 bits cannot hold a result, InternalError for
/// an unknown name.
std::int64_t evaluate(const Expr& e, const FieldValues& fields);
/// In pixels, x first.
std::vector<std::int64_t> extents_of(const Array& array, const FieldValues& fields);

}  // namespace weft::kernel
