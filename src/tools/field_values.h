// What the fields of a kernel module are in one run: the numbers that its expressions of sizes are made of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/bindings.h"
#include "ir/kernel_ir.h"

namespace weft::tools {

/// Sizes and parameters, by the names of their fields.
using FieldValues = std::map<std::string, ir::Value>;

/// `module` was lowered from `pipeline`. Of the images only the sizes matter.
FieldValues field_values(const kernel::Module& module, const ir::Pipeline& pipeline,
                         const ir::Bindings& bindings);

/// An expression of fields alone, such as an extent or a number of steps.
std::int64_t evaluated(const kernel::Expr& e, const FieldValues& fields);
/// In pixels, x first.
std::vector<std::int64_t> extents_of(const kernel::Array& array, const FieldValues& fields);

}  // namespace weft::tools
