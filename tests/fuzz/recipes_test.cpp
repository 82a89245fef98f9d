// Drawing recipes, building pipelines from them, and printing them.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "fuzz/bounds.h"
#include "fuzz/build.h"
#include "fuzz/generate.h"
#include "fuzz/groups.h"
#include "fuzz/print.h"
#include "ir/print.h"
#include "rewrite/prepare.h"
#include "rewrite/turned_volumes.h"
#include "runtime/compile_together.h"
#include "tests/support/images.h"

namespace weft::fuzz {
namespace {

constexpr std::uint64_t seeds = 400;

TEST(RandomRecipes, AreTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(to_cpp(random_recipe(seed), ""), to_cpp(random_recipe(seed), "")) << "seed " << seed;
  EXPECT_NE(to_cpp(random_recipe(1), ""), to_cpp(random_recipe(2), ""));
}

// The seed 938 drew a scatter into 5 dimensions.
TEST(RandomRecipes, AreLegal) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Recipe recipe = random_recipe(seed);
    EXPECT_NO_THROW(build(recipe)) << "seed " << seed;
    EXPECT_TRUE(bounds_of(recipe)) << "seed " << seed;
  }
}

/// As they stand in a file, and as what they are of changes under them.
TEST(RandomGroups, AreLegalAndSeveralStages) {
  const auto text = [](const schedule::Grouping& g) { return schedule::to_json(g); };
  int march = 0, in_tiles = 0, reduce = 0, in_kernels = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Recipe recipe = random_recipe(seed);
    const ir::Pipeline pipeline = rewrite::prepare(build(recipe).ir());
    const schedule::Grouping grouping = random_groups(pipeline, seed);
    EXPECT_EQ(text(grouping), text(random_groups(pipeline, seed))) << "seed " << seed;
    EXPECT_EQ(text(grouping), text(legal_groups(pipeline, grouping))) << "seed " << seed;
    const auto found = schedule::schedule_of_groups(pipeline, grouping, schedule::Tiling::March);
    ASSERT_TRUE(found.schedule) << "seed " << seed << ": " << found.why;
    for (const auto& group : grouping.groups) EXPECT_GT(group.size(), 1u) << "seed " << seed;
    in_tiles += !grouping.tiles.empty();
    in_kernels += !grouping.kernels.empty();
    march += std::any_of(found.schedule->stages.begin(), found.schedule->stages.end(),
                         [](const schedule::StagePlan& plan) { return plan.in_rows; });
    reduce += std::any_of(pipeline.stages.begin(), pipeline.stages.end(), [&](const ir::StagePtr& stage) {
      const auto& plans = found.schedule->stages;
      return std::holds_alternative<ir::Reduce>(stage->definition) &&
             std::any_of(plans.begin(), plans.end(), [&](const schedule::StagePlan& plan) {
               return plan.in_rows && plan.into == stage->name;
             });
    });
    recipe.grouping = grouping;
    EXPECT_NE(to_cpp(recipe, "").find("// With --schedule FILE, of {\"groups\":["), std::string::npos);
  }
  EXPECT_GT(march, static_cast<int>(seeds) / 16);
  EXPECT_GT(in_tiles, march / 5);
  EXPECT_GT(in_kernels, static_cast<int>(seeds) / 4);
  EXPECT_GT(reduce, 2);  // 49 of the first 4000
}

TEST(RandomGroups, LoseWhatIsNotThereOrNotLegal) {
  const weft::Image<float> in("in");
  weft::Stage a = point("a", in * 2.f), b = point("b", a + 1.f), c = point("c", b * a);
  const ir::Pipeline pipeline = Pipeline("test", {c}).ir();
  const auto left = [&](const schedule::Groups& groups) {
    return legal_groups(pipeline, {groups, {}}).groups;
  };
  EXPECT_EQ(left({{"gone", "b", "c"}, {"gone", "a"}}), (schedule::Groups{{"b", "c"}}));
  EXPECT_EQ(left({{"a", "c"}}), schedule::Groups()) << "b comes between them";
}

