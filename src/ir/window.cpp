#include "ir/window.h"

#include <algorithm>

namespace weft::ir {

std::optional<DenseBox> dense_box(const Domain& domain) {
  DenseBox box{domain.points.at(0), domain.points.at(0)};
  for (const auto& p : domain.points) {
    for (int d = 0; d < domain.rank; ++d) {
      box.low[d] = std::min(box.low[d], p[d]);
      box.extent[d] = std::max(box.extent[d], p[d]);
    }
  }
  std::size_t count = 1;
  for (int d = 0; d < domain.rank; ++d) count *= static_cast<std::size_t>(box.extent[d] += 1 - box.low[d]);
  if (count != domain.points.size()) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (int d = 0; d < domain.rank; ++d) {
      if (domain.points[i][d] != box.low[d] + static_cast<int>(rest % box.extent[d])) return std::nullopt;
      rest /= box.extent[d];
    }
  }
  return box;
}

}  // namespace weft::ir
