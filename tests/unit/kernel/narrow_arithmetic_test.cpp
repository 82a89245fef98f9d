// What is computed in 16 bits, and what keeps its type.
#include "kernel/narrow_arithmetic.h"

#include <gtest/gtest.h>

#include "emit/c_like.h"
#include "emit/writer.h"
#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::narrow_arithmetic_test {
namespace {

using ir::BinaryOp;
using ir::CastMode;

const Expr x = name("x"_s), n = name("n"_s);

Expr i32(const Expr& e) { return cast(CastMode::Convert, Scalar::I32, e); }
Expr number(std::int64_t value) { return constant(Scalar::I32, {.i = value}); }
Expr byte(const Expr& index = x) { return i32(load("bytes"_s, Scalar::U8, index)); }
Expr short_integer() { return i32(load("shorts"_s, Scalar::I16, x)); }
Expr sum(const Expr& a, const Expr& b) { return binary(BinaryOp::Add, a, b); }
Stmt stored(Scalar type, const Expr& value, CastMode mode = CastMode::Convert) {
  return {Store{"out"_s, x, cast(mode, type, value)}};
}

/// The C++ of a loop of this body, after the pass, without the loop itself.
std::string narrowed(Block body, Block before = {}, LoopKind kind = LoopKind::Vector) {
  Function function{"rows"_s, "", {}, std::move(before)};
  function.body.push_back({For{kind, "x"_s, literal(0), n, std::move(body)}});
  narrow_arithmetic(function);
  emit::Writer out;
  emit::CLike printer(out, false);
  Block result = std::get<For>(function.body.back().op).body;
  printer.print(result);
  return out.text();
}

TEST(NarrowArithmetic, WhatIsShiftedOrDividedByAConstant) {
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Shr, sum(byte(), byte()), number(1)))}),
            "out[x] = (uint8_t)((int16_t)(bytes[x] + bytes[x]) >> 1);\n");
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Div, sum(byte(), number(2)), number(3)))}),
            "out[x] = (uint8_t)((int16_t)(bytes[x] + 2) / 3);\n");
}

TEST(NarrowArithmetic, WhatIsClampedComparedOrNamed) {
  const Expr difference = binary(BinaryOp::Sub, byte(), byte(add(x, literal(1))));
  EXPECT_EQ(narrowed({stored(Scalar::U8, difference, CastMode::Saturate)}),
            "out[x] = saturate_u8_i16((int16_t)(bytes[x] - bytes[x + 1]));\n");
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Max, difference, number(0)))}),
            "out[x] = (uint8_t)max_i16((int16_t)(bytes[x] - bytes[x + 1]), 0);\n");
  EXPECT_EQ(narrowed({stored(Scalar::U8, unary(ir::UnaryOp::Abs, difference))}),
            "out[x] = (uint8_t)abs_i16((int16_t)(bytes[x] - bytes[x + 1]));\n");
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Lt, difference, byte()))}),
            "out[x] = (uint8_t)((int16_t)(bytes[x] - bytes[x + 1]) < bytes[x]);\n");
  EXPECT_EQ(
      narrowed({{Let{"v"_s, difference}}, stored(Scalar::I16, sum(name("v"_s, Scalar::I32), number(1)))}),
      "const int16_t v = (int16_t)(bytes[x] - bytes[x + 1]);\nout[x] = (int16_t)(v + 1);\n");
}

TEST(NarrowArithmetic, MagnitudesOfWhatIsNeverNegativeAreThatItself) {
  const Expr product =
      binary(BinaryOp::Mul, byte(), number(129));  // 32895, which 16 bits hold without a sign
  EXPECT_EQ(narrowed({stored(Scalar::U16, unary(ir::UnaryOp::Abs, product))}),
            "out[x] = (uint16_t)(bytes[x] * 129);\n");
}

TEST(NarrowArithmetic, WhatCannotBeCutIsNotClamped) {
  const Expr mean = binary(BinaryOp::Shr, sum(byte(), byte()), number(1));
  EXPECT_EQ(narrowed({stored(Scalar::U8, mean, CastMode::Saturate)}),
            "out[x] = (uint8_t)((int16_t)(bytes[x] + bytes[x]) >> 1);\n");
}

