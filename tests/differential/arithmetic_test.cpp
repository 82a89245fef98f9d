// Every operator on every type, without undefined behaviour.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

const std::vector<std::int64_t> picture_extents = {61, 37};

/// The strict pipeline of these outputs on two images of noise.
void agree_on(const Outputs& outputs, Type a, Type b,
              Buffer (*make)(Type, const std::vector<std::int64_t>&, std::uint64_t) = noise) {
  const Pipeline pipeline("arithmetic", Outputs(outputs).strict());
  expect_agreement(pipeline,
                   {{{"a", make(a, picture_extents, 11)}, {"b", make(b, picture_extents, 12)}}, {}, {}});
}

template <class T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                    std::uint16_t, std::uint32_t, std::uint64_t>;

struct NameOfType {
  template <class T>
  static std::string GetName(int) {
    return name_of(type_of<T>());
  }
};
TYPED_TEST_SUITE(Integers, IntegerTypes, NameOfType);

TYPED_TEST(Integers, EveryOperator) {
  const Image<TypeParam> a("a");
  const Image<TypeParam> b("b", a.size());
  const auto narrow = [](const Expr& e) { return cast<TypeParam>(e); };
  agree_on({point("sum", a + b),
            point("difference", a - b),
            point("product", a * b),
            point("quotient", a / b),
            point("remainder", a % b),
            point("both", a & b),
            point("either", a | b),
            point("one", a ^ b),
            point("up", a << b),
            point("down", a >> b),
            point("least", min(a, b)),
            point("most", max(a, b)),
            point("size", abs(a)),
            point("negative", -Expr(a)),
            point("complement", ~Expr(a)),
            point("narrow_sum", narrow(a + b)),
            point("narrow_product", narrow(a * b)),
            point("narrow_up", narrow(a << b)),
            point("by_zero", a / (b - b)),
            point("clamped", clamp(a, narrow(3), narrow(100)))},
           type_of<TypeParam>(), type_of<TypeParam>());
}

TYPED_TEST(Integers, ComparisonsAndSelect) {
  const Image<TypeParam> a("a");
  const Image<TypeParam> b("b", a.size());
  agree_on({point("less", a < b), point("at_most", a <= b), point("greater", a > b),
            point("at_least", a >= b), point("equal", a == b), point("different", a != b),
            point("not_zero", !(a == 0) && b != 0), point("chosen", select(a < b || a == 1, a, b)),
            point("nested", select(a < b, select(a < 0, a, -b), b))},
           type_of<TypeParam>(), type_of<TypeParam>());
}

TYPED_TEST(Integers, MeetOtherTypes) {
  const Image<TypeParam> a("a");
  const Image<std::int16_t> b("b", a.size());
  agree_on({point("sum", a + b), point("product", a * b), point("quotient", a / b), point("less", a < b),
            point("with_unsigned", a + 3'000'000'000u), point("with_long", a * std::int64_t{5'000'000'000}),
            point("with_float", a * 0.5f), point("with_double", a / 3.0), point("up", a << b),
            point("from_literal", 1 << Expr(a))},
           type_of<TypeParam>(), type_of<std::int16_t>());
}

/// Small literals of 64 bits are ints in C; what is computed from them alone must not be.
TYPED_TEST(Integers, LiteralsHaveTheirType) {
  const Image<TypeParam> a("a");
  const Image<std::int16_t> b("b", a.size());
  const Expr one = std::int64_t{1}, most = std::int64_t{2147483647};
  const Expr chosen = select(a == b, one, most);
  agree_on({point("up", one << b), point("chosen_up", chosen << 40), point("flipped_up", ~chosen << b),
            point("sum", chosen + select(a < b, most, one)), point("product", chosen * cast<std::int64_t>(b)),
            point("negative", -chosen * select(b < 0, most, one))},
           type_of<TypeParam>(), type_of<std::int16_t>());
}

template <class T>
class Floats : public testing::Test {};
using FloatTypes = testing::Types<half, float, double>;
TYPED_TEST_SUITE(Floats, FloatTypes, NameOfType);

TYPED_TEST(Floats, EveryOperator) {
  const Image<TypeParam> a("a");
  const Image<TypeParam> b("b", a.size());
  const Outputs outputs = {point("sum", a + b),
                           point("difference", a - b),
                           point("product", a * b),
                           point("quotient", a / b),
                           point("least", min(a, b)),
                           point("most", max(a, b)),
                           point("size", abs(a)),
                           point("negative", -Expr(a)),
                           point("less", a < b),
                           point("equal", a == b),
                           point("chosen", select(a <= b, a, b)),
                           point("mixed", lerp(a, b, 0.25f)),
                           point("root", sqrt(a)),
                           point("down", floor(a)),
                           point("up", ceil(a)),
                           point("even", round(a)),
                           point("to_zero", trunc(a)),
                           point("narrow", cast<TypeParam>(a * b + a))};
  agree_on(outputs, type_of<TypeParam>(), type_of<TypeParam>());
  agree_on(outputs, type_of<TypeParam>(), type_of<TypeParam>(), extreme_floats);
}

