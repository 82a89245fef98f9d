#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(sobel, {.summary = "length of the Sobel gradient",
                      .source = "Hipacc thesis, ch. 3 and 5",
                      .size = "2048x2048"}) {
  Image<float> in("in");
  auto src = in.border(border_option());
  const Mask across{{-1.f, 0.f, 1.f}, {-2.f, 0.f, 2.f}, {-1.f, 0.f, 1.f}};
  Stage dx = convolve("dx", src, across);
  Stage dy = convolve("dy", src, across.transposed());
  return point("mag", sqrt(dx * dx + dy * dy));
}
