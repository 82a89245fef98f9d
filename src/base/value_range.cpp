#include <weft/value_range.h>

#include <array>
#include <charconv>

namespace weft {
namespace {

std::string spelt(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

std::string text_of(const ValueRange& range) {
  if (range.has_least() && range.has_most()) return "from " + spelt(range.least) + " to " + spelt(range.most);
  if (range.has_least()) return "at least " + spelt(range.least);
  return range.has_most() ? "at most " + spelt(range.most) : "";
}

}  // namespace weft
