// What the language promises and C++ does not, in emitted CUDA: pipelines on the SIMT checker, in all builds,
// against the interpreter. All are compiled as one text.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include "emit/gpu.h"
#include "tests/support/differential.h"
#include "tests/support/large_windows.h"
#include "tools/simt_program.h"

namespace weft::testing_support {
namespace {

struct Sample {
  Pipeline pipeline;
  Arguments arguments;
};

/// Numbers from all over the type, its ends among them.
template <class T>
Buffer far_numbers(std::vector<std::int64_t> extents) {
  Buffer buffer = Buffer::allocate(type_of<T>(), extents);
  std::uint64_t state = 1;
  auto* pixels = static_cast<T*>(buffer.data());
  for (std::int64_t i = 0; i < buffer.pixels(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    pixels[i] = i == 0   ? std::numeric_limits<T>::min()
                : i == 1 ? std::numeric_limits<T>::max()
                         : static_cast<T>(state >> 16);
  }
  return buffer;
}

template <class T>
Sample overflow(const char* name) {
  const Image<T> in("in");
  const auto source = in.border(Border::clamp());
  const Stage sum =
      stage("sum", in.size(), [&](Var x, Var y) { return source(x - 1, y) + source(x, y) * in(x, y); });
  const Stage difference = stage("difference", in.size(), [&](Var x, Var y) {
    return -in(x, y) - source(x + 1, y) * T(3) + abs(in(x, y));
  });
  const Stage quotient =
      stage("quotient", in.size(), [&](Var x, Var y) { return in(x, y) / cast<T>(x - 1); });
  const Stage window = convolve("window", source, Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}});
  const Stage product = weft::reduce("product", in, Reduce::product());
  return {Pipeline(name, Outputs{sum, difference, quotient, window, product}.strict()),
          {{{"in", far_numbers<T>({33, 9})}}, {}, {}}};
}

/// Many updates of few places, by operators that no instruction has.
template <class T>
Sample scattered_products(const char* name) {
  const Image<T> in("in");
  const Stage products = scatter("products", Extents(3), Expr(T(1)), in,
                                 [&](Var x, Var y) { return multiply({Expr((x + y) % 3)}, in(x, y)); });
  const Stage column = scatter("column", Extents(1, 8), Expr(T(1)), in, [&](Var x, Var y) {
    return multiply({Expr(0), Expr((x + y) % 8)}, in(x, y));
  });
  return {Pipeline(name, Outputs{products, column}.strict()), {{{"in", far_numbers<T>({37, 5})}}, {}, {}}};
}

/// The width of a line is a 64-bit number, that of an image a 32-bit one.
Sample indices_of_both_widths() {
  const Image<int> image("image");
  const Image<int> line("line", 1);
  const Stage thirds_of_image = stage("thirds_of_image", image.size(), [&](Var x, Var y) {
    return image.border(Border::mirror())((x - 5) / 3, y);
  });
  const Stage thirds_of_line =
      stage("thirds_of_line", line.size(), [&](Var x) { return line.border(Border::mirror())((x - 5) / 3); });
  return {Pipeline("indices_of_both_widths", Outputs{thirds_of_image, thirds_of_line}.strict()),
          {{{"image", far_numbers<int>({9, 4})}, {"line", far_numbers<int>({50})}}, {}, {}}};
}

/// What has no pixels is read as zero.
Sample empty_intermediate() {
  const Image<int> in("in");
  const Stage none =
      stage("none", Extents(in.size()[0] + -1, 1), [&](Var x, Var y) { return Expr(x + y + 7); });
  const Stage out =
      stage("out", Extents(2, 2), [&](Var x, Var y) { return none.border(Border::clamp())(x, y); });
  return {Pipeline("empty_intermediate", Outputs{out}.strict()),
          {{{"in", far_numbers<int>({1, 1})}}, {}, {}}};
}

/// One more than the greatest number, and one less than the least.
template <class T>
Sample steps_beyond_the_ends(const char* name) {
  const Image<T> in("in");
  const Stage out = point("out", (in + T(1)) * T(3) + (in - T(1)));
  return {Pipeline(name, Outputs{out}.strict()), {{{"in", noise(type_of<T>(), {40, 5}, 3)}}, {}, {}}};
}

/// Coordinates overflow in 64 bits, too, in straight lines and in loops, and so do places that values say and that no pixel has.
/// Found by: weft verify --random 1 --seed 7074, and 8058
Sample coordinates_of_64_bits() {
  const Image<std::int64_t> in("in");
  const auto squared = [](Expr e, int times) {
    Accum<std::int64_t> power{e};
    for_each(Domain(times, 1), [&](Tap) { power = Expr(power) * Expr(power); });
    return Expr(power);
  };
  const Stage few = stage("few", in.size(), [&](Var x, Var y) { return squared(Expr(x) + 3, 5) + y; });
  const Stage many = stage("many", in.size(), [&](Var x, Var y) { return squared(Expr(y) + 3, 300) + x; });
  const Stage far = stage("far", in.size(), [&](Var x, Var y) {
    return in.border(Border::constant(std::int64_t{5}))(in(x, y) + 1, in(x, y) - 1) +
           cast<std::int64_t>(cast<float>(in(x, y))) + 1;
  });
  return {Pipeline("coordinates_of_64_bits", Outputs{few, many, far}.strict()),
          {{{"in", far_numbers<std::int64_t>({33, 9})}}, {}, {}}};
}

/// Beyond the ends is a pixel of the image itself. Found by: weft verify --random 1 --seed 7141
Sample border_of_pixels() {
  const Image<int> in("in");
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    return in.border(Border::constant(in(x, y)))(x + 1, y) - in.border(Border::constant(x * y))(x - 2, y + 1);
  });
  return {Pipeline("border_of_pixels", Outputs{out}.strict()),
          {{{"in", noise(type_of<int>(), {37, 9}, 3)}}, {}, {}}};
}

