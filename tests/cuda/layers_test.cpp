// Layers of blocks, each with arrays of its own, on the SIMT checker: in strips, in tiles and in turn, of warps and of blocks; in
// reductions and scatters.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kernel/visit.h"
#include "tests/support/differential.h"
#include "tools/simt_program.h"

namespace weft::testing_support::layers_test {
namespace {

/// Each frame's stages, one after the other, and which of them are one kernel: `kernel` is the plan of that.
struct Recipe {
  std::string name;
  Stage (*last)(const Image<float>& frame, const std::string& name);
  std::string kernel;
};

/// Sums around those around a pixel.
Stage sums(const Image<float>& frame, const std::string& name) {
  const Accessor of_frame = frame.border(Border::mirror());
  const Stage near = stage("near_" + name, frame.size(), [&](Var x, Var y) {
    return of_frame(x - 1, y) + of_frame(x, y - 1) + of_frame(x + 2, y) + of_frame(x, y + 1);
  });
  const Accessor of_near = near.border(Border::clamp());
  return stage("out_" + name, frame.size(), [&](Var x, Var y) {
    return of_near(x - 1, y) - of_near(x, y - 1) + of_near(x + 1, y) * of_near(x, y + 1);
  });
}
Stage halves(const Image<float>& frame, const std::string& name) {
  const Accessor of_frame = frame.border(Border::mirror101());
  const Stage fine = stage("near_" + name, frame.size(),
                           [&](Var x, Var y) { return of_frame(x - 1, y) + of_frame(x + 1, y + 1); });
  const Accessor of_fine = fine.border(Border::clamp());
  return stage("out_" + name, {(frame.width() + 1) / 2, (frame.height() + 1) / 2},
               [&](Var x, Var y) { return of_fine(2 * x - 1, 2 * y) + of_fine(2 * x + 1, 2 * y + 1); });
}

/// Three frames of one size.
Pipeline of_frames(const Recipe& recipe) {
  const Image<float> a("a"), b("b", a.size()), c("c", a.size());
  const Stage of_a = recipe.last(a, "a"), of_b = recipe.last(b, "b"), of_c = recipe.last(c, "c");
  return Pipeline("frames", Outputs{of_a, of_b, of_c}.strict());
}

std::string schedule_of(const Recipe& recipe) {
  std::string groups, kernels;
  for (const char* frame : {"a", "b", "c"}) {
    groups += fmt::format(R"({}["near_{}", "out_{}"])", groups.empty() ? "" : ", ", frame, frame);
    kernels += fmt::format(R"({}"out_{}": {})", kernels.empty() ? "" : ", ", frame, recipe.kernel);
  }
  return fmt::format(R"({{"groups": [{}], "kernels": {{{}}}}})", groups, kernels);
}

const std::vector<Recipe> recipes = {
    {"strips of lanes", sums, R"({"levels": [{"kind": "warp"}, {"kind": "lane", "extent": [4]}]})"},
    {"strips of halves", halves, R"({"levels": [{"kind": "warp"}, {"kind": "lane", "extent": [2]}]})"},
    {"strips of blocks", sums,
     R"({"levels": [{"kind": "block"}, {"kind": "batch", "order": "march", "extent": ["all", 4]}]})"},
    {"tiles of blocks", sums,
     R"({"levels": [{"kind": "block"}, {"kind": "batch", "order": "static", "extent": ["all", "all"]}]})"},
    {"tiles of warps", sums,
     R"({"levels": [{"kind": "warp"}, {"kind": "batch", "order": "static", "extent": ["all", "all"]}]})"},
    {"in turn", halves, R"({"levels": [{"kind": "grid", "extent": ["all"]}]})"},
};

void expect_layers(const Recipe& recipe, const std::vector<std::vector<std::int64_t>>& sizes) {
  SCOPED_TRACE(recipe.name);
  const Pipeline pipeline = of_frames(recipe);
  const std::string schedule = schedule_of(recipe);
  const compile::Scheduling as_asked{.groups = schedule};
  ASSERT_EQ(compile::lowered(pipeline.ir(), target::Processor::Gpu, as_asked).functions.size(), 1);
  for (const simt::Build build : {simt::Build::race, simt::Build::address}) {
    const std::vector<Program> programs =
        tools::simt_programs({pipeline}, {build, simt::quick_flags(build)}, {schedule});
    expect_agreement_on_noise(programs, pipeline, sizes, 29);
  }
}

TEST(Layers, OfAllKindsOfKernels) {
  for (const Recipe& recipe : recipes) expect_layers(recipe, {{1, 1}, {7, 5}, {131, 70}, {400, 37}});
}

/// 72 strips a layer, of more rows than would do if the device were one layer's alone.
TEST(Layers, ShareTheRoomOfADevice) {
  expect_layers({"room", halves, R"({"levels": [{"kind": "warp"}, {"kind": "lane", "extent": [1]}]})"},
                {{4000, 300}});
}

/// Of what each image has in all, and how often it has each value.
TEST(Layers, OfReductionsAndScatters) {
  const Image<std::uint8_t> a("a"), b("b", a.size());
  std::vector<Stage> results;
  for (const auto& [image, name] : {std::pair(a, std::string("a")), std::pair(b, std::string("b"))}) {
    const Stage sum = reduce("sum_" + name, cast<int>(image), Reduce::sum());
    const Stage counts =
        scatter("counts_" + name, {256}, 0, image, [&](Var x, Var y) { return add({image(x, y)}, 1); });
    const Accessor count = counts.border(Border::clamp());
    results.push_back(
        stage("out_" + name, image.size(), [&](Var x, Var y) { return sum - count(image(x, y)); }));
  }
  const Pipeline pipeline("images", Outputs{results[0], results[1]});
  for (const kernel::Launch* launch :
       kernel::launches_of(compile::lowered(pipeline.ir(), target::Processor::Gpu)))
    EXPECT_EQ(launch->grid->layers, 2) << launch->function.spelling();
  for (const simt::Build build : {simt::Build::race, simt::Build::address}) {
    const Program program = tools::simt_program(pipeline, {build, simt::quick_flags(build)});
    expect_agreement_on_noise({program}, pipeline, {{1, 1}, {131, 70}}, 31);
  }
}

}  // namespace
}  // namespace weft::testing_support::layers_test
