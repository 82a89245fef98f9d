#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(median, {.summary = "median of 3x3, 5x5 or 7x7 pixels",
                       .source = "Hipacc thesis, ch. 3",
                       .size = "2048x2048"}) {
  AnyImage in("in", {Scalar::U8, Scalar::F32}, {1, 3, 4});
  const Option<int> size("size", 5, {3, 5, 7});
  return local("median", in.border(border_option()), Domain(size, size), Local::Median);
}
