#include "target/dialect.h"

#include <array>
#include <iterator>
#include <sstream>

namespace weft::target {

std::span<const Dialect* const> dialects() {
  static const std::array all = {
      &cuda(),
      &hip(),
  };
  return all;
}

std::vector<std::string> float_option_words(const Dialect& dialect, bool strict) {
  std::istringstream words{std::string(float_options(dialect, strict))};
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace weft::target
