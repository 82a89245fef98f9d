// Somebody's own program: its pipelines get weft's command line by linking weft::main.
#include <weft/weft.hpp>

using namespace weft;

WEFT_PIPELINE(invert, {.summary = "white becomes black", .source = "my own", .size = "8x8x8", .range = 1}) {
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

WEFT_PIPELINE(smooth, {.summary = "a volume, blurred", .source = "my own", .size = "20x16x4"}) {
  Image<float> in("in", 3);
  auto src = in.border(Border::clamp());
  return stage("smooth", in.size(), [&](Var x, Var y, Var z) {
    return sum(Domain(1, 1, 3), [&](Tap t) { return src(x, y, z + t.z); }) / 3.f;
  });
}

WEFT_PIPELINE(steps, {.summary = "differences along a row", .source = "my own"}) {
  Image<float> in("in", 1);
  auto src = in.border(Border::clamp());
  return stage("steps", in.size(), [&](Var x) { return src(x + 1) - src(x); });
}

WEFT_PIPELINE(profile, {.summary = "integers in one dimension", .source = "my own"}) {
  Image<std::uint8_t> in("in");
  return {
      stage("squares", {in.width()},
            [&](Var x) { return cast<std::uint32_t>(in(x, 0)) * in(x, 0) * 65537u; }),
      stage("long", {in.width()}, [&](Var x) { return cast<std::int64_t>(in(x, 0)) << 54; }),
      stage("pair", in.size(), [&](Var x, Var y) { return cast<std::int8_t>(pack(in(x, y), -in(x, y))); })};
}

WEFT_PIPELINE(ramp, {.summary = "no image at all", .source = "my own"}) {
  const Option<int> width("width", 8, at_least(1)), height("height", 6, at_least(1));
  return stage("ramp", {width.value(), height.value()}, [](Var x, Var y) { return cast<float>(10 * x + y); });
}

WEFT_PIPELINE(weighted, {.summary = "images of different sizes", .source = "my own"}) {
  Image<float> in("in"), coarse("coarse", in.size() / 2), table("table", {4});
  return stage("weighted", coarse.size(),
               [&](Var x, Var y) { return in(2 * x, 2 * y) * coarse(x, y) + table(3); });
}

WEFT_PIPELINE(statistics, {.summary = "values and counts of a whole image", .source = "my own"}) {
  Image<std::uint8_t> in("in");
  Stage total = reduce("total", point("shifted", cast<std::int64_t>(in) << 48), Reduce::sum());
  Stage mean = point("mean", cast<float>(reduce("sum", in, Reduce::sum())) / 10.f);
  Stage histogram = scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); });
  return {total, mean, histogram};
}

WEFT_PIPELINE(cumulated, {.summary = "sums of all pixels before", .source = "my own", .refused = true}) {
  Image<float> in("in");
  Stage sum;
  return stage("sum", in.size(), [&](Var x, Var y) { return in(x, y) + sum(x - 1, y); });
}