Sample large_windows_of_bytes() {
  return {large_windows<std::uint8_t, std::int32_t>("large_windows", true),
          {{{"in", noise(type_of<std::uint8_t>(), {45, 33}, 3)}}, {}, {}}};
}

/// The lanes of warps go through a window that is too large to be straight-line code.
TEST(LanesOfWarps, GoThroughLargeWindowsTapByTap) {
  const Image<float> in("in");
  const Stage out = local("out", in.border(Border::mirror()), Domain(5, 3), Local::Product);
  const Pipeline pipeline("large", Outputs(out).strict());
  const compile::Scheduling lanes{.groups =
                                      R"({"groups": [], "kernels": {"out": {"code": {"window": 8}, "levels": [
      {"kind": "grid", "extent": ["all", "all"]}, {"kind": "warp"}, {"kind": "lane", "extent": [2]}]}}})"};
  const Program program =
      tools::simt_program(pipeline, {simt::Build::address, simt::quick_flags(simt::Build::address), lanes});
  expect_agreement(program, pipeline, {{{"in", noise(in.type(), {140, 37}, 3)}}, {}, {}});
}

/// Blocks take three steps of a field that is read with a border where no border is met, and beside that without one: columns
/// beyond the end of a tile at an image's end are not looked for at the other end. Found by: weft verify --random 1 --seed 3033
TEST(StepsOfBlocks, StayInTheirTileWhereNoBorderIsMet) {
  const Image<float> in("in");
  const Field<float> f("f", in);
  const Stage steps = evolve("steps", f, 9, [&](Var x, Var y) {
    const Expr own = f.border(Border::mirror())(x, y), same = f.border(Border::repeat())(x, y);
    return select(own >= same, min(f(x + 1, y - 3), f(x + 1, y + 3)), 3.f);
  });
  const Pipeline pipeline("steps", Outputs(steps).strict());
  const compile::Scheduling of_blocks{.groups =
                                          R"({"groups": [], "kernels": {"steps": {"steps": 3, "levels": [
      {"kind": "grid", "extent": [16, "all"]}, {"kind": "block"}]}}})"};
  for (const simt::Build build : {simt::Build::race, simt::Build::address}) {
    const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build), of_blocks});
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), {17, 62}, 3)}}, {}, {}});
  }
}

