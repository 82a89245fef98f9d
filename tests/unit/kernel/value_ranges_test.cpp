// The values that floats and what is made of them can take.
#include "kernel/value_ranges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "emit/c_like.h"
#include "emit/writer.h"
#include "ir/value.h"
#include "kernel/build.h"
#include "kernel/drop_borders.h"
#include "tests/support/symbols.h"

namespace weft::kernel::value_ranges_test {
namespace {

using ir::BinaryOp;
using ir::CastMode;

constexpr double infinity = std::numeric_limits<double>::infinity();

const Expr i = name("i"_s), pixel = load("in"_s, Scalar::F32, i);
Expr number(double value) { return constant(Scalar::F32, {.f = value}); }
Expr integer(const Expr& e, Scalar type = Scalar::I32, CastMode mode = CastMode::Convert) {
  return cast(mode, type, e);
}
Expr unit(const Expr& e) { return binary(BinaryOp::Min, binary(BinaryOp::Max, e, number(0)), number(1)); }

ValueRange of(const Expr& e) { return KnownRanges().of(e); }

TEST(ValueRanges, OfResults) {
  EXPECT_EQ(range_of_result(BinaryOp::Mul, {-2, 3}, {-5, 7}), (ValueRange{-15, 21}));
  EXPECT_EQ(range_of_result(BinaryOp::Sub, {0, 255}, {0, 255}), (ValueRange{-255, 255}));
  EXPECT_EQ(range_of_result(BinaryOp::And, {-8, 7}, {0, 3}), (ValueRange{0, 3}));
  EXPECT_EQ(range_of_result(BinaryOp::Div, {-9, 20}, {2, 3}), (ValueRange{-4, 10}));
  EXPECT_EQ(range_of_result(BinaryOp::Div, {7, 20}, {2, 3}), (ValueRange{2, 10}));
  EXPECT_EQ(range_of_result(BinaryOp::Div, {7, 20}, {0, 3}), (ValueRange{0, 20})) << "by 0 it is 0";
}

TEST(ValueRanges, OfFloatsThatAreClamped) {
  EXPECT_EQ(of(unit(pixel)), (ValueRange{0, 1}));
  EXPECT_EQ(of(integer(binary(BinaryOp::Mul, number(10), unit(pixel)))), (ValueRange{0, 10}));
  EXPECT_EQ(of(integer(pixel, Scalar::U8)), (ValueRange{0, 255}));
  EXPECT_EQ(of(integer(binary(BinaryOp::Add, unit(pixel), number(6)))), (ValueRange{0, 7})) << "NaN is 0";
  EXPECT_EQ(of(integer(binary(BinaryOp::Mul, unit(pixel), number(2.6)), Scalar::I32, CastMode::Saturate)),
            (ValueRange{0, 3}));
  EXPECT_EQ(of(binary(BinaryOp::Mul, unit(pixel), pixel)), (ValueRange{-infinity, infinity}));
}

/// max(a, NaN) and max(NaN, b) are a or b, whatever else they would be.
TEST(ValueRanges, OfExtremesOfNaN) {
  const Expr high = binary(BinaryOp::Add, unit(pixel), number(6));
  const ValueRange either = of(binary(BinaryOp::Max, unit(pixel), high));
  EXPECT_LE(either.low, 0);
  EXPECT_GE(either.high, 7);
  const ValueRange of_constant = of(binary(BinaryOp::Max, high, number(2)));
  EXPECT_LE(of_constant.low, 2);
}

/// Seed 20: random expressions of random floats, NaN, infinities and subnormals among them, lie in their ranges.
TEST(ValueRanges, HoldWhatIsComputed) {
  std::mt19937 random(20);
  const auto any = [&](int count) { return std::uniform_int_distribution<int>(0, count - 1)(random); };
  const std::vector<double> special = {0,    -0.,   1,   -1,  .5,       1e-45,     -1e-40,
                                       3e38, -3e38, 255, 1e9, infinity, -infinity, std::nan("")};
  int inside = 0;
  for (int round = 0; round < 20'000; ++round) {
    float value = 0;
    const std::function<std::pair<Expr, float>(int)> make = [&](int depth) -> std::pair<Expr, float> {
      if (depth == 0 && any(2) == 0) {
        const auto c =
            static_cast<float>(special[static_cast<std::size_t>(any(static_cast<int>(special.size())))]);
        return {number(c), c};
      }
      if (depth == 0) return {pixel, value};
      const BinaryOp ops[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max};
      const BinaryOp op = ops[any(5)];
      const auto [a, of_a] = make(depth - 1);
      const auto [b, of_b] = make(depth - 1);
      const ir::Number result = ir::apply(op, Scalar::F32, {.f = of_a}, {.f = of_b});
      return {binary(op, a, b), static_cast<float>(result.f)};
    };
    value = any(2)
                ? static_cast<float>(special[static_cast<std::size_t>(any(static_cast<int>(special.size())))])
                : std::uniform_real_distribution<float>(-300, 300)(random);
    const auto [e, result] = make(1 + any(3));
    const ValueRange range = of(e);
    if (!std::isnan(result)) {
      ASSERT_LE(range.low, result) << round;
      ASSERT_GE(range.high, result) << round;
    }
    const Expr whole = integer(e, Scalar::I16);
    const double as_integer =
        std::isnan(result) ? 0 : std::clamp(std::trunc(double{result}), -32768., 32767.);
    ASSERT_LE(of(whole).low, as_integer) << round;
    ASSERT_GE(of(whole).high, as_integer) << round;
    inside += range.low > -infinity || range.high < infinity;
  }
  EXPECT_GT(inside, 2'000) << "else nothing was tested";
}

/// The C++ of a body after the pass.
std::string dropped(Block body) {
  Function function{"f"_s, "", {}, std::move(body)};
  drop_borders(function);
  emit::Writer out;
  emit::CLike printer(out, true);
  printer.print(function.body);
  return out.text();
}
Stmt looked_up(const Expr& place, std::int64_t extent, IndexOp op = IndexOp::Clamp) {
  const Expr wide = cast(CastMode::Convert, Scalar::I64, place);
  return {Store{"out"_s, i, load("table"_s, Scalar::F32, index_call(op, wide, literal(extent)))}};
}

TEST(DropBorders, OfIndicesThatAreInside) {
  const Expr tenth = integer(binary(BinaryOp::Mul, number(10), unit(pixel)));
  const Stmt place{Let{"place"_s, tenth}};
  const Expr named = name("place"_s, Scalar::I32);
  const std::string first =
      "const int32_t place = truncate_i32_f32(10.0f * min_f32(max_f32(in[i], 0.0f), 1.0f));\n";
  EXPECT_EQ(dropped({place, looked_up(named, 11)}), first + "out[i] = table[place];\n");
  EXPECT_EQ(dropped({place, looked_up(named, 11, IndexOp::Mirror)}), first + "out[i] = table[place];\n");
  EXPECT_EQ(dropped({place, looked_up(named, 10)}),
            first + "out[i] = table[clamp_index((int64_t)place, 10)];\n");
}

TEST(DropBorders, OfIndicesOfALoop) {
  const auto in_loop = [&](std::int64_t end) {
    const Symbol z = "z"_s;
    return dropped({{For{LoopKind::Serial,
                         z,
                         literal(0),
                         literal(end),
                         {looked_up(cast(CastMode::Convert, Scalar::I32, name(z)), 8)}}}});
  };
  EXPECT_NE(in_loop(8).find("table[(int32_t)z]"), std::string::npos) << in_loop(8);
  EXPECT_NE(in_loop(9).find("clamp_index((int64_t)(int32_t)z, 8)"), std::string::npos) << in_loop(9);
}

TEST(DropBorders, OfTestsThatSurelyHold) {
  const Expr tenth = integer(binary(BinaryOp::Mul, number(10), unit(pixel)));
  const auto whole = [](std::int64_t value) { return constant(Scalar::I32, {.i = value}); };
  const auto tested = [&](std::int64_t first, std::int64_t end) {
    const Expr inside = binary(BinaryOp::And, binary(BinaryOp::Le, whole(first), tenth),
                               binary(BinaryOp::Lt, tenth, whole(end)));
    return dropped({{Store{"out"_s, i, select(inside, tenth, whole(-1))}}});
  };
  const std::string place = "truncate_i32_f32(10.0f * min_f32(max_f32(in[i], 0.0f), 1.0f))";
  EXPECT_EQ(tested(0, 11), "out[i] = " + place + ";\n");
  EXPECT_NE(tested(0, 10).find("? " + place + " : -1"), std::string::npos) << tested(0, 10);
  EXPECT_NE(tested(1, 11).find("? " + place + " : -1"), std::string::npos) << tested(1, 11);
}

TEST(DropBorders, StayWhereTheValueMayChangeOrIsUnknown) {
  const Stmt place{Let{"place"_s, integer(unit(pixel)), true}};
  const std::string text = dropped({place, looked_up(name("place"_s, Scalar::I32), 11)});
  EXPECT_NE(text.find("clamp_index((int64_t)place, 11)"), std::string::npos) << text;
  EXPECT_EQ(dropped({looked_up(integer(pixel), 11)}),
            "out[i] = table[clamp_index((int64_t)truncate_i32_f32(in[i]), 11)];\n");
}

}  // namespace
}  // namespace weft::kernel::value_ranges_test
