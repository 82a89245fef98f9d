#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(life, {.summary = "Conway's game of life",
                     .source = "Hipacc thesis, samples",
                     .size = "2048x2048",
                     .white = 1}) {
  Image<std::uint8_t> in("in");
  const Param<int> steps("steps", 1, at_least(0));
  Stage start = point("start", cast<std::uint8_t>(in != 0));
  Field<std::uint8_t> cells("cells", start);
  auto around = cells.border(border_option("repeat"));
  return evolve("life", cells, steps, [&](Var x, Var y) {
    Expr block = sum(Domain(3, 3), [&](Tap t) { return cast<int>(around(x + t.x, y + t.y) != 0); });
    // 3 with the cell itself: born or kept; 4 with a living cell: kept
    return cast<std::uint8_t>(block == 3 || (block == 4 && cells(x, y) != 0));
  });
}