TEST(NarrowArithmetic, ValuesOfMoreBitsStay) {
  const Expr large = sum(short_integer(), short_integer());
  EXPECT_EQ(narrowed({stored(Scalar::I16, binary(BinaryOp::Div, large, number(3)))}),
            "out[x] = (int16_t)((shorts[x] + shorts[x]) / 3);\n");
  const Expr product = binary(BinaryOp::Mul, byte(), number(129));  // 32895
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Shr, product, number(8)))}),
            "out[x] = (uint8_t)((uint16_t)(bytes[x] * 129) >> 8);\n")
      << "but those that are never negative have a bit more";
  const Expr more = binary(BinaryOp::Mul, byte(), number(258));  // 65790
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Shr, more, number(8)))}),
            "out[x] = (uint8_t)(bytes[x] * 258 >> 8);\n");
}

TEST(NarrowArithmetic, HalfOfASumFitsWhereTheSumDoesNot) {
  const Expr half = binary(BinaryOp::Div, sum(short_integer(), short_integer()), number(2));
  EXPECT_EQ(narrowed({stored(Scalar::I16, half)}), "out[x] = half_of_sum(shorts[x], shorts[x]);\n");
  EXPECT_EQ(narrowed({stored(Scalar::I16, sum(half, short_integer()))}),
            "out[x] = (int16_t)(half_of_sum(shorts[x], shorts[x]) + shorts[x]);\n");
  const Expr of_bytes = binary(BinaryOp::Div, sum(byte(), byte()), number(2));
  EXPECT_EQ(narrowed({stored(Scalar::I16, of_bytes)}),
            "out[x] = (int16_t)((int16_t)(bytes[x] + bytes[x]) / 2);\n");
}

TEST(NarrowArithmetic, PlacesAreClampedAsNarrowAsTheyWereComputed) {
  const auto clamped = [](const Expr& place) {
    const Expr wide = add(cast(CastMode::Convert, Scalar::I64, place), literal(20));
    return load("bytes"_s, Scalar::U8, index_call(IndexOp::Clamp, wide, literal(50)));
  };
  EXPECT_EQ(narrowed({{Store{"out"_s, x, clamped(load("ints"_s, Scalar::I32, x))}}}),
            "out[x] = bytes[min_i32(max_i32(ints[x], -20), 29) + 20];\n");
  EXPECT_EQ(narrowed({{Store{"out"_s, x, clamped(byte())}}}),
            "out[x] = bytes[min_i16((int16_t)bytes[x], 29) + 20];\n");
}

TEST(NarrowArithmetic, OfWhatWrapsNothingIsKnown) {
  const Expr wide = i32(load("shorts"_s, Scalar::I16, x));
  const Expr square = binary(BinaryOp::Mul, wide, wide);
  const Expr wrapped = binary(BinaryOp::Mul, square, square);
  EXPECT_EQ(narrowed({stored(Scalar::I16, binary(BinaryOp::Shr, wrapped, number(24)), CastMode::Saturate)}),
            "out[x] = (int16_t)(shorts[x] * shorts[x] * (shorts[x] * shorts[x]) >> 24);\n")
      << "a shift by 24 leaves 8 bits of whatever there was";
}

TEST(NarrowArithmetic, FloatsBetweenIntegersStay) {
  const Expr real = cast(CastMode::Convert, Scalar::F32, load("ints"_s, Scalar::I32, x));
  EXPECT_EQ(narrowed({stored(Scalar::I8, real)}), "out[x] = truncate_i8_f32((float)ints[x]);\n")
      << "which saturates";
}

TEST(NarrowArithmetic, FloatsWithinTheIntegersAreNotChecked) {
  const auto real = [](double value) { return constant(Scalar::F32, {.f = value}); };
  const Expr pixel = load("reals"_s, Scalar::F32, x);
  const Expr unit = binary(BinaryOp::Min, binary(BinaryOp::Max, pixel, real(0)), real(1));
  const auto whole = [&](const Expr& e, Scalar type = Scalar::I32) { return narrowed({stored(type, e)}); };
  EXPECT_EQ(whole(binary(BinaryOp::Mul, real(10), unit)),
            "out[x] = whole_i32_f32(10.0f * min_f32(max_f32(reals[x], 0.0f), 1.0f));\n");
  EXPECT_EQ(whole(pixel), "out[x] = truncate_i32_f32(reals[x]);\n");
  EXPECT_EQ(whole(binary(BinaryOp::Sub, unit, real(0.5)), Scalar::U8),
            "out[x] = truncate_u8_f32(min_f32(max_f32(reals[x], 0.0f), 1.0f) - 0.5f);\n")
      << "-0.5 is not a byte";
  EXPECT_EQ(whole(binary(BinaryOp::Mul, unit, real(9e18)), Scalar::I64).find("whole"), std::string::npos);
}

