#include "ir/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace weft::ir {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t i64_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t i64_max = std::numeric_limits<std::int64_t>::max();

std::int64_t on(Scalar s, BinaryOp op, std::int64_t a, std::int64_t b) {
  return apply(op, s, {.i = a}, {.i = b}).i;
}
double on_real(Scalar s, BinaryOp op, double a, double b) { return apply(op, s, {.f = a}, {.f = b}).f; }
std::int64_t to_integer(CastMode mode, Scalar to, double value) {
  return convert(mode, Scalar::F64, to, {.f = value}).i;
}
std::int64_t cast_integer(CastMode mode, Scalar from, Scalar to, std::int64_t value) {
  return convert(mode, from, to, {.i = value}).i;
}

/// The value kept to the low `bits`, with or without a sign.
std::int64_t wrapped(std::int64_t value, int bits, bool is_signed) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1, low = static_cast<std::uint64_t>(value) & mask;
  const bool negative = is_signed && (low >> (bits - 1)) != 0;
  return static_cast<std::int64_t>(negative ? low | ~mask : low);
}

TEST(Functions, AreRowsOfOneTable) {
  EXPECT_STREQ(function_of(UnaryOp::Rint)->name, "round");
  EXPECT_EQ(name_of(UnaryOp::Rint), "rint");
  EXPECT_EQ(name_of(BinaryOp::Atan2), "atan2");
  EXPECT_EQ(function_of(BinaryOp::Pow)->operands, 2);
  EXPECT_EQ(function_of(UnaryOp::Abs), nullptr);  // of integers, too
  EXPECT_EQ(function_of(BinaryOp::Max), nullptr);
  EXPECT_EQ(function_of(BinaryOp::And), nullptr);
  EXPECT_TRUE(is_transcendental(UnaryOp::Tanh) && is_transcendental(BinaryOp::Pow));
  EXPECT_FALSE(is_transcendental(UnaryOp::Sqrt) || is_transcendental(BinaryOp::Div));
  // Each is what C calls so.
  EXPECT_EQ(apply(UnaryOp::Rint, Scalar::F64, {.f = 2.5}).f, 2.0);
  EXPECT_EQ(apply(BinaryOp::Atan2, Scalar::F32, {.f = 1}, {.f = -1}).f, std::atan2(1.0f, -1.0f));
}

}  // namespace

TEST(Value, NarrowIntegersWrapAtAllOperandPairs) {
  for (const auto& [scalar, is_signed] : {std::pair{Scalar::I8, true}, {Scalar::U8, false}}) {
    const std::int64_t low = is_signed ? -128 : 0, high = low + 255;
    for (std::int64_t a = low; a <= high; ++a) {
      for (std::int64_t b = low; b <= high; ++b) {
        const auto expect = [&](BinaryOp op, std::int64_t exact) {
          ASSERT_EQ(on(scalar, op, a, b), wrapped(exact, 8, is_signed))
              << a << ' ' << name_of(op) << ' ' << b;
        };
        expect(BinaryOp::Add, a + b);
        expect(BinaryOp::Sub, a - b);
        expect(BinaryOp::Mul, a * b);
        expect(BinaryOp::Div, b == 0 ? 0 : a / b);
        expect(BinaryOp::Rem, b == 0 ? 0 : a % b);
        expect(BinaryOp::Min, std::min(a, b));
        expect(BinaryOp::Max, std::max(a, b));
        expect(BinaryOp::And, a & b);
        expect(BinaryOp::Or, a | b);
        expect(BinaryOp::Xor, a ^ b);
        expect(BinaryOp::Shl, a * (std::int64_t{1} << (b & 7)));
        expect(BinaryOp::Shr, a >> (b & 7));
        ASSERT_EQ(on(scalar, BinaryOp::Lt, a, b), a < b);
        ASSERT_EQ(on(scalar, BinaryOp::Le, a, b), a <= b);
        ASSERT_EQ(on(scalar, BinaryOp::Eq, a, b), a == b);
        ASSERT_EQ(on(scalar, BinaryOp::Ne, a, b), a != b);
      }
    }
  }
}

