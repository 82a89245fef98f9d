#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(histogram, {.summary = "how many pixels have each value",
                          .source = "Hipacc thesis, ch. 3",
                          .size = "4096x4096"}) {
  Image<std::uint8_t> in("in");
  return scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); });
}
