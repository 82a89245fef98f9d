// Shrinking, with predicates for failures and with a compiler that is wrong on purpose.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "fuzz/build.h"
#include "fuzz/crash.h"
#include "fuzz/generate.h"
#include "fuzz/groups.h"
#include "fuzz/shrink.h"
#include "rewrite/prepare.h"
#include "tools/random_verify.h"

namespace weft::fuzz {
namespace {

using tools::RunTarget;
using tools::recipe::Failure;
using tools::recipe::RandomPlan;
using tools::recipe::RandomTotals;
using tools::recipe::verify_random;

int count_terms(Recipe& recipe, const std::function<bool(const Term&)>& holds) {
  int n = 0;
  const std::vector<bool> needed = needed_sources(recipe);
  for (std::size_t s = 0; s < recipe.stages.size(); ++s) {
    if (!needed[recipe.images.size() + s]) continue;
    each_root(recipe.stages[s],
              [&](Term& root) { each_term(root, [&](Term& t) { n += holds(t) ? 1 : 0; }); });
  }
  return n;
}

bool builds(Recipe& recipe) {
  try {
    build(recipe);
    return true;
  } catch (const Error&) {
    return false;
  } catch (const std::out_of_range&) {
    return false;
  }
}

bool is_operator(const Term& t, Op op) { return t.kind == Term::Kind::Operator && t.op == op; }

TEST(Shrinking, LeavesLittleMoreThanTheFault) {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 300 && tried < 20; ++seed) {
    const auto fails = [](Recipe& r) {
      return count_terms(r, [](const Term& t) { return is_operator(t, Op::Rem); }) > 0 && builds(r);
    };
    Recipe recipe = random_recipe(seed);
    if (!fails(recipe)) continue;
    ++tried;
    Recipe small = shrink(recipe, fails);
    EXPECT_TRUE(fails(small)) << "seed " << seed;
    EXPECT_EQ(small.outputs.size(), 1u) << "seed " << seed;
    EXPECT_EQ(small.runs.size(), 1u) << "seed " << seed;
    EXPECT_LE(count_terms(small, [](const Term&) { return true; }), 8) << "seed " << seed;
  }
  EXPECT_EQ(tried, 20);
}

/// Of groups, too: what fails in any group of windows ends as one of two stages, if it has to be one.
TEST(Shrinking, LeavesOneSmallGroup) {
  const auto marches = [](Recipe& r) {
    if (!builds(r) || !r.grouping) return false;
    const ir::Pipeline pipeline = rewrite::prepare(build(r).ir());
    r.grouping = legal_groups(pipeline, *r.grouping);
    const auto found = schedule::schedule_of_groups(pipeline, *r.grouping, schedule::Tiling::March);
    return std::any_of(found.schedule->stages.begin(), found.schedule->stages.end(),
                       [](const schedule::StagePlan& plan) { return plan.in_rows; });
  };
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 300 && tried < 10; ++seed) {
    Recipe recipe = random_recipe(seed);
    recipe.grouping = random_groups(rewrite::prepare(build(recipe).ir()), seed);
    if (!marches(recipe)) continue;
    ++tried;
    const Recipe small = shrink(recipe, marches);
    ASSERT_TRUE(small.grouping) << "seed " << seed;
    ASSERT_EQ(small.grouping->groups.size(), 1u) << "seed " << seed;
    EXPECT_EQ(small.grouping->groups[0].size(), 2u) << "seed " << seed;
    EXPECT_TRUE(small.grouping->tiles.empty()) << "seed " << seed;
  }
  EXPECT_EQ(tried, 10);
}

constexpr int pipelines = 32;  // a few use one of the functions below

/// A C++ compiler that takes some functions of floats for something else.
RandomPlan plan_with(const std::string& instead) {
  RandomPlan plan;
  plan.count = pipelines;
  plan.seed = 7008;
  for (const char* function : {"sqrtf", "sinf", "cosf", "tanhf", "atanf"})
    plan.compiler_flags.push_back("-D" + std::string(function) + "=" + instead);
  plan.compiler_flags.push_back("-O0");
  plan.shrinking = std::chrono::hours(1);  // until it is done, however slow the machine
  return plan;
}

bool names_a_function(const std::string& text) {
  for (const char* function : {"sqrt(", "sin(", "cos(", "tanh(", "atan(", "Lanczos3"}) {
    if (text.find(function) != std::string::npos) return true;
  }
  return false;
}