TYPED_TEST(Floats, MathFunctions) {
  const Image<TypeParam> a("a");
  const Image<TypeParam> b("b", a.size());
  const Outputs outputs = {
      point("exp", exp(a)),        point("log", log(a)),        point("sin", sin(a)),
      point("cos", cos(a)),        point("tan", tan(a)),        point("atan", atan(a)),
      point("tanh", tanh(a)),      point("atan2", atan2(a, b)), point("pow", pow(a, b)),
      point("hypot", hypot(a, b)), point("cbrt", cbrt(a)),      point("exp2", exp2(a)),
      point("log2", log2(a)),      point("erf", erf(a)),        point("asin", asin(a / 100)),
      point("acos", acos(a / 100))};
  agree_on(outputs, type_of<TypeParam>(), type_of<TypeParam>());
  agree_on(outputs, type_of<TypeParam>(), type_of<TypeParam>(), extreme_floats);
}

TEST(Arithmetic, MathFunctionsThatAreVectorisedAreClose) {
  const Image<float> a("a");
  const Pipeline pipeline("vector_math",
                          {point("exp", exp(a * .01f)), point("sin", sin(a)), point("tanh", tanh(a)),
                           point("log", log(abs(a) + 1.f)), point("pow", pow(abs(a) * .01f, .6f))});
  expect_agreement(pipeline, {{{"a", noise(type_of<float>(), picture_extents, 13)}}, {}, {}}, {4e-6});
}

/// How far `value` is from `exact`, in units of the last place of a float there.
double ulps_between(float value, double exact) {
  return std::fabs(value - exact) / std::ldexp(1.0, std::ilogb(exact) - 23);
}

TEST(Arithmetic, ExpWithoutStrictIsWithinItsBound) {
  const Image<float> a("a");
  const Program exps = Pipeline("exps", {point("exp", exp(a))}).compile();
  Buffer in = Buffer::allocate(type_of<float>(), {1 << 16, 1});
  for (int x = 0; x < 1 << 16; ++x) in.at<float>(x, 0) = -90.f + static_cast<float>(x) * (180.f / (1 << 16));
  const Buffer out = exps(in);
  for (int x = 0; x < 1 << 16; ++x) {
    const float v = in.at<float>(x, 0), value = out.at<float>(x, 0);
    const double exact = std::exp(static_cast<double>(v));
    if (exact > std::numeric_limits<float>::max())
      EXPECT_TRUE(std::isinf(value)) << v;
    else if (exact < std::ldexp(1.0, -125))
      EXPECT_NEAR(value, exact, std::ldexp(1.0, -125)) << v;
    else
      EXPECT_LE(ulps_between(value, exact), 2.5) << v;
  }
}

TEST(Arithmetic, ExpWithoutStrictKeepsInfinityAndNaN) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float most = std::numeric_limits<float>::max();
  const Image<float> a("a");
  const Program exps = Pipeline("exps", {point("exp", exp(a))}).compile();
  Buffer in = Buffer::allocate(type_of<float>(), {64, 1});  // enough for vectors
  const auto all = [&](float v) {
    for (int x = 0; x < 64; ++x) in.at<float>(x, 0) = v;
    const Buffer out = exps(in);
    for (int x = 1; x < 64; ++x) EXPECT_EQ(std::isnan(out.at<float>(x, 0)), std::isnan(out.at<float>(0, 0)));
    return out.at<float>(17, 0);
  };
  EXPECT_EQ(all(infinity), infinity);
  EXPECT_EQ(all(most), infinity);
  EXPECT_EQ(all(-infinity), 0.f);
  EXPECT_EQ(all(-most), 0.f);
  EXPECT_EQ(all(0.f), 1.f);
  EXPECT_EQ(all(-0.f), 1.f);
  for (const char* payload : {"", "1", "0xff", "0x3fffff"}) {
    EXPECT_TRUE(std::isnan(all(std::nanf(payload)))) << payload;
    EXPECT_TRUE(std::isnan(all(-std::nanf(payload)))) << payload;
  }
}