TEST(RandomGroups, LoseWhatHasNoRoomInSharedMemory) {
  const weft::Image<float> in("in");
  const Mask box{{1.f, 1.f, 1.f}, {1.f, 1.f, 1.f}, {1.f, 1.f, 1.f}};
  weft::Stage a = convolve("a", in.border(Border::clamp()), box);
  weft::Stage b = convolve("b", a.border(Border::clamp()), box);
  const ir::Pipeline pipeline = Pipeline("test", {b}).ir();
  EXPECT_EQ(legal_groups(pipeline, {{{"a", "b"}}, {}}, {3000}).groups, (schedule::Groups{{"a", "b"}}));
  EXPECT_EQ(legal_groups(pipeline, {{{"a", "b"}}, {}}, {1000}).groups, schedule::Groups());
}

/// An error that is not a number would forgive nothing, or everything.
TEST(RandomRecipes, HaveErrorsThatAreNumbers) {
  constexpr std::uint64_t infinite_times_exact = 1004459;
  for (std::uint64_t seed : {std::uint64_t{1}, infinite_times_exact}) {
    for (std::uint64_t s = seed; s < seed + 100; ++s) {
      const auto bounds = bounds_of(random_recipe(s));
      ASSERT_TRUE(bounds) << "seed " << s;
      for (const Bound& b : *bounds) EXPECT_FALSE(std::isnan(b.error)) << "seed " << s;
    }
  }
}

/// lerp(float, float, double) rounds the difference to float. Found by: weft verify --random 1 --seed
/// 45000132
TEST(RandomRecipes, HaveErrorsOfTheTypeThatIsComputed) {
  const auto error_of_lerp = [](Scalar ends, Scalar weight) {
    Term lerp;
    lerp.kind = Term::Kind::Operator;
    lerp.op = Op::Lerp;
    lerp.type = Type{weight, 1};
    for (const Scalar s : {ends, ends, weight}) {
      Term parameter;
      parameter.kind = Term::Kind::Parameter;
      parameter.type = Type{s, 1};
      lerp.operands.push_back(parameter);
    }
    Recipe recipe;
    recipe.strict = false;
    return Bounds(recipe).of(lerp).value().error;
  };
  EXPECT_LT(error_of_lerp(Scalar::F64, Scalar::F64), 1e-10);
  EXPECT_GT(error_of_lerp(Scalar::F32, Scalar::F64), 1e-10);
}

TEST(RandomRecipes, KnowTheTypesOfTheirStages) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Recipe drawn = random_recipe(seed);
    Recipe built = drawn;
    build(built);  // writes what the language says
    for (std::size_t s = 0; s < drawn.stages.size(); ++s)
      EXPECT_EQ(name_of(drawn.stages[s].type), name_of(built.stages[s].type))
          << "seed " << seed << " stage " << s;
  }
}

