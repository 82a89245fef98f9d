#include "base/orders.h"

namespace weft {

std::vector<std::vector<std::size_t>> orders_of(
    std::size_t count, const std::function<bool(std::size_t earlier, std::size_t later)>& depend) {
  std::vector<std::vector<std::size_t>> after(count);
  std::vector<std::vector<bool>> before(count);
  for (std::size_t n = 0; n < count; ++n) {
    before[n].resize(n);
    for (std::size_t earlier = n; earlier-- > 0;) {
      if (before[n][earlier] || !depend(earlier, n)) continue;
      after[n].push_back(earlier);
      before[n][earlier] = true;
      for (std::size_t i = 0; i < earlier; ++i)
        if (before[earlier][i]) before[n][i] = true;
    }
  }
  return after;
}

}  // namespace weft
