#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(box, {.summary = "mean of 5x5 pixels", .source = "Hipacc thesis, ch. 3", .size = "2048x2048"}) {
  AnyImage in("in", {Scalar::U8, Scalar::F32}, {1, 3, 4});
  return local("box", in.border(border_option()), Domain(5, 5), Local::Mean,
               [&](Expr e) { return saturate(in.type().lane(), e); });
}
