// Mistakes in reductions and scatters.
#include "tests/errors/expect_error.h"

using namespace weft;

namespace {

Expr larger(const Expr& a, const Expr& b) { return max(a, b); }

}  // namespace

// ---- reductions ----

TEST(Reduction, WithoutAnIdentity) {
  Image<float> in("in");
  EXPECT_ERROR(reduce("peak", in, Reduce(larger)),
               R"(HERE: error: the operator of reduction 'peak' has no identity
  needs the value e with combine(e, v) == v and combine(v, e) == v for every v
  help: say it: Reduce(combine).identity(0.f))");
}

TEST(Reduction, IdentityThatVaries) {
  Image<float> in("in");
  const std::string help = "\n  help: make it of constants and parameters";
  EXPECT_ERROR(reduce("peak", in, Reduce(larger).identity(in)),
               "HERE: error: the identity of reduction 'peak' depends on 'in'" + help);
  Stage least = reduce("least", in, Reduce::min());
  EXPECT_ERROR(reduce("peak", in, Reduce(larger).identity(least)),
               "HERE: error: the identity of reduction 'peak' depends on 'least'" + help);
  EXPECT_ERROR(reduce("peak", in, Reduce(larger).identity(in.width())),
               "HERE: error: the identity of reduction 'peak' depends on the size in.w" + help);
  EXPECT_ERROR(reduce("peak", in, Reduce(larger).identity(step_number())),
               "HERE: error: the identity of reduction 'peak' depends on the step number" + help);
}

TEST(Reduction, OperatorThatVaries) {
  Image<float> in("in");
  const std::string help =
      "\n  help: make it of its two operands and of constants and parameters; the elements may depend on "
      "anything";
  const auto weighted = [&](const Expr& a, const Expr& b) { return a + b * in; };
  EXPECT_ERROR(reduce("mean", in, Reduce(weighted).identity(0.f)),
               "HERE: error: the operator of reduction 'mean' depends on 'in'" + help);
  Expr column = 0;
  const auto body = [&](Var x, Var y) { return column = x, in(x, y); };
  const auto shifted = [&](const Expr& a, const Expr& b) { return a + b + column; };
  EXPECT_ERROR(reduce("mean", in, body, Reduce(shifted).identity(0.f)),
               "HERE: error: the operator of reduction 'mean' depends on the coordinate x" + help);
}

TEST(Reduction, LanesThatDiffer) {
  Image<Vec<float, 3>> rgb("rgb");
  EXPECT_ERROR(reduce("peak", rgb, Reduce(larger).identity(0.f)),
               R"(HERE: error: reduction 'peak' combines f32x3 but its identity is f32
  help: give elements, operator and identity the same number of lanes)");
  const auto pair = [](const Expr& a, const Expr& b) { return pack(a.lane(0), b.lane(0)); };
  EXPECT_ERROR(reduce("peak", rgb, Reduce(pair).identity(Vec<float, 3>{0, 0, 0})),
               R"(HERE: error: reduction 'peak' combines f32x2 but its identity is f32x3
  help: give elements, operator and identity the same number of lanes)");
}

TEST(Reduction, PlacesOfWhatHasNoOrder) {
  Image<Vec<float, 3>> rgb("rgb");
  EXPECT_ERROR(reduce("where", rgb, Reduce::arg_min()), R"(HERE: error: 'where' orders pixels of 3 lanes
  help: take one lane with .lane(i), or a value made of them)");
  Stage least = reduce("least", rgb, Reduce::min());
  EXPECT_ERROR(reduce("where", least.lane(0), Reduce::arg_max()),
               R"(HERE: error: 'where' asks for a place among 0 dimensions
  needs one to four)");
}

TEST(Reduction, ElementsByCases) {
  Image<float> in("in");
  const auto body = [&](Var x, Var y) { return cases().when(x == 0, 0.f).otherwise(in(x - 1, y)); };
  EXPECT_ERROR(reduce("total", in, body, Reduce::sum()),
               R"(HERE: error: the elements of reduction 'total' are defined by cases
  help: choose with select, or reduce a stage that is defined by the cases)");
}

TEST(Reduction, CoordinatesOfTheBody) {
  Image<float> in("in");
  EXPECT_ERROR(reduce(
                   "total", in, [&](Var x) { return in(x, x); }, Reduce::sum()),
               R"(HERE: error: the body of 'total' takes 1 coordinate but runs over 2 dimensions
  help: give one coordinate per dimension: [&](Var x, Var y) { … })");
}

TEST(Reduction, OfNothing) {
  EXPECT_ERROR(reduce("total", 1.f, Reduce::sum()),
               R"(HERE: error: stage 'total' reads nothing at the current pixel, so its size is unknown
  help: write reduce("total", size, [&](Var x, Var y) { return …; }, …))");
}

TEST(Reduction, ReadBeforeItIsDefined) {
  Image<float> in("in");
  const std::string declared = NEXT_LINE();
  Stage total;
  const std::string here = NEXT_LINE();
  const auto body = [&](Var x, Var y) { return in(x, y) / total; };
  EXPECT_ERROR_AT(
      here, stage("share", in.size(), body),
      "HERE: error: a stage is read that is not defined yet\n  declared " + declared +
          "\n  help: define it first. Stages cannot read each other in a cycle; what an earlier step "
          "has computed is read in evolve()");
}