TEST(NarrowArithmetic, WholePartsAreClampedAsFloats) {
  const Expr whole = i32(load("reals"_s, Scalar::F32, x));
  const auto clamped = [&](std::int64_t low, std::int64_t high) {
    const Expr e = binary(BinaryOp::Min, binary(BinaryOp::Max, whole, number(low)), number(high));
    return narrowed({stored(Scalar::I32, e)});
  };
  EXPECT_EQ(clamped(-3, 90), "out[x] = whole_i32_f32(min_f32(max_f32(reals[x], -3.0f), 90.0f));\n");
  const std::string text = "out[x] = min_i32(max_i32(truncate_i32_f32(reals[x]), ";
  EXPECT_EQ(clamped(3, 90), text + "3), 90);\n") << "of no number it is 3";
  EXPECT_EQ(clamped(-90, -3), text + "-90), -3);\n");
  EXPECT_EQ(clamped(0, (1 << 24) + 1), text + "0), 16777217);\n") << "which is no float";
}

TEST(NarrowArithmetic, LoopsOverWiderPixelsStay) {
  const Expr mean = binary(BinaryOp::Shr, sum(byte(), byte()), number(1));
  EXPECT_EQ(narrowed({stored(Scalar::I32, mean)}), "out[x] = (bytes[x] + bytes[x]) >> 1;\n");
  EXPECT_EQ(narrowed({stored(Scalar::U8, mean)}, {}, LoopKind::Serial),
            "out[x] = (uint8_t)((bytes[x] + bytes[x]) >> 1);\n");
}

TEST(NarrowArithmetic, LocalArraysKnowWhatIsStoredInThem) {
  Block before = {
      {LocalArray{"column"_s, Scalar::I32, 8}},
      {For{LoopKind::Vector, "x"_s, literal(0), n, {{Store{"column"_s, x, sum(byte(), byte())}}}}}};
  const Expr sums = sum(load("column"_s, Scalar::I32, x), load("column"_s, Scalar::I32, add(x, literal(1))));
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Shr, sums, number(2)))}, before),
            "out[x] = (uint8_t)((int16_t)(column[x] + column[x + 1]) >> 2);\n");
  // What is stored elsewhere counts, too.
  before.push_back({Store{"column"_s, literal(0), load("ints"_s, Scalar::I32, literal(0))}});
  EXPECT_EQ(narrowed({stored(Scalar::U8, binary(BinaryOp::Shr, sums, number(2)))}, before),
            "out[x] = (uint8_t)((column[x] + column[x + 1]) >> 2);\n");
}

TEST(NarrowArithmetic, LocalArraysThatOthersPointIntoKeepTheirType) {
  Function function{"rows"_s,
                    "",
                    {},
                    {{LocalArray{"rows"_s, Scalar::I32, 8}},
                     {Pointer{"row"_s, "rows"_s, Scalar::I32, literal(4), false}},
                     {For{LoopKind::Vector, "x"_s, literal(0), n, {{Store{"row"_s, x, byte()}}}}}}};
  narrow_arithmetic(function);
  EXPECT_EQ(std::get<LocalArray>(function.body[0].op).type, Scalar::I32);
}

TEST(NarrowArithmetic, IndicesAreClampedInTheTypeThatTheyHad) {
  const auto clamped = [&](const Expr& index) {
    return load("table"_s, Scalar::U8,
                index_call(IndexOp::Clamp, cast(CastMode::Convert, Scalar::I64, index), literal(100)));
  };
  EXPECT_EQ(narrowed({{Store{"out"_s, x, clamped(load("shorts"_s, Scalar::I16, x))}}}),
            "out[x] = table[min_i16(max_i16(shorts[x], 0), 99)];\n");
  EXPECT_EQ(narrowed({{Store{"out"_s, x, clamped(load("bytes"_s, Scalar::U8, x))}}}),
            "out[x] = table[min_i16((int16_t)bytes[x], 99)];\n")
      << "which is never negative";
  EXPECT_EQ(narrowed({{Store{"out"_s, x, clamped(load("ints"_s, Scalar::I32, x))}}}),
            "out[x] = table[min_i32(max_i32(ints[x], 0), 99)];\n");
}

}  // namespace
}  // namespace weft::kernel::narrow_arithmetic_test
