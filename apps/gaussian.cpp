#include <weft/weft.hpp>

using namespace weft;

namespace {

/// The binomial window of 3, 5 or 7 points per direction, of sum 1.
Mask binomial(int size) {
  if (size == 3) return Mask::outer({1, 2, 1}, {1, 2, 1}) / 16.f;
  if (size == 5) return Mask::outer({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1}) / 256.f;
  return Mask::outer({1, 6, 15, 20, 15, 6, 1}, {1, 6, 15, 20, 15, 6, 1}) / 4096.f;
}

}  // namespace

WEFT_PIPELINE(gaussian, {.summary = "binomial blur", .source = "Hipacc thesis, ch. 3", .size = "2048x2048"}) {
  AnyImage in("in", {Scalar::U8, Scalar::F32}, {1, 3, 4});
  const Mask mask = binomial(Option<int>("size", 3, {3, 5, 7}));
  return convolve("gaussian", in.border(border_option()), mask,
                  [&](Expr e) { return saturate(in.type().lane(), e); });
}
