#include <weft/weft.hpp>

#include <string>

using namespace weft;

WEFT_PIPELINE(pyramid, {.summary = "the coarsest level of a pyramid, as large as the image",
                        .source = "Hipacc thesis, ch. 4",
                        .size = "2048x2048"}) {
  Image<float> in("in");
  const Option<int> levels("levels", 4);
  const Border border = border_option("mirror");
  const Pyramid g("g", in, levels, binomial_reduce(border));
  return g.collapse("out", [&](const std::string& name, const Source& level, const Source& coarser) {
    return expand_level(name, coarser.border(border), level.size());
  });
}
