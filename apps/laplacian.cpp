#include <weft/weft.hpp>

#include <string>

using namespace weft;

WEFT_PIPELINE(laplacian, {.summary = "Burt and Adelson's Laplacian pyramid, quantised and decoded",
                          .source = "Hipacc thesis, ch. 4"}) {
  Image<float> in("in");
  const Option<int> levels("levels", 4);
  const Option<double> step("q", 4);
  const Border border = border_option("mirror");
  const auto quantised = [q = static_cast<float>(step.value())](const Expr& e) {
    return q == 0 ? e : q * round(e / q);
  };
  return traverse(in, levels,
                  {.reduce = [&](const std::string& name,
                                 const Source& finer) { return reduce_level(name, finer.border(border)); },
                   .filter = [&](const std::string& name, const Pyramid& g, int level) -> Source {
                     if (level + 1 == g.levels()) return g[level];
                     Stage up = expand_level(name + "_up", g[level + 1].border(border), g[level].size());
                     return point(name, quantised(g[level] - up));
                   },
                   .expand =
                       [&](const std::string& name, const Source& band, const Source& coarser) {
                         Stage up = expand_level(name + "_up", coarser.border(border), band.size());
                         return point(name, band + up);
                       }});
}