/// Sums that are regrouped would lose them: (a + 1) - a is NaN where a is infinite. Some of these are
/// multiplied in vectors, where GCC 12 takes a * 0 for 0 if the sign of a zero may be ignored.
TEST(Arithmetic, WithoutStrictInfinityAndNaNSpreadAsTheyShould) {
  const Image<float> a("a");
  const Image<float> b("b", a.size());
  const Pipeline pipeline(
      "special",
      {point("cancelled", (a + 1.f) - a), point("times_zero", a * 0.f), point("one", a * 0.f + 1.f),
       point("doubled", a * 2.f - a), point("back", (a - b) + b), point("itself", a - a),
       point("quotient", a / b), point("ratio", a / a), point("common", a * b + a * 2.f),
       point("average", (a + b) / 3.f), point("root", sqrt(a)), point("is_nan", a != a),
       point("not_less", !(a < b)), point("least", min(a, b)), point("most", max(a, b)),
       point("between", clamp(a, -1.f, 1.f)),
       convolve("blurred", a.border(Border::clamp()), Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f),
       convolve("edges", a.border(Border::clamp()), Mask{{-1.f, 0.f, 1.f}})});
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {infinity, -infinity, std::nanf(""), 1.5f, -2.f, 0.f, 100.f, 7.f};
  Arguments arguments;
  for (const char* name : {"a", "b"}) {
    Buffer in = Buffer::allocate(type_of<float>(), {64, 64});
    for (int y = 0; y < 64; ++y) {
      for (int x = 0; x < 64; ++x) in.at<float>(x, y) = values[(name[0] == 'a' ? x : y) % values.size()];
    }
    arguments.images[name] = in;
  }
  expect_agreement(pipeline, arguments, {.largest = 1e-2});
}

TEST(Arithmetic, PowersWithoutStrictAreWithinTheirBound) {
  const Image<float> a("a");
  Buffer in = Buffer::allocate(type_of<float>(), {1 << 16, 1});
  for (int x = 0; x < 1 << 16; ++x)  // all magnitudes, subnormal ones, too
    in.at<float>(x, 0) = std::ldexp(1.f + static_cast<float>(x % 257) / 257, x / 236 - 149);
  for (const float exponent : {.01f, 1 / 2.4f, .45f, .6f, 2.2f, 3.9f}) {
    SCOPED_TRACE(exponent);
    const Buffer out = Pipeline("powers", {point("pow", pow(a, exponent))}).compile()(in);
    for (int x = 0; x < 1 << 16; ++x) {
      const float v = in.at<float>(x, 0), value = out.at<float>(x, 0);
      const double exact = std::pow(static_cast<double>(v), static_cast<double>(exponent));
      if (exact > std::numeric_limits<float>::max())
        EXPECT_TRUE(std::isinf(value)) << v;
      else if (exact < std::ldexp(1.0, -125))
        EXPECT_NEAR(value, exact, std::ldexp(1.0, -125)) << v;
      else
        EXPECT_LE(ulps_between(value, exact), 4) << v;
    }
  }
}

TEST(Arithmetic, PowersWithoutStrictOfWhatIsNotPositiveOrFinite) {
  const Image<float> a("a");
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.f, -0.f, infinity, -infinity, std::nanf(""), -1.f, -1e-40f, -3e38f};
  Buffer in = Buffer::allocate(type_of<float>(), {64, 1});
  for (int x = 0; x < 64; ++x) in.at<float>(x, 0) = values[x % values.size()];
  const Buffer out = Pipeline("powers", {point("pow", pow(a, .6f))}).compile()(in);
  for (int x = 0; x < 64; ++x) {
    const float expected = std::pow(in.at<float>(x, 0), .6f), value = out.at<float>(x, 0);
    EXPECT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
        << in.at<float>(x, 0) << " gives " << value;
  }
}

/// Processors that convert no vectors of 64-bit integers do it by a sum. Pixels and parameters may be too large for it.
TEST(Arithmetic, IntegersOf64BitsAsFloats) {
  const Image<std::int64_t> a("a");
  const Param<std::int64_t> p("p", (std::int64_t{1} << 60) + 1);
  const Outputs outputs = {
      stage("coordinates", a.size(),
            [&](Var x, Var y) { return cast<float>(x * 7 - y) - 2.f * cast<float>(y - 3 * x); }),
      stage("large", a.size(),
            [&](Var x, Var) { return cast<float>(x * 3 + ((std::int64_t{1} << 24) + 1)); }),
      stage("larger", a.size(), [&](Var x, Var) { return cast<float>(-x + ((std::int64_t{1} << 40) + 1)); }),
      stage("doubles", a.size(), [&](Var x, Var y) { return cast<double>(x) / 3. - cast<double>(y); }),
      point("pixels", cast<float>(a) + cast<float>(a >> 3)),
      point("parameter", cast<double>(a - a + p))};
  const Pipeline pipeline("reals", Outputs(outputs).strict());
  const Arguments arguments{{{"a", noise(type_of<std::int64_t>(), picture_extents, 11)}}, {}, {}};
  expect_agreement(pipeline, arguments);
#if defined(__x86_64__)
  CompileOptions options = compile_options();
  options.compiler_flags.push_back("-mno-avx512dq");
  expect_agreement(pipeline.compile(options), pipeline, arguments, exactly);
#endif
}

