// One value of a whole image; of an image of several channels, one per channel.
#include <weft/weft.hpp>

using namespace weft;

namespace {

Stage reduced(const char* name, const Reduce& op) {
  AnyImage in("in", {Scalar::F32, Scalar::U8, Scalar::I32}, {1, 3, 4});
  return reduce(name, in, op);
}

}  // namespace

WEFT_PIPELINE(reduce_min,
              {.summary = "the least pixel", .source = "Hipacc thesis, ch. 5", .size = "4096x4096"}) {
  return reduced("min", Reduce::min());
}

WEFT_PIPELINE(reduce_max,
              {.summary = "the greatest pixel", .source = "Hipacc thesis, ch. 5", .size = "4096x4096"}) {
  return reduced("max", Reduce::max());
}

WEFT_PIPELINE(reduce_sum, {.summary = "the sum of all pixels, 64 bits of integers",
                           .source = "Hipacc thesis, ch. 5",
                           .size = "4096x4096"}) {
  return reduced("sum", Reduce::sum());
}
