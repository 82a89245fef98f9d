// Where each pixel went: to the offset of the least Hamming distance between census signatures. A signature
// of 3x3 pixels has 8 bits, which is too few to tell 225 offsets apart: of textures that moved as a whole, it
// finds a third of the pixels or less, one of 5x5 pixels more than two thirds. Flat regions have no signature
// of their own; where nothing is nearer than no offset at all, they rest. The thesis' sample takes the first
// of the least distances instead, window=3 and ties=first. Occlusions are not looked for.
#include <weft/weft.hpp>

#include <string>

using namespace weft;

namespace {

/// Bit n is set where neighbour n, row by row without the centre, is brighter than the pixel.
Stage census(const std::string& name, const Source& image, const Border& border, int size) {
  auto src = image.border(border);
  const int centre = size * size / 2;
  const Mask bits = Mask::from(size, size, [&](int dx, int dy) {
    const int n = centre + dy * size + dx;
    return n == centre ? 0 : 1 << (n - (n > centre ? 1 : 0));
  });
  return stage(name, image.size(), [&](Var x, Var y) {
    Expr set =
        sum(Domain(bits), [&](Tap t) { return select(src(x + t.x, y + t.y) > src(x, y), bits(t), 0); });
    return cast<std::uint32_t>(set);
  });
}

Expr count_bits(Expr v) {
  v = v - ((v >> 1) & 0x55555555u);
  v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
  return (((v + (v >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
}

}  // namespace

WEFT_PIPELINE(optical_flow, {.summary = "how far each pixel of a textured image moved, up to 7 pixels",
                             .source = "Hipacc thesis, samples",
                             .size = "2048x2048"}) {
  Image<std::uint8_t> first("first"), second("second", first.size());
  const Option<int> window("window", 5, {5, 3});  // of the census
  const Option<std::string> ties("ties", "rest", {"rest", "first"});
  const Border border = border_option();
  Stage before = census("before", first, border, window);
  Stage after = census("after", second, border, window);

  auto moved = after.border(border);
  return stage("flow", first.size(), [&](Var x, Var y) {
    const Expr more_than_any = 33u, at_rest = count_bits(before(x, y) ^ moved(x, y));
    Accum<std::uint32_t> least = ties.value() == "rest" ? at_rest : more_than_any;
    Accum<std::int8_t> dx = 0, dy = 0;
    for_each(Domain(15, 15), [&](Tap t) {
      Expr distance = count_bits(before(x, y) ^ moved(x + t.x, y + t.y));
      Expr nearer = distance < least;
      dx = select(nearer, Expr(t.x), dx);
      dy = select(nearer, Expr(t.y), dy);
      least = min(distance, least);
    });
    return pack(dx, dy);
  });
}
