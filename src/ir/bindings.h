// Sizes at run time: what the user bound to a pipeline's inputs and parameters, and the concrete boxes that
// follow.
#pragma once

#include <weft/buffer.h>

#include <map>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::ir {

struct Bindings {
  std::map<std::string, Buffer> images;
  std::map<std::string, Value> params;  ///< Those absent keep their initial value.
};

/// Parameters are given as numbers, and take their types when they are used.
Bindings bound(std::map<std::string, Buffer> images, const std::map<std::string, double>& params);

struct ConcreteBox {
  std::vector<std::int64_t> min, extent;
};

/// Extents of every input image, by name.
using Sizes = std::map<std::string, std::vector<std::int64_t>>;

/// Throws weft::Error if an image is missing or has another type or rank than declared, or a size that the
/// pipeline cannot have, a name is unknown, or a parameter does not fit in its type or is out of its range.
void check_bindings(const Pipeline& pipeline, const Bindings& bindings);
/// All of that but the sizes.
void check_kinds(const Pipeline& pipeline, const Bindings& bindings);
Sizes sizes_of(const Bindings& bindings);
std::int64_t evaluate(const Affine& size, const Sizes& sizes);
/// Throws weft::Error naming the stage if an extent is negative or too large, or 0 where the stage has a
/// need.
ConcreteBox evaluate(const Stage& stage, const Sizes& sizes);
/// Why the parameter's type cannot hold the number: "is not a whole number"; "" if it can.
std::string misfit(const Param& param, double value);
/// Throws weft::Error if the parameter may not have that value.
void check_range(const Param& param, double value);
Value value_of(const Param& param, const Bindings& bindings);

}  // namespace weft::ir
