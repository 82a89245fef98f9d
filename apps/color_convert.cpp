#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(color_convert,
              {.summary = "RGBA to grey", .source = "Hipacc thesis, example 2.1", .size = "2048x2048"}) {
  Image<Vec<std::uint8_t, 4>> in("in");
  Expr rgba = in;
  return point("grey",
               saturate<std::uint8_t>(.3f * rgba.lane(0) + .59f * rgba.lane(1) + .11f * rgba.lane(2)));
}
