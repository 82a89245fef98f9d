#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(blur, {.summary = "3x3 binomial blur"}) {
  Image<float> in("in");
  return convolve("blur", in.border(Border::clamp()), Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f);
}