/// A pixel that is stored over the one that it is made of is computed once, also where threads have several rows for the sake of
/// computed places. Found by: weft verify --random 1 --seed 9428
TEST(Updates, InPlaceComputeNoPixelTwice) {
  const Image<int> in("in");
  const Field<int> f("f", in);
  const Param<int> count("count", 5);
  const Stage steps = evolve("steps", f, count, [&](Var x, Var y) {
    return f.back(3)(x, y) * 3 + f.back(1).border(Border::clamp())(f.back(1)(x, y) % 7, y);
  });
  const Pipeline pipeline("steps", Outputs(steps).strict());
  const simt::Build build = simt::Build::race;
  const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build), {}});
  for (const std::int64_t height : {1, 3, 6})
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), {9, height}, 3)}}, {}, {}});
}

/// Lanes that have no pixels of their own, beyond the end of a row and beside a strip, do not read what others store meanwhile.
/// Found by: weft verify --random 1 --seed 11973
TEST(Updates, InPlaceReadNoPixelsOfOtherLanes) {
  const Image<int> in("in");
  const Field<int> f("f", in);
  const Param<int> count("count", 4);
  const Stage steps = evolve("steps", f, count, [&](Var x, Var y) {
    return median(Domain(3, 1), [&](Tap t) { return f.back(1).border(Border::clamp())(x + t.x, y + t.y); }) -
           f.back(3)(x, y);
  });
  const Pipeline pipeline("steps", Outputs(steps).strict());
  const simt::Build build = simt::Build::race;
  const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build), {}});
  for (const std::int64_t width : {1, 3, 250})
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), {width, 20}, 3)}}, {}, {}});
}

/// Likewise of a volume, whose planes lanes go through, several rows of each.
TEST(Updates, InPlaceReadNoPixelsOfOtherLanesInVolumes) {
  const Image<float> in("in", 3);
  const Field<float> f("f", in);
  const Param<int> count("count", 3);
  const Stage steps = evolve("steps", f, count, [&](Var x, Var y, Var z) {
    const auto u = f.back(1).border(Border::clamp());
    const Expr around = sum(Domain(3, 3), [&](Tap t) {
      return u(x + t.x, y + t.y, z - 1) + u(x + t.x, y + t.y, z) + u(x + t.x, y + t.y, z + 1);
    });
    return around - f.back(2)(x, y, z);
  });
  const Pipeline pipeline("steps", Outputs(steps).strict());
  const compile::Scheduling single_steps{.groups = R"({"groups": [], "kernels": {"steps": {"steps": 1}}})"};
  const simt::Build build = simt::Build::race;
  const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build), single_steps});
  for (const std::int64_t width : {3, 133})
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), {width, 11, 5}, 3)}}, {}, {}});
}

/// The limits of an evolution's code are those of its updates: where windows are loops over taps, threads have no packs, whose
/// pixels beyond the ends would be read. Found by: weft verify --random 1 --seed 9517
TEST(Updates, HaveTheLimitsOfTheirEvolution) {
  const Image<int> in("in");
  const Field<int> f("f", in), g("g", in);
  const std::vector<Stage> steps = evolve(
      1, {update("first", f, [&](Var, Var) { return Expr(1); }), update("second", g, [&](Var x, Var y) {
            return g.back(1)(x, y) * sum(Domain(2, 1), [&](Tap t) { return f.back(1)(x + t.x, y); });
          })});
  const Pipeline pipeline("steps", Outputs{steps[0], steps[1]}.strict());
  const compile::Scheduling loops{
      .groups = R"({"groups": [], "kernels": {"first": {"code": {"window": 1}, "steps": 1,
      "levels": [{"kind": "grid", "extent": ["all", "all"]}, {"kind": "block"}]}}})"};
  const simt::Build build = simt::Build::address;
  const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build), loops});
  expect_agreement(program, pipeline, {{{"in", noise(in.type(), {68, 1}, 3)}}, {}, {}});
}

