// Questions about the windows of local operators.
#pragma once

#include <optional>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::ir {

struct DenseBox {
  std::vector<int> low, extent;  ///< Per dimension.
};
/// The box that a domain's points fill, row by row, if they do.
std::optional<DenseBox> dense_box(const Domain& domain);

/// The mask's coefficient at a point relative to its centre, inside the mask.
template <class Integer>
const Value& coefficient_at(const Mask& mask, const std::vector<Integer>& point) {
  std::size_t at = 0;
  for (std::size_t d = mask.extents.size(); d-- > 0;)
    at = at * mask.extents[d] + point[d] + mask.extents[d] / 2;
  return mask.coefficients[at];
}

}  // namespace weft::ir
