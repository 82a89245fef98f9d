// What is made of the words of compilers.
#include <gtest/gtest.h>

#include <weft/error.h>

#include "compile/loop_report.h"
#include "compile/process.h"

namespace weft::compile {
namespace {

const std::string source = R"(extern "C" float tanf(float) noexcept;

// Rows [first, last) of 'out'.
void out_rows(const frame& frame, int64_t first, int64_t last) {
  for (int64_t y = first; y < last; ++y) {
    WEFT_INDEPENDENT
    for (int64_t x = 0; x < w; ++x) {
      line[x] = 0;
    }
    WEFT_INDEPENDENT
    for (int64_t x = 0; x < w; ++x) {
      if (x < 8) {
        out[x] = curve[line[x]];
      }
    }
  }
}

WEFT_NOINLINE void other_rows(const frame& frame, int64_t first, int64_t last) {
  WEFT_INDEPENDENT
  for (int64_t x = first; x < last; ++x) {
    out[x] = tanf(in[x]);
  }
}
)";

TEST(IndependentLoops, AreFoundWithTheirFunctionAndTheirEnd) {
  const std::vector<IndependentLoop> loops = independent_loops(source);
  ASSERT_EQ(loops.size(), 3u);
  EXPECT_EQ(loops[0].function, "out_rows");
  EXPECT_EQ(loops[0].first, 7);
  EXPECT_EQ(loops[0].last, 9);
  EXPECT_EQ(loops[1].first, 11);
  EXPECT_EQ(loops[1].last, 15);
  EXPECT_EQ(loops[2].function, "other_rows");
  EXPECT_EQ(loops[2].first, 21);
  EXPECT_EQ(loops[2].last, 23);
}

TEST(ScalarLoops, AreThoseThatGccSaysItCouldNotVectorize) {
  // Of the first it says nothing: it is a call of memset.
  const std::vector<ScalarLoop> loops = scalar_loops(source, "kernels.cpp", R"(
/tmp/weft/kernels.cpp:5:26: missed: couldn't vectorize loop
/tmp/weft/kernels.cpp:8:15: missed: statement clobbers memory: __builtin_memset (_2, 0, _5);
/tmp/weft/kernels.cpp:11:24: missed: couldn't vectorize loop
/tmp/weft/kernels.cpp:13:18: missed: not vectorized: not suitable for gather load _3 = *_4;
/tmp/weft/other_kernels.cpp:7:24: missed: couldn't vectorize loop
/tmp/weft/kernels.cpp:21:24: optimized: loop vectorized using 64 byte vectors
)");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].function, "out_rows");
  EXPECT_EQ(loops[0].line, 11);
  EXPECT_EQ(loops[0].cause, "it reads at computed places what the processor cannot gather");
  EXPECT_EQ(loops[0].words, "not suitable for gather load _3 = *_4;");
  EXPECT_FALSE(loops[0].inherent);
}

TEST(ScalarLoops, AreThoseThatOneOfTheVersionsOfWhichHasNoVectors) {
  const std::string both = R"(
kernels.cpp:11:24: missed: couldn't vectorize loop
kernels.cpp:11:24: optimized: loop vectorized using 32 byte vectors
)";
  EXPECT_TRUE(scalar_loops(source, "kernels.cpp", both).empty()) << "the rest of a loop in vectors";
}

TEST(ScalarLoops, AreThoseThatClangSaysItDidNotVectorize) {
  const std::vector<ScalarLoop> loops = scalar_loops(source, "kernels.cpp", R"(
/tmp/weft/kernels.cpp:7:5: remark: vectorized loop (vectorization width: 16, interleaved count: 4) [-Rpass=loop-vectorize]
/tmp/weft/kernels.cpp:12:11: remark: loop not vectorized: loop contains a switch statement [-Rpass-analysis]
/tmp/weft/kernels.cpp:11:5: remark: loop not vectorized (Force=true) [-Rpass-missed=loop-vectorize]
/tmp/weft/kernels.cpp:22:14: remark: loop not vectorized: call instruction cannot be vectorized [-Rpass-analysis=loop-vectorize]
/tmp/weft/kernels.cpp:21:3: remark: loop not vectorized [-Rpass-missed=loop-vectorize]
)");
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].line, 11);
  EXPECT_EQ(loops[0].cause, "the compiler made a branch of its conditions");
  EXPECT_EQ(loops[0].words, "loop contains a switch statement");
  EXPECT_EQ(loops[1].line, 21);
  EXPECT_EQ(loops[1].cause, "it calls tanf, which takes one number at a time");
  EXPECT_EQ(loops[1].words, "call instruction cannot be vectorized");
  EXPECT_TRUE(loops[1].inherent);
}

TEST(LoopReport, RefusesOtherCompilers) {
  try {
    report_on_loops({{"kernels.cpp", source}}, {}, *find_program("true"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("is neither GCC nor clang: it cannot be asked about loops"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace weft::compile
