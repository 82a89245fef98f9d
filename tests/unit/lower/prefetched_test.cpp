// What a core asks memory for as it goes along a row.
#include "lower/prefetched.h"

#include <gtest/gtest.h>

#include "emit/c_like.h"
#include "emit/writer.h"
#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::lower::prefetched_test {
namespace {

using kernel::operator""_s;

const Expr n = kernel::name("n"_s), i = kernel::name("i"_s);

kernel::Stmt loop(const char* array, const Expr& from, const Expr& to,
                  kernel::LoopKind kind = kernel::LoopKind::Vector) {
  return {kernel::For{kind, "i"_s, from, to, {{kernel::Store{kernel::symbol(array), i, i}}}}};
}
RowAhead row(const char* array, std::int64_t scalars, std::int64_t pixels, Scalar type = Scalar::F32) {
  const Expr count = kernel::div(kernel::mul(n, kernel::literal(scalars)), kernel::literal(pixels));
  return {{kernel::symbol(array), type, kernel::name("next"_s), count}, scalars, pixels};
}
std::string text(kernel::Block work, const std::vector<RowAhead>& ahead, const Iterations& iterations = {},
                 int columns = 2000) {
  emit::Writer out;
  emit::CLike printer(out, false);
  printer.print(with_rows_ahead(std::move(work), ahead, iterations, columns, "portion"_s));
  return out.text();
}

TEST(RowsAhead, ComeInPortions) {  // 256 floats are 1 KB
  EXPECT_EQ(text({loop("out", kernel::literal(0), n)}, {row("in", 1, 1)}),
            "for (int64_t portion = 0; portion < n; portion += 256) {\n"
            "  prefetch(in + next + portion, 1024);\n"
            "  WEFT_INDEPENDENT\n"
            "  for (int64_t i = portion; i < min_i64(portion + 256, n); ++i) {\n"
            "    out[i] = i;\n"
            "  }\n"
            "}\n");
}

TEST(RowsAhead,
     OfSeveralImagesShareAPortion) {  // 3 lanes, and 1 for every other pixel: 14 bytes a pixel, so 64 pixels
  const std::string both = text({loop("out", kernel::literal(0), n)}, {row("in", 3, 1), row("mask", 1, 2)});
  EXPECT_NE(both.find("portion += 64)"), std::string::npos) << both;
  EXPECT_NE(both.find("prefetch(in + next + portion * 3, 768);"), std::string::npos) << both;
  EXPECT_NE(both.find("prefetch(mask + next + portion / 2, 128);"), std::string::npos) << both;
}

TEST(RowsAhead, OfLoopsOverLanesOrPhases) {
  const std::string lanes = text({loop("out", kernel::literal(0), n)}, {row("in", 3, 1)}, {3, 1});
  EXPECT_NE(lanes.find("portion += 192)"), std::string::npos) << lanes;
  EXPECT_NE(lanes.find("prefetch(in + next + portion, 768);"), std::string::npos) << lanes;
  const std::string phases = text({loop("out", kernel::literal(0), n)}, {row("in", 3, 1)}, {1, 2});
  EXPECT_NE(phases.find("portion += 32)"), std::string::npos) << phases;
  EXPECT_NE(phases.find("prefetch(in + next + portion * 6, 768);"), std::string::npos) << phases;
}

TEST(RowsAhead, ComeBeforeWhatHasNoPortions) {
  const std::string before = "prefetch(in + next, n * 4);\n";
  EXPECT_EQ(text({loop("out", kernel::literal(0), n)}, {row("in", 1, 1)}, {}, 256).find(before), 0U)
      << "a short row";
  EXPECT_EQ(
      text({loop("out", kernel::literal(0), n, kernel::LoopKind::Scalar)}, {row("in", 1, 1)}).find(before),
      0U)
      << "no loop of vectors";
  EXPECT_EQ(text({loop("out", kernel::literal(0), n)}, {}).find("portion"), std::string::npos)
      << "nothing to fetch";
}

TEST(RowsAhead, ComeWithTheLongestLoop) {
  const Expr first = kernel::name("first"_s), last = kernel::name("last"_s);
  const std::string ends =
      text({loop("left", kernel::literal(0), first), loop("middle", first, last), loop("right", last, n)},
           {row("in", 1, 1)});
  EXPECT_NE(ends.find("for (int64_t portion = first; portion < last; portion += 256)"), std::string::npos)
      << ends;
  const std::string prepared =
      text({loop("sums", kernel::literal(0), n), loop("out", kernel::literal(0), n)}, {row("in", 1, 1)});
  EXPECT_LT(prepared.find("sums[i]"), prepared.find("prefetch")) << prepared;
  EXPECT_GT(prepared.find("out[i]"), prepared.find("prefetch")) << prepared;
}

}  // namespace
}  // namespace weft::lower::prefetched_test
