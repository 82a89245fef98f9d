// Groups of stages that end in a reduction: the elements are those of rows that are kept, the parts and the
// order within them those of the reduction by itself.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/cpu_program.h"
#include "tests/differential/tiles.h"
#include "tests/support/combinations.h"
#include "tests/support/differential.h"

namespace weft::testing_support::marching_reductions_test {
namespace {

using Size = std::vector<std::int64_t>;

const bool on_cpu = processor_of_tiles == target::Processor::Cpu;

/// Several rows in each part, and fewer in the last; parts of exactly one row, or of 16; and several to
/// a row. More rows than a strip has, and fewer than the windows have.
const std::vector<Size> sizes =
    on_cpu ? std::vector<Size>{{1, 1},    {7, 5},    {33, 31},  {130, 170}, {1, 5000},
                               {1365, 7}, {4095, 3}, {4096, 2}, {4097, 18}}
           : std::vector<Size>{{1, 1},    {7, 5},    {33, 31},  {85, 97}, {1, 4100},
                               {255, 17}, {256, 16}, {257, 33}, {600, 40}};

bool in_rows(const Pipeline& pipeline, const std::string& stage) {
  return compile::scheduled(pipeline.ir(), processor_of_tiles, {.tile = Tile::March})
      .schedule.of(stage)
      .in_rows;
}

void expect_same_bits(const std::map<std::string, Buffer>& expected,
                      const std::map<std::string, Buffer>& got) {
  for (const auto& [name, one] : got) {
    const Buffer& other = expected.at(name);
    EXPECT_EQ(std::memcmp(one.data(), other.data(), static_cast<std::size_t>(size_of(one.type()))), 0)
        << name;
  }
}

/// Every number as the interpreter has it, and as the reduction has it by itself to the bit. Sums of floats
/// are within what their order leaves open.
void agree(const Outputs& outputs, const Bound& bound = exactly) {
  const Pipeline pipeline("marching", Outputs(outputs).strict());
  const std::vector<Program> fused = compiled_in_tiles(pipeline);
  const Program apart = compiled_in_stages(pipeline);
  std::uint64_t seed = 36;
  for (const Size& extents : sizes) {
    SCOPED_TRACE(testing::Message() << extents[0] << "x" << extents[1] << ", seed " << seed);
    const Arguments arguments{{{"in", noise(pipeline.ir().inputs[0]->type, extents, seed++)}}, {}, {}};
    expect_agreement(fused, pipeline, arguments, bound);
    expect_same_bits(apart.run(arguments), fused.front().run(arguments));
  }
}

class MarchingReductions : public testing::TestWithParam<std::string> {
 protected:
  Border border() const { return Border::named(GetParam(), 3); }

  /// The length of a gradient, of a window.
  Stage gradient(const std::string& name, const Source& in) {
    const Accessor src = in.border(border());
    Stage soft = convolve(name + "_soft", src, Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}});
    const Accessor of_soft = soft.border(border());
    return stage(name, in.size(), [&](Var x, Var y) {
      return abs(of_soft(x + 1, y) - of_soft(x - 2, y)) + abs(of_soft(x, y + 1) - of_soft(x, y - 1));
    });
  }
};

TEST_P(MarchingReductions, OfIntegers) {
  const Image<std::int16_t> in("in");
  const auto left = [&](const char* name) {
    Stage of = gradient(name, in);
    return stage(std::string(name) + "_left", in.size(),
                 [&](Var x, Var y) { return of.border(border())(x - 1, y) + x; });
  };
  const Outputs outputs = {reduce("sum", left("a"), Reduce::sum()), reduce("least", left("b"), Reduce::min()),
                           reduce("where_greatest", left("c"), Reduce::arg_max()),
                           reduce("many", select(left("d") > 40, 1, 0), Reduce::sum())};
  const Pipeline pipeline("marching", outputs);
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(in_rows(pipeline, name)) << name;
  agree(outputs);
}

TEST_P(MarchingReductions, OfFloats) {
  const Image<float> in("in");
  Stage soft = convolve("soft", in.border(border()), Mask{{1.f, 2.f, 1.f}, {2.f, 4.f, 2.f}, {1.f, 2.f, 1.f}});
  Stage dx = convolve("dx", soft.border(border()), Mask{{-1.f, 0.f, 1.f}});
  Stage dy = convolve("dy", soft.border(border()), Mask{{-1.f}, {0.f}, {1.f}});
  const Stage energy = reduce("energy", dx * dx + dy * dy, Reduce::sum());
  EXPECT_TRUE(in_rows(Pipeline("marching", {energy}), "soft"));
  agree({energy}, Bound{1e9});
  agree({reduce("peak", dx * dx + dy * dy, Reduce::max())});
}

TEST_P(MarchingReductions, OfWindowsOfWhatMarches) {
  const Image<std::uint8_t> in("in");
  Stage soft = convolve("soft", in.border(border()), Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}});
  const Accessor of_soft = soft.border(border());
  const Stage rough = reduce(
      "rough", in.size(), [&](Var x, Var y) { return abs(of_soft(x + 3, y - 2) - of_soft(x, y)) * (y + 1); },
      Reduce::sum());
  EXPECT_TRUE(in_rows(Pipeline("marching", {rough}), "soft"));
  agree({rough});
}

INSTANTIATE_TEST_SUITE_P(Modes, MarchingReductions, testing::ValuesIn(border_modes(instrumented || !on_cpu)),
                         [](const auto& info) { return info.param; });