/// What a language construct is called here, wherever it occurs in the recipe.
void collect(Recipe& recipe, std::set<std::string>& found) {
  found.insert(recipe.strict ? "strict" : "free");
  for (Image& image : recipe.images) {
    found.insert("rank " + std::to_string(image.rank));
    found.insert("type " + name_of(image.type.scalar));
    found.insert("lanes " + std::to_string(image.type.lanes));
    if (image.extreme) found.insert("extreme");
    if (image.special) found.insert("special");
  }
  for (Stage& stage : recipe.stages) {
    found.insert("stage " + std::to_string(static_cast<int>(stage.kind)));
    if (stage.kind == Stage::Kind::Local)
      found.insert("local " + std::to_string(static_cast<int>(stage.local)));
    if (stage.kind == Stage::Kind::Reduce)
      found.insert("reduce " + std::to_string(static_cast<int>(stage.reduce)));
    if (stage.kind == Stage::Kind::Scatter)
      found.insert("update " + std::to_string(static_cast<int>(stage.update)));
    if (stage.reduce == weft::Reduce::Kind::Custom)
      found.insert("associative " + std::to_string(static_cast<int>(stage.associative)));
    if (!stage.over.empty()) found.insert("over a box");
    if (!stage.post.empty()) found.insert("post");
    if (stage.frozen > 0) found.insert("frozen");
    if (stage.kind == Stage::Kind::Evolve) {
      found.insert("fields " + std::to_string(stage.fields));
      const bool is_constant = stage.steps[0].kind == Term::Kind::Literal;
      found.insert(is_constant ? "constant steps" : "steps by parameter");
    }
    if (stage.cases.size() > 1) found.insert("cases");
    each_access(stage, [&](Access& access) {
      if (access.border) found.insert(std::string("border ") + border_name(*access.border));
      if (!access.border && !access.indices.empty()) found.insert("no border");
      if (!access.crop.empty()) found.insert("crop");
      if (access.valid) found.insert("valid");
      if (access.age >= 0) found.insert(access.border ? "bordered age" : "frozen age");
      if (access.age >= 0) found.insert("age " + std::to_string(access.age));
      for (const Index& index : access.indices) found.insert(index.computed.empty() ? "affine" : "gather");
    });
    each_root(stage, [&](Term& root) {
      each_term(root, [&](Term& t) {
        found.insert("term " + std::to_string(static_cast<int>(t.kind)));
        if (t.kind == Term::Kind::Operator) found.insert("op " + std::to_string(static_cast<int>(t.op)));
        if (t.kind == Term::Kind::Interpolated)
          found.insert("kernel " + std::to_string(static_cast<int>(t.interpolation)));
        if (!t.window.listed.empty()) found.insert("points");
        if (t.kind == Term::Kind::Window)
          found.insert("window " + std::to_string(static_cast<int>(t.combine)));
      });
    });
  }
}

TEST(RandomRecipes, CoverTheLanguage) {
  std::set<std::string> found,
      wanted = {"strict",         "free",       "extreme",      "special",    "post",
                "cases",          "no border",  "crop",         "valid",      "affine",
                "gather",         "frozen",     "bordered age", "frozen age", "steps by parameter",
                "constant steps", "over a box", "points"};
  const auto want = [&](const std::string& what, int first, int count) {
    for (int i = first; i < first + count; ++i) wanted.insert(what + " " + std::to_string(i));
  };
  want("age", 0, 4), want("fields", 1, 3);
  want("rank", 0, 5), want("lanes", 1, 4), want("stage", 0, 9), want("reduce", 0, 7),
      want("associative", 0, 4), want("update", 0, 4), want("local", 0, 6), want("op", 0, op_count);
  want("term", 0, static_cast<int>(Term::Kind::Interpolated) + 1), want("kernel", 0, 4), want("window", 0, 5);
  for (int s = 0; s < 12; ++s) wanted.insert("type " + name_of(static_cast<Scalar>(s)));
  for (int b = 0; b < 5; ++b)
    wanted.insert(std::string("border ") + border_name(static_cast<Border::Mode>(b)));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Recipe recipe = random_recipe(seed);
    collect(recipe, found);
  }
  for (const std::string& what : wanted) EXPECT_TRUE(found.count(what)) << what << " never occurs";
}

/// As shrinking leaves some: of an image only the size of the cells is left.
TEST(RandomRecipes, HaveVolumesWhosePlanesDoNotMeet) {
  int turned = 0;
  for (std::uint64_t seed = 0; seed < 320; ++seed) {
    Recipe recipe = random_recipe(seed);
    const ir::Pipeline pipeline = build(recipe).ir();
    turned += rewrite::turned_volumes(pipeline).stages != pipeline.stages;
  }
  EXPECT_GE(turned, 10);
}

