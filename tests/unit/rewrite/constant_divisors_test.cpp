// Divisions by constants that become products.
#include "rewrite/constant_divisors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <weft/weft.hpp>

#include "ir/print.h"
#include "ir/visit.h"

namespace weft::constant_divisors_test {
namespace {

using Made = std::function<Expr(const Accessor&, Var, Var)>;

std::string pixel_of(const ir::Pipeline& pipeline) {
  return ir::to_string(std::get<ir::Pure>(pipeline.stages.at(0)->definition).cases.at(0).value);
}

/// What `made` says of each pixel, and what becomes of it.
struct Texts {
  std::string before, after;
};
Texts texts(const Made& made) {
  Image<float> in("in");
  const Pipeline pipeline(
      "p", stage("s", in.size(), [&](Var x, Var y) { return made(in.border(Border::clamp()), x, y); }));
  return {pixel_of(pipeline.ir()), pixel_of(rewrite::constant_divisors(pipeline.ir()))};
}
std::string after(const Made& made) { return texts(made).after; }
/// How the same is printed that nothing becomes of.
std::string written(const Made& made) { return texts(made).before; }

TEST(ConstantDivisors, BecomeFactors) {
  EXPECT_EQ(after([](const Accessor& in, Var x, Var y) { return in(x, y) / 118.f; }),
            written([](const Accessor& in, Var x, Var y) { return in(x, y) * (Expr(1.f) / 118.f); }));
}

TEST(ConstantDivisors, DivideTheFactorsOfASum) {
  EXPECT_EQ(after([](const Accessor& in, Var x, Var y) {
              return (5.f * in(x, y) - in(x + 1, y) * 12.f + 3.f * in(x, y + 1)) / 118.f;
            }),
            written([](const Accessor& in, Var x, Var y) {
              const Expr five = Expr(5.f) / 118.f, twelve = Expr(12.f) / 118.f, three = Expr(3.f) / 118.f;
              return five * in(x, y) - twelve * in(x + 1, y) + three * in(x, y + 1);
            }));
  EXPECT_EQ(after([](const Accessor& in, Var x, Var y) { return (5.f * in(x, y) + in(x + 1, y)) / 3.f; }),
            written([](const Accessor& in, Var x, Var y) {
              return (5.f * in(x, y) + in(x + 1, y)) * (Expr(1.f) / 3.f);
            }))
      << "a term without a factor would get one";
}

TEST(ConstantDivisors, StayWithoutAReciprocal) {
  for (const float divisor : std::initializer_list<float>{0, 16, 1e-40f, 3e38f, INFINITY, NAN}) {
    const Texts of = texts([&](const Accessor& in, Var x, Var y) { return in(x, y) / divisor; });
    EXPECT_EQ(of.after, of.before) << divisor;
  }
  const Texts integers =
      texts([](const Accessor& in, Var x, Var y) { return cast<float>(cast<int>(in(x, y)) / 3); });
  EXPECT_EQ(integers.after, integers.before);
}

TEST(ConstantDivisors, StayIfStrict) {
  Image<float> in("in");
  const Pipeline pipeline("p", stage("s", in.size(), [&](Var x, Var y) { return in(x, y) / 3.f; }));
  ir::Pipeline strict = pipeline.ir();
  strict.strict = true;
  EXPECT_EQ(pixel_of(rewrite::constant_divisors(strict)), pixel_of(strict));
}

TEST(ConstantDivisors, OfEvolutions) {
  Image<float> in("in");
  const Field<float> u("u", in);
  auto beside = u.border(Border::clamp());
  const Pipeline pipeline(
      "p", evolve("s", u, 3, [&](Var x, Var y) { return (u(x, y) + beside(x - 1, y)) / 3.f; }));
  const ir::Pipeline rewritten = rewrite::constant_divisors(pipeline.ir());
  int divisions = 0;
  const auto& evolve = std::get<ir::Evolve>(rewritten.stages.at(0)->definition);
  ir::visit(ir::expressions(*evolve.evolution->fields.at(0).update), [&](const ir::Expr& e) {
    const auto* n = std::get_if<ir::Binary>(&e->op);
    divisions += n && n->op == ir::BinaryOp::Div && !ir::as_number(n->a);
  });
  EXPECT_EQ(divisions, 0);
}

}  // namespace
}  // namespace weft::constant_divisors_test
