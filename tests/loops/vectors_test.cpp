// Independent loops of emitted code are vectors with g++ 12 and clang 19, in every application and in random
// pipelines; those that cannot be are listed, with the reason. A loop that stays scalar is right, and so no other test
// sees it.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compile/loop_report.h"
#include "compile/process.h"
#include "compile/scheduling.h"
#include "emit/cpp.h"
#include "fuzz/build.h"
#include "fuzz/generate.h"
#include "runtime/cpu_program.h"
#include "tests/support/differential.h"
#include "tests/support/environment.h"

namespace weft::testing_support {
namespace {

/// A compiler, and a processor that it compiles for, wherever the test runs: nothing is run.
struct Way {
  const char *name, *compiler, *processor;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

const Way gcc_avx512 = {"gcc_avx512", "g++-12", "-march=icelake-server"};
const Way gcc_avx2 = {"gcc_avx2", "g++-12", "-march=haswell"};
const Way clang_avx2 = {"clang_avx2", "clang++-19", "-march=haswell"};

struct Exception {
  const char *application, *function;
  std::set<std::string> ways;
  const char* why;
};

const std::set<std::string> gcc = {"gcc_avx512", "gcc_avx2"}, avx2 = {"gcc_avx2"};

// Of divisions and remainders of integers there are no vector instructions.
const std::vector<Exception> exceptions = {
    {"local_laplacian", "detail_rows", gcc, "strict, so it calls expf: for the 3585 places of a table"},
    {"optical_flow", "flow_strips", avx2, "AVX2 counts no bits"},
    {"scaling", "scaling_index_x_rows", gcc, "divides by a size, once per column"},
    {"scaling", "scaling_index_y_rows", gcc, "divides by a size, once per row"},
    {"scaling", "scaling_weight_x_rows", gcc, "divides by a size, once per column"},
    {"scaling", "scaling_weight_y_rows", gcc, "divides by a size, once per row"},
    {"spline", "out0_rows", gcc, "mirrors indices that are computed, by remainders"},
    {"spline", "out0_up_x_strips", gcc, "mirrors indices that are computed, by remainders"},
    {"spline", "out2_strips", gcc, "mirrors indices that are computed, by remainders"},
};

compile::LoopReport loops_of(const std::string& source, compile::CompileFlags flags, const Way& way) {
  flags.extra.push_back(way.processor);
  return compile::report_on_loops({{"kernels.cpp", source}}, flags, *compile::find_program(way.compiler));
}

std::string text_of(const compile::ScalarLoop& loop) {
  return fmt::format("{} (line {}): {} [{}]", loop.function, loop.line, loop.cause, loop.words);
}

// Several tests, so that they run side by side.
constexpr int parts = 4;

class Loops : public testing::TestWithParam<std::tuple<Way, int>> {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the exceptions are those of x86";
#endif
    if (!compile::find_program(way().compiler)) GTEST_SKIP() << way().compiler << " is not installed";
  }
  static const Way& way() { return std::get<0>(GetParam()); }
  static int part() { return std::get<1>(GetParam()); }
};

TEST_P(Loops, OfApplicationsAreVectors) {
  int number = 0;
  for (const auto& [name, application] : applications()) {
    if (application.about.refused || number++ % parts != part()) continue;
    SCOPED_TRACE(name);
    const kernel::Module module = compile::lowered(build(application).pipeline.ir());
    const compile::LoopReport report =
        loops_of(emit::emit_for_loading(module), runtime::flags_for(module, {}), way());
    std::set<const Exception*> met;
    for (const compile::ScalarLoop& loop : report.scalar) {
      bool expected = false;
      for (const Exception& e : exceptions) {
        if (e.application != name || e.function != loop.function || !e.ways.count(way().name)) continue;
        met.insert(&e);
        expected = true;
      }
      EXPECT_TRUE(expected) << text_of(loop);
    }
    for (const Exception& e : exceptions) {
      if (e.application == name && e.ways.count(way().name))
        EXPECT_TRUE(met.count(&e)) << e.function << " is made of vectors now, and is no exception any more";
    }
  }
}

/// Random pipelines do what nobody would, so a few of their loops stay scalar for lesser reasons.
TEST_P(Loops, OfRandomPipelinesAreVectorsButForAFew) {
  if (way().name == std::string(gcc_avx2.name)) GTEST_SKIP() << "the other ways will do";
  constexpr std::uint64_t pipelines = 32 / parts, seed = 20261121;
  const std::uint64_t first = seed + static_cast<std::uint64_t>(part()) * pipelines;
  int independent = 0, scalar = 0;
  std::string text;
  for (std::uint64_t s = first; s < first + pipelines; ++s) {
    fuzz::Recipe recipe = fuzz::random_recipe(s);
    const kernel::Module module = compile::lowered(fuzz::build(recipe).ir());
    const compile::LoopReport report =
        loops_of(emit::emit_for_loading(module), runtime::flags_for(module, {}), way());
    independent += report.independent;
    for (const compile::ScalarLoop& loop : report.scalar) {
      if (loop.inherent) continue;
      ++scalar;
      text += fmt::format("weft verify --random 1 --seed {}: {}\n", s, text_of(loop));
    }
  }
  EXPECT_LE(scalar * 10, independent) << text;
}

/// GCC 12 makes one branch of the selects of a pixel's lanes that share a condition, unless it is told not to, and then
/// stores the lanes of vectors one by one: "vectors", by its own words.
TEST(SelectsOfOneCondition, AreStoredAsVectors) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the instruction is one of x86";
#endif
  const auto compiler = compile::find_program(gcc_avx512.compiler);
  if (!compiler) GTEST_SKIP() << gcc_avx512.compiler << " is not installed";
  const kernel::Module module = compile::lowered(build(applications().at("multiscale_interp")).pipeline.ir());
  compile::CompileFlags flags = runtime::flags_for(module, {});
  flags.extra.insert(flags.extra.end(), {gcc_avx512.processor, "-S"});
  const TemporaryFolder folder;
  write(folder / "kernels.cpp", emit::emit_for_loading(module));
  const auto run = compile::run_process(
      compile::command_line(*compiler, flags, folder / "kernels.cpp", folder / "kernels.s"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const std::string code = read(folder / "kernels.s");
  EXPECT_NE(code.find("vdivps"), std::string::npos);
  EXPECT_EQ(code.find("vextractps"), std::string::npos);
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<Way, int>>& info) {
  return fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Compilers, Loops,
                         testing::Combine(testing::Values(gcc_avx512, clang_avx2), testing::Range(0, parts)),
                         name_of_case);
// GCC's words for the two processors differ in one loop of all, of 'optical_flow': the quarter with that one will do for the
// smaller processor.
INSTANTIATE_TEST_SUITE_P(SmallerProcessor, Loops,
                         testing::Combine(testing::Values(gcc_avx2), testing::Values(1)), name_of_case);

}  // namespace
}  // namespace weft::testing_support