TEST(RandomRecipes, NeedTheImagesThatCellsOfAScatterAreCountedFrom) {
  Recipe recipe;
  recipe.images = {{.type = {Scalar::I32, 1}, .rank = 1}, {.type = {Scalar::I32, 1}, .rank = 1}};
  const Term one{.type = {Scalar::I32, 1}};
  Stage scatter{.kind = Stage::Kind::Scatter};
  scatter.box = {{{}, {.image = 1, .divisor = 4, .offset = 1}}};
  scatter.cases = {{{}, one}};
  scatter.at = {one}, scatter.initial = one, scatter.type = one.type, scatter.access.source = 0;
  recipe.stages = {scatter};
  recipe.outputs = {0};
  EXPECT_EQ(needed_sources(recipe), (std::vector<bool>{true, true, true}));
}

// ---- the printed text ----

const std::filesystem::path printed = WEFT_SOURCE_DIR "/tests/fuzz/reproducers.inc";

/// The first pipelines in which each kind of stage, and each operator of custom reductions, occurs.
std::vector<std::uint64_t> printed_seeds() {
  std::set<std::string> seen;
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Recipe recipe = random_recipe(seed);
    const std::vector<bool> needed = needed_sources(recipe);
    for (std::size_t s = 0; s < recipe.stages.size(); ++s) {
      const Stage& stage = recipe.stages[s];
      if (!needed[recipe.images.size() + s]) continue;
      std::string what = std::to_string(static_cast<int>(stage.kind));
      if (stage.reduce == weft::Reduce::Kind::Custom)
        what += " " + std::to_string(static_cast<int>(stage.associative));
      if (seen.insert(what).second && (chosen.empty() || chosen.back() != seed)) chosen.push_back(seed);
    }
  }
  return chosen;
}

std::string printed_file() {
  std::string text =
      "// Written by the test of recipes: UPDATE_GOLDEN=1 build/release/bin/random_pipelines_test\n";
  std::string pipelines;
  for (std::uint64_t seed : printed_seeds()) pipelines += to_cpp(random_recipe(seed), "\n");
  return text + pipelines;
}

TEST(PrintedRecipes, AreAsCommitted) {
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update && *update) std::ofstream(printed) << printed_file();
  std::ifstream file(printed);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == printed_file())
      << "a change of the generator changes the text; UPDATE_GOLDEN=1 writes it";
}

/// The printed file is compiled into this program, as users would.
TEST(PrintedRecipes, ArePipelinesEqualToTheBuiltOnes) {
  for (std::uint64_t seed : printed_seeds()) {
    Recipe recipe = random_recipe(seed);
    const Pipeline compiled = build(applications().at(pipeline_name(recipe)), Settings()).pipeline;
    EXPECT_EQ(ir::to_string(compiled.ir()), ir::to_string(build(recipe).ir())) << "seed " << seed;
  }
}

// ---- compiled together ----

TEST(CompiledTogether, EachPipelineIsWhatItWouldBeAlone) {
  const auto twice = [](const char* name, int factor, bool strict) {
    const weft::Image<float> in("in");
    return Pipeline(name, Outputs(weft::point("out", exp(in) * factor)).strict(strict));
  };
  const std::vector<Pipeline> pipelines = {twice("same", 2, true), twice("same", 3, true),
                                           twice("other", 4, false)};
  const auto programs =
      runtime::compile_together(pipelines, {Target::Cpu, 1, {"-O1"}}, compile::ContentCache());
  ASSERT_EQ(programs.size(), 3u);
  const Buffer in = testing_support::picture(type_of<float>(), {9, 1}, 1);
  for (int x = 0; x < 9; ++x) in.at<float>(x, 0) /= 100;
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const Buffer alone = pipelines[p].compile()(in), together = programs[p](in);
    for (int x = 0; x < 9; ++x)
      EXPECT_NEAR(alone.at<float>(x, 0), together.at<float>(x, 0), 1e-4) << p << " at " << x;
  }
}

}  // namespace
}  // namespace weft::fuzz
