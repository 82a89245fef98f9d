// Independent chains that read one image, each a point operator and a blur: work of two kinds that may
// overlap.
#include <weft/weft.hpp>

#include <string>
#include <vector>

using namespace weft;

WEFT_PIPELINE(scatter_pipes, {.summary = "n independent chains from one image",
                              .source = "Hipacc thesis, ch. 4",
                              .size = "2048x2048"}) {
  Image<float> in("in");
  const Option<int> n("n", 4, at_least(1));
  const Border border = border_option();
  const Mask b5 = Mask::outer({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1}) / 256.f;

  std::vector<Stage> blurred;
  for (int i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    const float gamma = 0.5f + 0.1f * static_cast<float>(i);
    Stage p = point("p" + number, 255.f * pow(in / 255.f, gamma));
    blurred.push_back(convolve("l" + number, p.border(border), b5));
  }
  return blurred;
}