TEST(Shrinking, FindsAFaultInCompiledCode) {
  const RandomTotals totals = verify_random(plan_with("fabsf"), [](const RandomTotals&) {});
  EXPECT_EQ(totals.pipelines, pipelines);
  ASSERT_FALSE(totals.failures.empty());
  for (const Failure& failure : totals.failures) {
    EXPECT_EQ(failure.kind, Failure::Kind::Difference) << failure.message;
    EXPECT_TRUE(names_a_function(failure.reproducer)) << failure.reproducer;
    EXPECT_NE(failure.reproducer.find("weft verify --random 1 --seed"), std::string::npos)
        << failure.reproducer;
    EXPECT_LT(failure.reproducer.size(), 1500u) << failure.reproducer;
  }
}

TEST(RandomPipelines, ThatDoNotCompileAreFoundAmongOthers) {
  RandomPlan plan = plan_with("?");
  plan.shrinking = {};                 // another test shrinks
  plan.scheduling.tile = Tile::March;  // one way: with Auto they would be compiled in random groups, too
  plan.count = 12;  // those that are rejected are compiled again and again, to find out why
  const RandomTotals totals = verify_random(plan, [](const RandomTotals&) {});
  ASSERT_FALSE(totals.failures.empty());
  EXPECT_LT(totals.failures.size(), static_cast<std::size_t>(plan.count));
  for (const Failure& failure : totals.failures) {
    EXPECT_EQ(failure.kind, Failure::Kind::Compilation) << failure.message;
    EXPECT_TRUE(names_a_function(failure.reproducer)) << failure.reproducer;
  }
}

/// The headers that stand in for CUDA's, wrong on purpose.
class BrokenCuda {
 public:
  explicit BrokenCuda(const std::string& change) {
    std::ofstream(header_) << "#include <cuda_runtime.h>\n" << change << "\n";
  }
  ~BrokenCuda() { std::filesystem::remove(header_); }

  RandomTotals verify(RunTarget target) const {
    RandomPlan plan;
    plan.count = 16;
    plan.seed = 7008;
    plan.targets = {target};
    plan.compiler_flags = {"-include", header_.string()};
    plan.shrinking = {};  // another test shrinks
    return verify_random(plan, [](const RandomTotals&) {});
  }

 private:
  std::filesystem::path header_ =
      std::filesystem::path(testing::TempDir()) / ("weft_broken_" + std::to_string(::getpid()) + ".h");
};

TEST(RandomPipelinesOnTheChecker, ThatDifferAreFound) {
  const BrokenCuda cuda("#define sqrtf fabsf\n#define sinf fabsf\n#define cosf fabsf\n#define tanhf fabsf");
  const RandomTotals totals = cuda.verify(RunTarget::SimtFast);
  ASSERT_FALSE(totals.failures.empty());
  for (const Failure& failure : totals.failures) {
    EXPECT_EQ(failure.kind, Failure::Kind::Difference) << failure.message;
    EXPECT_TRUE(names_a_function(failure.reproducer)) << failure.reproducer;
    EXPECT_NE(failure.reproducer.find(" --targets simt-fast"), std::string::npos) << failure.reproducer;
  }
}

/// Without barriers the threads of a block reduce what the others have not written yet.
TEST(RandomPipelinesOnTheChecker, ThatAreReportedAreFound) {
  const BrokenCuda cuda("#define __syncthreads() ((void)0)");
  const RandomTotals totals = cuda.verify(RunTarget::SimtRace);
  ASSERT_FALSE(totals.failures.empty());
  for (const Failure& failure : totals.failures) {
    EXPECT_EQ(failure.kind, Failure::Kind::Difference) << failure.message;
    EXPECT_NE(failure.message.find("the SIMT checker found a fault"), std::string::npos) << failure.message;
    EXPECT_NE(failure.reproducer.find(" --targets simt-race"), std::string::npos) << failure.reproducer;
  }
}

/// The first prints what the others would have cut short.
TEST(CrashNotes, ArePrintedWhenThreadsCrashTogether) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash_together = [] {
    const CrashNote note(std::string(1 << 20, '.') + "the end of the note");
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (++ready; ready < 8;) std::this_thread::yield();
        std::abort();
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_DEATH(crash_together(), "the end of the note");
}

/// The compiler makes code that ends the process.
TEST(RandomPipelines, ThatCrashArePrinted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      verify_random(plan_with("abort"), [](const RandomTotals&) {}),
      "CRASHED seed 70[0-9]*\n.*\n// Found by: weft verify --random 1 --seed 70(.*\n)*WEFT_PIPELINE");
}

}  // namespace
}  // namespace weft::fuzz
