#include "kernel/split_borders.h"

#include <gtest/gtest.h>

#include "emit/c_like.h"
#include "emit/writer.h"
#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::split_borders_test {
namespace {

const Expr i = name("i"_s), n = name("n"_s), w = name("w"_s), x = name("x"_s);

Expr in_row(const Expr& index, IndexOp border = IndexOp::Clamp) {
  return load("in"_s, Scalar::F32, index_call(border, index, w));
}
Stmt stored(const Expr& value) { return {Store{"out"_s, i, value}}; }

/// The C++ of a loop of this body, after the pass.
std::string split(Block body, LoopKind kind = LoopKind::Vector) {
  Function function{"rows"_s, "", {}, {}};
  function.body.push_back({For{kind, "i"_s, literal(0), n, std::move(body)}});
  split_borders(function, Names());
  emit::Writer out;
  emit::CLike printer(out, false);
  printer.print(function.body);
  return out.text();
}

TEST(SplitBorders, WhereTheRowBeginsAndEnds) {
  EXPECT_EQ(split({stored(in_row(add(i, x)))}),
            "const int64_t inner_from = min_i64(max_i64(0, 0 - x), n);\n"
            "const int64_t inner_to = max_i64(inner_from, min_i64(n, w - x));\n"
            "for (int64_t i = 0; i < inner_from; ++i) {\n"
            "  WEFT_SCALAR\n"
            "  out[i] = in[clamp_index(i + x, w)];\n"
            "}\n"
            "WEFT_INDEPENDENT\n"
            "for (int64_t i = inner_from; i < inner_to; ++i) {\n"
            "  out[i] = in[i + x];\n"
            "}\n"
            "for (int64_t i = inner_to; i < n; ++i) {\n"
            "  WEFT_SCALAR\n"
            "  out[i] = in[clamp_index(i + x, w)];\n"
            "}\n");
}

TEST(SplitBorders, AtAnotherRateAndOfAnyMode) {
  const std::string text = split({stored(in_row(add(mul(i, literal(2)), x), IndexOp::Mirror))});
  EXPECT_NE(text.find("inner_from = min_i64(max_i64(0, (max_i64(0 - x, 0) + 1) / 2), n)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("min_i64(n, (max_i64(w - x, 0) + 1) / 2)"), std::string::npos) << text;
  EXPECT_NE(text.find("out[i] = in[i * 2 + x];"), std::string::npos) << text;
}

TEST(SplitBorders, OfAllIndicesThatGoAlong) {
  const Expr both = binary(ir::BinaryOp::Add, in_row(add(i, x)), in_row(sub(i, literal(3))));
  const std::string text = split({stored(both)});
  EXPECT_NE(text.find("max_i64(max_i64(0, 0 - x), 3)"), std::string::npos) << text;
  EXPECT_NE(text.find("out[i] = in[i + x] + in[i - 3];"), std::string::npos) << text;
}

TEST(SplitBorders, NotOfIndicesThatAreComputedOrGoBack) {
  const auto is_one_loop = [](const Expr& index) {
    const std::string text = split({stored(in_row(index))});
    return text.find("inner_from") == std::string::npos;
  };
  EXPECT_TRUE(is_one_loop(load("places"_s, Scalar::I64, i)));
  EXPECT_TRUE(is_one_loop(sub(x, i)));
  EXPECT_TRUE(is_one_loop(x)) << "it is the same in all turns";
  EXPECT_EQ(split({{Let{"k"_s, mul(i, i)}}, stored(in_row(add(i, name("k"_s))))}).find("inner_from"),
            std::string::npos);
}

TEST(SplitBorders, NotOfOtherLoops) {
  EXPECT_EQ(split({stored(in_row(add(i, x)))}, LoopKind::Serial).find("inner_from"), std::string::npos);
}

}  // namespace
}  // namespace weft::kernel::split_borders_test