TEST(Value, WideIntegersAtTheirExtremes) {
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Add, i64_max, 1), i64_min);
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Sub, i64_min, 1), i64_max);
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Mul, i64_min, -1), i64_min);
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Div, i64_min, -1), i64_min);
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Rem, i64_min, -1), 0);
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Shl, 1, 63), i64_min);
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Shl, 1, 64), 1);
  EXPECT_EQ(on(Scalar::I64, BinaryOp::Shr, -1, 63), -1);
  EXPECT_EQ(on(Scalar::I32, BinaryOp::Mul, 65536, 65536), 0);
  EXPECT_EQ(on(Scalar::I32, BinaryOp::Add, 2147483647, 1), -2147483648LL);
  EXPECT_EQ(on(Scalar::I32, BinaryOp::Shl, 1, 31), -2147483648LL);
  EXPECT_EQ(on(Scalar::I32, BinaryOp::Shl, 1, -1), -2147483648LL) << "counts are masked";
  EXPECT_EQ(on(Scalar::U16, BinaryOp::Mul, 65535, 65535), 1) << "uint16_t * uint16_t overflows C++'s int";
  EXPECT_EQ(on(Scalar::U32, BinaryOp::Sub, 0, 1), 4294967295LL);
  EXPECT_EQ(on(Scalar::U64, BinaryOp::Sub, 0, 1), -1) << "the bits of the greatest u64";
  EXPECT_EQ(on(Scalar::U64, BinaryOp::Lt, 1, -1), 1);
  EXPECT_EQ(on(Scalar::U64, BinaryOp::Div, -1, 2), i64_max);
  EXPECT_EQ(on(Scalar::U64, BinaryOp::Shr, -1, 1), i64_max);
}

TEST(Value, UnaryOperators) {
  const auto integer = [](UnaryOp op, Scalar s, std::int64_t a) { return apply(op, s, {.i = a}).i; };
  EXPECT_EQ(integer(UnaryOp::Neg, Scalar::I8, -128), -128);
  EXPECT_EQ(integer(UnaryOp::Abs, Scalar::I32, -2147483648LL), -2147483648LL);
  EXPECT_EQ(integer(UnaryOp::Neg, Scalar::U32, 1), 4294967295LL);
  EXPECT_EQ(integer(UnaryOp::BitNot, Scalar::U8, 1), 254);
  EXPECT_EQ(integer(UnaryOp::BitNot, Scalar::I16, 1), -2);
  EXPECT_EQ(integer(UnaryOp::Not, Scalar::Bool, 1), 0);
  const auto real = [](UnaryOp op, double a) { return apply(op, Scalar::F64, {.f = a}).f; };
  EXPECT_EQ(real(UnaryOp::Rint, 0.5), 0);
  EXPECT_EQ(real(UnaryOp::Rint, 1.5), 2);
  EXPECT_EQ(real(UnaryOp::Floor, -0.5), -1);
  EXPECT_EQ(real(UnaryOp::Ceil, -0.5), 0);
  EXPECT_EQ(real(UnaryOp::Trunc, -1.5), -1);
  EXPECT_TRUE(std::isnan(real(UnaryOp::Sqrt, -1)));
  EXPECT_EQ(real(UnaryOp::Log, 0), -infinity);
  EXPECT_EQ(apply(UnaryOp::Sqrt, Scalar::F32, {.f = 2}).f, std::sqrt(2.f)) << "f32 computes in float";
}

TEST(Value, FloatsFollowIeee) {
  EXPECT_EQ(on_real(Scalar::F32, BinaryOp::Div, 1, 0), infinity);
  EXPECT_TRUE(std::isnan(on_real(Scalar::F64, BinaryOp::Div, 0, 0)));
  EXPECT_EQ(on_real(Scalar::F32, BinaryOp::Add, 16777216, 1), 16777216);
  EXPECT_EQ(on_real(Scalar::F64, BinaryOp::Rem, -7, 3), -1);
  EXPECT_EQ(on_real(Scalar::F64, BinaryOp::Min, 1, nan_value), 1)
      << "as std::min: the first unless the second is less";
  EXPECT_TRUE(std::isnan(on_real(Scalar::F64, BinaryOp::Min, nan_value, 1)));
  EXPECT_EQ(on_real(Scalar::F16, BinaryOp::Add, 2048, 1), 2048) << "half rounds to even";
  EXPECT_EQ(apply(BinaryOp::Ne, Scalar::F32, {.f = nan_value}, {.f = nan_value}).i, 1);
}