/// Compiled code has 16 bits for values that surely fit, and these just do, or just do not.
TEST(Arithmetic, SmallIntegersUpToTheEndsOf16Bits) {
  const Image<std::uint8_t> a("a");
  const Image<std::int8_t> b("b", a.size());
  std::vector<Stage> outputs;
  for (const int k : {128, 129, 256, 257, 258}) {
    const std::string by = std::to_string(k);
    const auto add = [&](const std::string& name, const Expr& e) { outputs.push_back(point(name + by, e)); };
    add("shifted", cast<std::uint8_t>((a * k + 1) >> 8));
    add("divided", cast<std::int16_t>((b * k - 100) / 3));
    add("rest", cast<std::int8_t>((b * k) % 100));
    add("clamped", saturate<std::uint8_t>(b * k + a));
    add("magnitude", cast<std::uint16_t>(abs(b * k)));
    add("larger", cast<std::uint16_t>(max(b * k, a * k)));
    add("chosen", cast<std::int16_t>(select(b * k < a * k - 255, a * k, b * k)));
    add("wrapped", cast<std::int8_t>((b * k * k * k * 257) >> 20));
  }
  agree_on(outputs, type_of<std::uint8_t>(), type_of<std::int8_t>());
}

TEST(Arithmetic, HalvesOfSumsThatDoNotFit16Bits) {
  constexpr std::int16_t least = std::numeric_limits<std::int16_t>::min(),
                         most = std::numeric_limits<std::int16_t>::max();
  const std::vector<std::int16_t> values = {least, least + 1, -3, -2, -1, 0, 1, 2, 3, most - 1, most};
  const auto size = static_cast<std::int64_t>(values.size());
  Buffer of_a = Buffer::allocate(type_of<std::int16_t>(), {size, size}),
         of_b = Buffer::allocate(type_of<std::int16_t>(), {size, size});
  for (std::int64_t i = 0; i < size * size; ++i) {
    static_cast<std::int16_t*>(of_a.data())[i] = values[i % size];
    static_cast<std::int16_t*>(of_b.data())[i] = values[i / size];
  }
  const Image<std::int16_t> a("a");
  const Image<std::int16_t> b("b", a.size());
  const Expr half = (a + b) / 2;
  const Pipeline pipeline("halves", {point("half", cast<std::int16_t>(half)),
                                     point("difference", cast<std::int16_t>(half - (b + b) / 2))});
  expect_agreement(pipeline, {{{"a", of_a}, {"b", of_b}}, {}, {}});
  expect_agreement(pipeline, {{{"a", noise(type_of<std::int16_t>(), picture_extents, 1)},
                               {"b", noise(type_of<std::int16_t>(), picture_extents, 2)}},
                              {},
                              {}});
}

TEST(Arithmetic, Bools) {
  const Image<bool> a("a");
  const Image<bool> b("b", a.size());
  agree_on({point("both", a && b), point("either", a || b), point("bits", (a & b) | (a ^ b)),
            point("not", !Expr(a)), point("count", cast<std::int32_t>(a) + cast<std::int32_t>(b)),
            point("sum", a + b), point("equal", a == b), point("real", cast<float>(a)),
            point("chosen", select(a, 7, 9)), point("from_number", cast<bool>(cast<std::int32_t>(a) * 4))},
           type_of<bool>(), type_of<bool>());
}

TEST(Arithmetic, LanesOneByOne) {
  const Image<Vec<std::int16_t, 3>> a("a");
  const Image<Vec<std::int16_t, 3>> b("b", a.size());
  const Expr rgb = a;
  agree_on(
      {point("sum", a + b), point("scaled", a * 3), point("chosen", select(a < b, a, b)),
       point("whole", select(rgb.lane(0) < rgb.lane(1), a, b)), point("two", pack(rgb.lane(2), rgb.lane(0))),
       point("four", pack(rgb.lane(0), rgb.lane(1), rgb.lane(2), 9)), point("real", cast<float>(a) / 3.f),
       point("bytes", saturate<std::uint8_t>(a)), point("grey", rgb.lane(0) + rgb.lane(1) + rgb.lane(2)),
       point("least", min(a, b))},
      a.type(), b.type());
}

}  // namespace
}  // namespace weft::testing_support