TEST(Reduction, ReadsOutsideOfABox) {
  Image<float> in("in");
  std::string here;
  const auto body = [&](Var x, Var y) {
    here = NEXT_LINE();
    return abs(in(x + 1, y) - in(x, y));
  };
  Stage total = reduce("total", in, body, Reduce::sum());
  EXPECT_ERROR_AT(here, Pipeline("p", total), R"(HERE: error: 'total' reads 'in' outside its box
  needs   in x in [0, w]
  defined in x in [0, w - 1]
  help: read it through in.border(Border::clamp()) or another mode, or make the box of 'total' smaller)");
}

TEST(Reduction, OperandOutsideItsOperator) {
  Image<float> in("in");
  Expr operand = 0;
  const auto keep = [&](const Expr& a, const Expr& b) { return operand = a, max(a, b); };
  reduce("peak", in, Reduce(keep).identity(0.f));
  const std::string help = "\n  help: the operator's operands have a meaning only inside its own function";
  EXPECT_ERROR(point("out", in + operand),
               "HERE: error: stage 'out' uses an operand of a reduction's operator outside of it" + help);
  EXPECT_ERROR(reduce("second", in + operand, Reduce::sum()),
               "HERE: error: stage 'second' uses an operand of a reduction's operator outside of it" + help);
  EXPECT_ERROR(reduce("third", in, Reduce(larger).identity(operand)),
               "HERE: error: stage 'third' uses an operand of a reduction's operator outside of it" + help);
}

// ---- scattering ----

TEST(Scatter, IndicesOfAnUpdate) {
  Image<std::uint8_t> in("in");
  EXPECT_ERROR(scatter("bins", {256, 4}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); }),
               R"(HERE: error: an update of 'bins' has 1 index
  needs 2, one per dimension)");
  EXPECT_ERROR(scatter("bins", {256}, 0u, in,
                       [&](Var x, Var y) {
                         return add({in(x, y), y}, 1u);
                       }),
               R"(HERE: error: an update of 'bins' has 2 indices
  needs 1, one per dimension)");
}

TEST(Scatter, TypeOfAnIndex) {
  Image<Vec<float, 2>> in("in");
  const std::string help =
      "\n  help: an index is an integer: cast<int>(v) rounds towards 0, cast<int>(floor(v)) down";
  EXPECT_ERROR(scatter("bins", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y).lane(0)}, 1u); }),
               "HERE: error: an update of 'bins' has an index of type f32" + help);
  EXPECT_ERROR(scatter("bins", {256}, 0u, in, [&](Var x, Var y) { return add({cast<int>(in(x, y))}, 1u); }),
               R"(HERE: error: an update of 'bins' has an index of type i32x2
  help: an index is a scalar; take one lane of the pixel with .lane(i))");
}

TEST(Scatter, LanesThatDiffer) {
  Image<Vec<std::uint8_t, 3>> in("in");
  EXPECT_ERROR(scatter("bins", {256}, 0u, in, [&](Var x, Var y) { return add({x}, in(x, y)); }),
               R"(HERE: error: 'bins' is updated by u8x3 but starts as u32
  help: give the initial value and the updates the same number of lanes)");
}

TEST(Scatter, ValuesThatWouldNotFit) {
  Image<float> in("in");
  EXPECT_ERROR(scatter("bins", {256}, 0, in, [&](Var x, Var y) { return add({x}, in(x, y)); }),
               R"(HERE: error: 'bins' is updated by f32 but starts as i32
  help: say how it is to fit: saturate<int>(…) rounds and clamps, cast<int>(…) cuts off the fraction)");
  EXPECT_ERROR(scatter("bins", {256}, 0.f, in, [&](Var x, Var) { return add({x}, x); }),
               R"(HERE: error: 'bins' is updated by i64 but starts as f32
  help: write cast<float>(…), which rounds)");
}

TEST(Scatter, OperationsThatDiffer) {
  Image<std::uint8_t> in("in");
  const auto body = [&](Var x, Var y) {
    return ScatterUpdates{add({in(x, y)}, 1u), maximum({in(x, y)}, 1u)};
  };
  EXPECT_ERROR(scatter("bins", {256}, 0u, in, body),
               R"(HERE: error: the updates of 'bins' differ in their operation, so their order would matter
  help: use one operation per scatter, or several stages)");
}

TEST(Scatter, WithoutUpdates) {
  Image<std::uint8_t> in("in");
  EXPECT_ERROR(scatter("bins", {256}, 0u, in, [&](Var, Var) { return ScatterUpdates{}; }),
               R"(HERE: error: scatter 'bins' makes no updates
  help: return add({x, y}, value), or a list of updates)");
}

TEST(Scatter, InitialValueThatVaries) {
  Image<float> in("in");
  const auto body = [&](Var x, Var y) { return add({x}, in(x, y)); };
  const std::string help = "\n  help: make it of constants and parameters";
  EXPECT_ERROR(scatter("sums", {in.width()}, in, in, body),
               "HERE: error: the initial value of scatter 'sums' depends on 'in'" + help);
  const auto ones = [&](Var x, Var) { return add({x}, 1); };
  EXPECT_ERROR(scatter("sums", {in.width()}, in.height() / 2, in, ones),
               "HERE: error: the initial value of scatter 'sums' depends on the size in.h/2" + help);
}

TEST(Scatter, CoordinatesOfTheBody) {
  Image<std::uint8_t> in("in");
  EXPECT_ERROR(scatter("bins", {256}, 0u, in, [&](Var x) { return add({in(x, 0)}, 1u); }),
               R"(HERE: error: the body of 'bins' takes 1 coordinate but runs over 2 dimensions
  help: give one coordinate per dimension: [&](Var x, Var y) { … })");
}
