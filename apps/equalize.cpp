// Spreads the values of an image over all of 0 to 255, so that each range of them has about as many pixels as
// any other of its length. As OpenCV's equalizeHist, with n(v) pixels of value at most v and `least` the
// least value: v becomes 255 * (n(v) - n(least)) / (n(255) - n(least)), rounded to even; an image of one
// value stays as it is.
#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(equalize, {.summary = "uses all values about equally often", .source = "examples"}) {
  Image<std::uint8_t> in("in");
  Stage histogram = scatter("histogram", {256}, 0, in, [&](Var x, Var y) { return add({in(x, y)}, 1); });
  Stage least = reduce("least", in, Reduce::min());

  const Domain below(Mask::from(511, 1, [](int dx, int) { return dx <= 0 ? 1 : 0; }));
  Stage n = local("n", histogram.border(Border::constant(0)), below, Local::Sum);
  Stage table = stage("table", {256}, [&](Var v) {
    const Expr darkest = n.border(Border::clamp())(least), others = n(255) - darkest;
    const Expr spread = saturate<std::uint8_t>(cast<float>(n(v) - darkest) * (255.f / cast<float>(others)));
    return select(others == 0, least, spread);
  });
  const Accessor looked_up = table.border(Border::clamp());
  Stage out = stage("out", in.size(), [&](Var x, Var y) { return looked_up(in(x, y)); });
  return Outputs(out).strict();  // the last bit decides a rounding
}
