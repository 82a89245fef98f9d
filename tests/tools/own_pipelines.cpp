// Somebody's own program: its pipelines get weft's command line by linking weft::main.
#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(invert, {.summary = "white becomes black", .source = "my own", .range = 1}) {
  Image<float> in("in");
  return point("inverted", 1.f - in);
}

WEFT_PIPELINE(bright, {.summary = "where it is bright", .source = "my own"}) {
  Image<std::uint8_t> in("in");
  Param<std::uint8_t> level("level", 100, at_most(250));
  return point("is_bright", in > level);
}

WEFT_PIPELINE(halves, {.summary = "two outputs of 16 bits", .source = "my own"}) {
  Image<std::uint16_t> a("a");
  Image<std::uint16_t> b("b", a.size());
  return {point("mean", cast<std::uint16_t>((a + b) / 2)), point("difference", cast<std::int16_t>(a - b))};
}
