#include <weft/weft.hpp>

#include <map>
#include <string>

using namespace weft;

WEFT_PIPELINE(scaling, {.summary = "resamples to a size", .source = "Hipacc thesis", .size = "2048x2048"}) {
  AnyImage in("in", {Scalar::F32, Scalar::U8}, {1, 3, 4});
  const Option<int> width("width", 0), height("height", 0);  // 0: half of the image's, rounded up
  const std::map<std::string, Interpolation> filters = {{"nearest", Interpolation::Nearest},
                                                        {"bilinear", Interpolation::Bilinear},
                                                        {"bicubic", Interpolation::Bicubic},
                                                        {"lanczos3", Interpolation::Lanczos3}};
  const Option<std::string> filter("filter", "bilinear", {"nearest", "bilinear", "bicubic", "lanczos3"});

  const Extents size{width > 0 ? Index(width.value()) : (in.width() + 1) / 2,
                     height > 0 ? Index(height.value()) : (in.height() + 1) / 2};
  return resize("scaling", in.border(border_option()), size, filters.at(filter),
                [&](Expr e) { return saturate(in.type().lane(), e); });
}
