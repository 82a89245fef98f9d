#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(box, {.summary = "mean of 5x5 pixels", .source = "Hipacc thesis, ch. 3"}) {
  AnyImage in("in", {Scalar::U8, Scalar::F32}, {1, 3, 4});
  auto src = in.border(border_option());
  return stage("box", in.size(), [&](Var x, Var y) {
    Expr total = sum(Domain(5, 5), [&](Tap t) { return src(x + t.x, y + t.y); });
    return saturate(in.type().lane(), total / 25.f);
  });
}
