#include "ir/interpret.h"

namespace weft::ir {

std::int64_t border_index(BorderMode mode, std::int64_t index, std::int64_t extent) {
  if (extent <= 0) return -1;
  if (index >= 0 && index < extent) return index;
  const auto modulo = [](std::int64_t a, std::int64_t n) { return a - floor_div(a, n) * n; };
  switch (mode) {
    case BorderMode::Clamp: return index < 0 ? 0 : extent - 1;
    case BorderMode::Repeat: return modulo(index, extent);
    case BorderMode::Mirror: {
      const std::int64_t m = modulo(index, 2 * extent);
      return m < extent ? m : 2 * extent - 1 - m;
    }
    case BorderMode::Mirror101: {
      if (extent == 1) return 0;
      const std::int64_t m = modulo(index, 2 * extent - 2);
      return m < extent ? m : 2 * extent - 2 - m;
    }
    case BorderMode::Constant: break;
  }
  return -1;
}

}  // namespace weft::ir
