#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(bokeh, {.summary = "mean over a disc of 197 pixels",
                      .source = "Hipacc thesis, samples",
                      .size = "2048x2048"}) {
  Image<Vec<float, 3>> in("in");
  return local("bokeh", in.border(border_option()), Domain::disc(8), Local::Mean);
}
