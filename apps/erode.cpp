#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(erode,
              {.summary = "smallest of 5x5 pixels", .source = "Hipacc thesis, ch. 3", .size = "2048x2048"}) {
  AnyImage in("in", {Scalar::U8, Scalar::F32}, {1, 3, 4});
  return local("erode", in.border(border_option()), Domain(5, 5), Local::Min);
}
