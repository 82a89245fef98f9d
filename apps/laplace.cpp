#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(laplace, {.summary = "5x5 Laplace operator around 128",
                        .source = "Hipacc thesis, ch. 3",
                        .size = "2048x2048"}) {
  Image<std::uint8_t> in("in");
  const Mask mask = Mask::from(5, 5, [](int dx, int dy) { return dx == 0 && dy == 0 ? -24 : 1; });
  return convolve("laplace", in.border(border_option()), mask,
                  [](Expr e) { return saturate<std::uint8_t>(e + 128); });
}
