// Every operator on every type, without undefined behaviour.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

const std::vector<std::int64_t> extents = {61, 37};

/// The strict pipeline of these outputs on two images of noise.
void agree_on(const Outputs& outputs, Type a, Type b,
              Buffer (*make)(Type, const std::vector<std::int64_t>&, std::uint64_t) = noise) {
  const Pipeline pipeline("arithmetic", Outputs(outputs).strict());
  expect_agreement(pipeline, {{{"a", make(a, extents, 11)}, {"b", make(b, extents, 12)}}, {}, {}});
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
  const Outputs outputs = {point("exp", exp(a)),   point("log", log(a)),        point("sin", sin(a)),
                           point("cos", cos(a)),   point("tan", tan(a)),        point("atan", atan(a)),
                           point("tanh", tanh(a)), point("atan2", atan2(a, b)), point("pow", pow(a, b))};
  agree_on(outputs, type_of<TypeParam>(), type_of<TypeParam>());
  agree_on(outputs, type_of<TypeParam>(), type_of<TypeParam>(), extreme_floats);
}

TEST(Arithmetic, MathFunctionsThatAreVectorisedAreClose) {
  const Image<float> a("a");
  const Pipeline pipeline("vector_math",
                          {point("exp", exp(a * .01f)), point("sin", sin(a)), point("tanh", tanh(a)),
                           point("log", log(abs(a) + 1.f)), point("pow", pow(abs(a) * .01f, .6f))});
  expect_agreement(pipeline, {{{"a", noise(type_of<float>(), extents, 13)}}, {}, {}}, {4e-6});
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
