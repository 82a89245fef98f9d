#include <weft/weft.hpp>

#include <string>

using namespace weft;

WEFT_PIPELINE(laplacian, {.summary = "Burt and Adelson's Laplacian pyramid, quantised and decoded",
                          .source = "Hipacc thesis, ch. 4",
                          .size = "2048x2048"}) {
  Image<float> in("in");
  const Option<int> levels("levels", 4);
  const Option<double> step("q", 4);
  const Border border = border_option("mirror");
  const auto quantised = [q = static_cast<float>(step.value())](const Expr& e) {
    return q == 0 ? e : q * round(e / q);
  };
  Stage decoded = traverse(in, levels,
                           {.reduce = binomial_reduce(border),
                            .filter = [&](const std::string& name, const Pyramid& g, int level) -> Source {
                              if (level + 1 == g.levels()) return g[level];
                              Stage up =
                                  expand_level(name + "_up", g[level + 1].border(border), g[level].size());
                              return point(name, quantised(g[level] - up));
                            },
                            .expand = expand_and_add(border)});
  return Outputs(decoded).strict(step != 0);  // round() is decided by the last bit
}