/// Blocks that go through an image of odd width in pairs of columns, for the sake of a member of half the size. Found by: weft
/// verify --random 1 --seed 8090
TEST(TilesOfBlocks, StoreEachPixelOfAMemberOnce) {
  const Image<int> in("in");
  const Stage twice = point("twice", in * 2);
  const Stage half = stage("half", Extents((in.width() + 1) / 2, (in.height() + 1) / 2), [&](Var x, Var y) {
    return sum(Domain(9, 1), [&](Tap t) { return twice.border(Border::clamp())(2 * x + t.x, 2 * y); });
  });
  const Stage out =
      stage("out", in.size(), [&](Var x, Var y) { return half.border(Border::clamp())(x / 2 + 1, y / 2); });
  const Pipeline pipeline("pairs", Outputs{twice, out}.strict());
  const compile::Scheduling together{.groups = R"({"groups": [["twice", "half", "out"]],
      "kernels": {"out": {"levels": [{"kind": "grid", "extent": [16, "all"]}, {"kind": "block"}]}}})"};
  const simt::Build build = simt::Build::race;
  const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build), together});
  for (const std::int64_t width : {3, 4, 33})
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), {width, 2}, 3)}}, {}, {}});
}

class EmittedCuda : public testing::TestWithParam<simt::Build> {};

TEST_P(EmittedCuda, KeepsThePromisesOfTheLanguage) {
  const std::vector<Sample> samples = {overflow<std::int32_t>("overflow_i32"),
                                       overflow<std::int64_t>("overflow_i64"),
                                       overflow<std::int16_t>("overflow_i16"),
                                       scattered_products<std::int32_t>("products_i32"),
                                       scattered_products<std::int64_t>("products_i64"),
                                       scattered_products<std::uint16_t>("products_u16"),
                                       steps_beyond_the_ends<std::int32_t>("ends_i32"),
                                       steps_beyond_the_ends<std::int64_t>("ends_i64"),
                                       indices_of_both_widths(),
                                       coordinates_of_64_bits(),
                                       border_of_pixels(),
                                       large_windows_of_bytes(),
                                       empty_intermediate()};
  std::vector<Pipeline> pipelines;
  for (const Sample& sample : samples) pipelines.push_back(sample.pipeline);
  const std::vector<Program> programs =
      tools::simt_programs(pipelines, {GetParam(), simt::quick_flags(GetParam())});
  for (std::size_t s = 0; s < samples.size(); ++s) {
    SCOPED_TRACE(samples[s].pipeline.ir().name);
    expect_agreement(programs[s], samples[s].pipeline, samples[s].arguments);
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, EmittedCuda,
                         testing::Values(simt::Build::fast, simt::Build::race, simt::Build::address),
                         [](const auto& info) { return std::string(simt::name_of(info.param)); });

template <class T>
std::string text_of_a_window() {
  const Image<T> in("in");
  const Stage out = convolve("out", in.border(Border::mirror()), Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}});
  return emit::emit_gpu_for_loading(tools::cuda_module(Pipeline("window", Outputs{out})));
}

TEST(EmittedCudaText, OfNestedConversionsTakesNoExponentialTime) {
  const Stage out = stage("out", {8, 8}, [](Var x, Var) {
    Expr e = cast<std::int64_t>(x);
    for (int i = 0; i < 60; ++i) e = cast<std::int64_t>(cast<float>(e) + 1.f);
    return e;
  });
  EXPECT_FALSE(emit::emit_gpu_for_loading(tools::cuda_module(Pipeline("nested", Outputs{out}))).empty());
}

TEST(EmittedCudaText, OfAWindowOverWhatReadsNothing) {
  const Stage a = stage("a", {64, 64}, [](Var x, Var y) { return cast<float>(x * x + y); });
  const Stage b = stage("b", {62, 62}, [&](Var x, Var y) { return a(x, y) + a(x + 2, y + 2); });
  const std::string text = emit::emit_gpu_for_loading(
      tools::cuda_module(Pipeline("alone", Outputs{b}), {.groups = R"({"groups": [["a", "b"]]})"}));
  EXPECT_NE(text.find("'b' with 'a'. Each warp"), std::string::npos);
}

/// Whether sums are made of unsigned numbers; words of bytes, which others read, are no sums.
bool has_unsigned_sums(const std::string& text) {
  return text.find("(int32_t)((uint32_t)") != std::string::npos;
}

TEST(EmittedCudaText, IsPlainWhereNothingOverflows) {
  EXPECT_FALSE(has_unsigned_sums(text_of_a_window<std::uint8_t>()));
  EXPECT_FALSE(has_unsigned_sums(text_of_a_window<std::int16_t>()));
  EXPECT_TRUE(has_unsigned_sums(text_of_a_window<std::int32_t>()));
}

}  // namespace
}  // namespace weft::testing_support
