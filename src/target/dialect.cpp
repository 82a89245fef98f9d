#include "target/dialect.h"

#include <array>

namespace weft::target {

std::span<const Dialect* const> dialects() {
  static const std::array all = {
      &cuda(),
      &hip(),
  };
  return all;
}

}  // namespace weft::target