TEST(Value, FloatToInteger) {
  for (const CastMode mode : {CastMode::Convert, CastMode::Saturate}) {
    EXPECT_EQ(to_integer(mode, Scalar::U8, nan_value), 0);
    EXPECT_EQ(to_integer(mode, Scalar::U8, infinity), 255);
    EXPECT_EQ(to_integer(mode, Scalar::U8, -infinity), 0);
    EXPECT_EQ(to_integer(mode, Scalar::I8, -1000), -128);
    EXPECT_EQ(to_integer(mode, Scalar::I64, 1e30), i64_max);
    EXPECT_EQ(to_integer(mode, Scalar::I64, -1e30), i64_min);
    EXPECT_EQ(to_integer(mode, Scalar::U64, 1e30), -1) << "the bits of the greatest u64";
    EXPECT_EQ(to_integer(mode, Scalar::I32, 2147483647.0), 2147483647);
  }
  EXPECT_EQ(to_integer(CastMode::Convert, Scalar::U8, 255.9), 255);
  EXPECT_EQ(to_integer(CastMode::Convert, Scalar::I8, -1.9), -1);
  EXPECT_EQ(to_integer(CastMode::Saturate, Scalar::U8, 0.5), 0);
  EXPECT_EQ(to_integer(CastMode::Saturate, Scalar::U8, 1.5), 2);
  EXPECT_EQ(to_integer(CastMode::Saturate, Scalar::U8, 2.5), 2);
  EXPECT_EQ(to_integer(CastMode::Saturate, Scalar::I8, -1.5), -2);
}

TEST(Value, IntegerToInteger) {
  EXPECT_EQ(cast_integer(CastMode::Convert, Scalar::I32, Scalar::U8, -1), 255);
  EXPECT_EQ(cast_integer(CastMode::Convert, Scalar::I32, Scalar::I8, 200), -56);
  EXPECT_EQ(cast_integer(CastMode::Convert, Scalar::I8, Scalar::U64, -1), -1);
  EXPECT_EQ(cast_integer(CastMode::Saturate, Scalar::I32, Scalar::U8, -1), 0);
  EXPECT_EQ(cast_integer(CastMode::Saturate, Scalar::I32, Scalar::U8, 300), 255);
  EXPECT_EQ(cast_integer(CastMode::Saturate, Scalar::U64, Scalar::I64, -1), i64_max);
  EXPECT_EQ(cast_integer(CastMode::Saturate, Scalar::I64, Scalar::U64, -1), 0);
  EXPECT_EQ(cast_integer(CastMode::Convert, Scalar::I32, Scalar::Bool, 256), 1);
  EXPECT_EQ(convert(CastMode::Convert, Scalar::U64, Scalar::F64, {.i = -1}).f, 18446744073709551616.0);
  EXPECT_EQ(convert(CastMode::Convert, Scalar::F64, Scalar::F32, {.f = 0.1}).f, static_cast<double>(0.1f));
}

TEST(Value, EveryHalfSurvivesTheRoundTrip) {
  for (int bits = 0; bits < 65536; ++bits) {
    half before;
    before.bits = static_cast<std::uint16_t>(bits);
    half after;
    store(Scalar::F16, &after, load(Scalar::F16, &before));
    if (std::isnan(static_cast<float>(before))) {
      ASSERT_TRUE(std::isnan(static_cast<float>(after))) << bits;
    } else {
      ASSERT_EQ(before.bits, after.bits);
    }
  }
}

TEST(Value, HalfRoundsToEven) {
  const auto rounded = [](float v) { return static_cast<float>(half(v)); };
  EXPECT_EQ(rounded(2049.f), 2048.f);
  EXPECT_EQ(rounded(2051.f), 2052.f);
  EXPECT_EQ(rounded(65519.f), 65504.f);
  EXPECT_EQ(rounded(65520.f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(std::ldexp(1.f, -25)), 0.f);
  EXPECT_EQ(rounded(std::nextafter(std::ldexp(1.f, -25), 1.f)), std::ldexp(1.f, -24));
  EXPECT_TRUE(std::signbit(rounded(-0.f)));
}

TEST(Value, Text) {
  EXPECT_EQ(Value::real(type_of<float>(), 0.1).to_string(), "0.1");
  EXPECT_EQ(Value::real(type_of<double>(), 1.0 / 3).to_string(), "0.3333333333333333");
  EXPECT_EQ(Value::integer(type_of<std::uint64_t>(), -1).to_string(), "18446744073709551615");
  EXPECT_EQ(Value::integer(type_of<Vec<int, 3>>(), 2).to_string(), "(2, 2, 2)");
  EXPECT_EQ(Value::integer(type_of<bool>(), 2).to_string(), "true");
}

TEST(Value, IdentitiesOfMinAndMax) {
  for (const Scalar s : {Scalar::I8, Scalar::U8, Scalar::I32, Scalar::I64, Scalar::U64}) {
    const Type type{s, 1};
    EXPECT_EQ(apply(BinaryOp::Min, s, largest(type).lane[0], {.i = 5}).i, 5);
    EXPECT_EQ(apply(BinaryOp::Max, s, least(type).lane[0], {.i = 5}).i, 5);
  }
  EXPECT_EQ(largest(type_of<float>()).as_double(), infinity);
  EXPECT_EQ(least(type_of<float>()).as_double(), -infinity);
}

}  // namespace weft::ir
