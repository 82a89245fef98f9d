#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(normalize,
              {.summary = "from the least value at 0 to the greatest at 1; all 0 where they are equal",
               .source = "Hipacc thesis, ch. 5",
               .size = "4096x4096",
               .white = 1}) {
  Image<float> in("in");
  Stage least = reduce("least", in, Reduce::min());
  Stage greatest = reduce("greatest", in, Reduce::max());
  return point("out", select(greatest > least, (in - least) / (greatest - least), 0.f));
}