const Mask box{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};

/// Two windows, one after the other: the first is kept in rows, the other computed in place of its read.
Stage twice(const Source& in, const Mask& mask = box) {
  Stage soft = convolve("soft", in.border(Border::clamp()), mask);
  return convolve("softer", soft.border(Border::mirror()), mask);
}

TEST(MarchingReduction, KeepsTheOrderOfElements) {
  const Image<std::uint32_t> in("in");
  Stage soft = twice(in);
  const auto compose = [](const Expr& f, const Expr& g) {
    return pack(g.lane(0) * f.lane(0), g.lane(0) * f.lane(1) + g.lane(1));
  };
  const Expr element = pack(soft * 2u + 1u, soft + 3u);
  const Stage all = reduce("all", element, Reduce(compose).identity(Vec<std::uint32_t, 2>{1, 0}));
  EXPECT_EQ(in_rows(Pipeline("marching", {all}), "soft"), on_cpu) << "accumulators have columns of their own";
  agree({all});
}

TEST(MarchingReduction, OfPixelsOfSeveralLanes) {
  const Image<Vec<std::uint8_t, 3>> in("in");
  const Stage sum = reduce("sum", twice(in), Reduce::sum());
  EXPECT_TRUE(in_rows(Pipeline("marching", {sum}), "soft"));
  agree({sum});
}

TEST(MarchingReduction, AtOtherRates) {
  const Image<std::int16_t> in("in");
  const Extents half{(in.width() + 1) / 2, (in.height() + 1) / 2};
  Stage soft = convolve("soft", in.border(Border::clamp()), box);
  const Accessor fine = soft.border(Border::mirror());
  Stage down =
      stage("down", half, [&](Var x, Var y) { return fine(2 * x, 2 * y - 1) + fine(2 * x + 1, 2 * y); });
  const Accessor coarse = down.border(Border::clamp());
  const Stage of_coarse = reduce(
      "of_coarse", half, [&](Var x, Var y) { return coarse(x, y - 1) - coarse(x + 1, y); }, Reduce::max());
  EXPECT_EQ(in_rows(Pipeline("marching", {of_coarse}), "down"), on_cpu) << "blocks go down parts at one rate";
  agree({of_coarse});
  const Stage of_fine = reduce(
      "of_fine", in.size(), [&](Var x, Var y) { return coarse((x + 1) / 2, y / 2) - fine(x, y) * x; },
      Reduce::sum());
  EXPECT_EQ(in_rows(Pipeline("marching", {of_fine}), "down"), on_cpu);
  agree({of_fine});
}

TEST(MarchingReduction, OfABoxOfItsOwn) {
  const Image<std::int32_t> in("in");
  Stage soft = convolve("soft", in.border(Border::clamp()), box);
  const Stage sum = reduce(
      "sum", BoxAt{{-3, -2}, {in.width() + 5, in.height() + 7}},
      [&](Var x, Var y) { return soft.border(Border::constant(-3))(x, y) * x - y; }, Reduce::sum());
  EXPECT_TRUE(in_rows(Pipeline("marching", {sum}), "soft"));
  agree({sum});
}

TEST(MarchingReduction, OfPartOfABoxThatBeginsAnywhere) {
  const Image<std::int32_t> in("in");
  Stage moved =
      stage("moved", BoxAt{{-3, -2}, in.size()}, [&](Var x, Var y) { return in(x + 3, y + 2) * y; });
  const Stage sum = reduce(
      "sum", BoxAt{{-2, -1}, {in.width() - 1, in.height() - 1}},
      [&](Var x, Var y) { return moved(x - 1, y) - moved(x, y - 1) * x; }, Reduce::sum());
  EXPECT_TRUE(in_rows(Pipeline("marching", {sum}), "moved"));
  agree({sum});
}

/// So many rows above a strip that it is as high as several parts, and leaves room for batches of two rows.
TEST(MarchingReduction, OfHighWindows) {
  const Image<std::int32_t> in("in");
  Stage soft = convolve("soft", in.border(Border::clamp()), box);
  const Accessor of_soft = soft.border(Border::mirror());
  const Stage sum = reduce(
      "sum", in.size(),
      [&](Var x, Var y) { return (of_soft(x, y + 7) - of_soft(x - 1, y - 6)) * (y * 3 - x); }, Reduce::sum());
  EXPECT_NE(in_rows(Pipeline("marching", {sum}), "soft"), on_cpu) << "wide parts are too much for its caches";
  agree({sum});
}

TEST(MarchingReduction, OfNoElements) {
  const Image<std::int32_t> in("in");
  Stage soft = convolve("soft", in.border(Border::constant(0)), box);
  const Outputs outputs = {reduce(
      "none", Extents{in.width() - in.width(), in.height()},
      [&](Var x, Var y) { return soft.border(Border::constant(1))(x, y); }, Reduce::min())};
  agree(outputs);
}

TEST(MarchingReduction, IsReadByStages) {
  const Image<std::int32_t> in("in");
  Stage soft = convolve("soft", in.border(Border::clamp()), box);
  Stage least = reduce("least", soft, Reduce::min());
  Stage other = convolve("other", in.border(Border::mirror()), box);
  Stage above = point("above", other - least);
  Stage relative = local("relative", above.border(Border::clamp()), Domain(3, 1), Local::Max);
  agree({relative, reduce("far", relative, Reduce::sum())});
}

}  // namespace
}  // namespace weft::testing_support::marching_reductions_test
