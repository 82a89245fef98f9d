// The arithmetic of `weft bench`'s roof: bytes by kernels, not by stages.
#include "tools/traffic.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace weft::tools {
namespace {

Traffic traffic(const Outputs& outputs, std::vector<std::int64_t> size,
                const std::map<std::string, ir::Value>& params = {}, Type type = {Scalar::F32, 1},
                Tile tile = Tile::None) {
  const Pipeline pipeline("counted", outputs);
  return traffic_of(pipeline.ir(), {{{"in", Buffer::allocate(type, std::move(size))}}, params},
                    {tile, Fuse::Auto, {}, {}});
}

constexpr std::int64_t pixels = 64 * 48, image = 4 * pixels;

Stage blurred(const char* name, const Stage& of) {
  return local(name, of.border(Border::clamp()), Domain(3, 3), Local::Max);
}

TEST(Traffic, InputsAreReadAndOutputsWritten) {
  Image<float> in("in");
  EXPECT_EQ(traffic(point("out", in + 1.f), {64, 48}), (Traffic{image, image}));
  Image<float> again("in");
  EXPECT_EQ(traffic(point("out", cast<std::uint8_t>(again)), {64, 48}), (Traffic{image, pixels}));
}

TEST(Traffic, WhatIsStoredCountsTwiceAndWhatIsComputedInPlaceDoesNot) {
  Image<float> in("in");
  const Stage stored = local("stored", in.border(Border::clamp()), Domain(3, 3), Local::Max);
  const Stage twice = point("twice", stored * 2.f);
  EXPECT_EQ(traffic(blurred("out", stored), {64, 48}), (Traffic{2 * image, 2 * image}));
  EXPECT_EQ(traffic(blurred("out", twice), {64, 48}), (Traffic{2 * image, 2 * image}));
}

TEST(Traffic, WhatMarchesIsNotStored) {
  Image<float> in("in");
  const Stage kept = local("kept", in.border(Border::clamp()), Domain(3, 3), Local::Max);
  EXPECT_EQ(traffic(blurred("out", kept), {64, 48}, {}, {Scalar::F32, 1}, Tile::March),
            (Traffic{image, image}));
}

TEST(Traffic, SeveralReadersReadAnArrayOnce) {
  Image<float> in("in");
  const Stage shared = local("shared", in.border(Border::clamp()), Domain(3, 3), Local::Max);
  EXPECT_EQ(traffic({blurred("a", shared), blurred("b", shared)}, {64, 48}), (Traffic{2 * image, 3 * image}));
}

TEST(Traffic, AnOutputThatIsReadAgainIsReadAsWell) {
  Image<float> in("in");
  const Stage first = local("first", in.border(Border::clamp()), Domain(3, 3), Local::Max);
  EXPECT_EQ(traffic({first, blurred("second", first)}, {64, 48}), (Traffic{2 * image, 2 * image}));
}

TEST(Traffic, SizesAreThoseOfTheBoxes) {
  Image<Vec<std::uint8_t, 3>> in("in");
  const Stage half = stage("half", in.size() / 2, [&](Var x, Var y) { return in(2 * x, 2 * y); });
  EXPECT_EQ(traffic(half, {7, 5}, {}, {Scalar::U8, 3}), (Traffic{7 * 5 * 3, 3 * 2 * 3}));
}

TEST(Traffic, ReductionsHaveParts) {
  Image<float> in("in");
  const Traffic total = traffic(reduce("total", in, Reduce::sum()), {2048, 2048});
  constexpr std::int64_t all = std::int64_t{4} * 2048 * 2048;
  EXPECT_GT(total.read, all);
  EXPECT_LT(total.read, all + all / 100);
  EXPECT_GT(total.written, 4);
  EXPECT_LT(total.written, all / 100);
}

TEST(Traffic, ScattersHaveCopies) {
  Image<std::uint8_t> in("in");
  const Stage histogram =
      scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); });
  const Traffic counted = traffic(histogram, {64, 48}, {}, {Scalar::U8, 1});
  const std::int64_t bins = 256 * 4, copies = counted.written - bins;
  EXPECT_GT(copies, bins);
  EXPECT_EQ(copies % bins, 0);
  EXPECT_EQ(counted.read, pixels + copies + bins);  // sums are kept in the bins themselves
}

TEST(Traffic, EveryStepCounts) {
  Image<float> in("in");
  const Param<int> steps("steps", 1, at_least(0));
  Field<float> u("u", in);
  const Stage heat =
      evolve("heat", u, steps, [&](Var x, Var y) { return .5f * (u(x - 1, y) + u(x + 1, y)); });
  const auto after = [&](std::int64_t n) {
    return traffic(heat, {64, 48}, {{"steps", ir::Value::integer({Scalar::I32, 1}, n)}});
  };
  EXPECT_EQ(after(0), (Traffic{image, image})) << "a copy";
  EXPECT_EQ(after(1), (Traffic{image, image}));
  EXPECT_EQ(after(10), (Traffic{10 * image, 10 * image}));
}

}  // namespace
}  // namespace weft::tools
