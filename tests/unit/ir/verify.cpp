// Every invariant, broken by hand.
#include "ir/verify.h"

#include <gtest/gtest.h>

#include "ir/build.h"

namespace weft::ir::verify_test {
namespace {

const Affine x{Atom(Coord{0})};

StagePtr input(const std::string& name) {
  return std::make_shared<const Stage>(
      Stage{name, type_of<float>(), {{0, Affine(Atom(Size{name, 0}))}}, Input{}, {}});
}

StagePtr stage_of(const std::string& name, Expr value, const StagePtr& in) {
  return std::make_shared<const Stage>(
      Stage{name, type_of<float>(), in->box, Pure{{{nullptr, std::move(value)}}}, {}});
}

template <class Op>
Expr raw(Type type, Op op) {
  return std::make_shared<const Node>(Node{type, std::move(op)});
}

const StagePtr in = input("in");
Expr pixel(const Affine& at = x) { return read(Read{in, {at}, std::nullopt, in->box, {}}); }
const auto loop = std::make_shared<const Loop>(Loop{{1, {{-1}, {0}, {1}}}});

std::string complaint(const Pipeline& pipeline) {
  try {
    verify(pipeline, "a pass");
  } catch (const InternalError& e) {
    return e.what();
  }
  return "none";
}

std::string complaint(const Expr& value) {
  const StagePtr stage = stage_of("s", value, in);
  return complaint(Pipeline{"p", {stage}, {in}, {}, {stage}, false});
}

}  // namespace

TEST(Verify, AcceptsWhatIsRight) {
  auto fold = std::make_shared<const Fold>(Fold{loop,
                                                {constant(type_of<float>(), 0)},
                                                {binary(BinaryOp::Add, accumulated(loop, 0, type_of<float>()),
                                                        pixel(x + Affine(Atom(TapCoord{loop, 0}))))}});
  EXPECT_EQ(complaint(fold_result(fold, 0)), "none");
}

TEST(Verify, ScopesOfLoops) {
  EXPECT_EQ(complaint(accumulated(loop, 0, type_of<float>())),
            "after a pass: stage 's': an accumulator outside its loop");
  EXPECT_EQ(complaint(pixel(Affine(Atom(TapCoord{loop, 0})))),
            "after a pass: stage 's': a tap outside its loop");
  const auto mask =
      std::make_shared<const Mask>(Mask{{3}, type_of<float>(), std::vector(3, largest(type_of<float>()))});
  EXPECT_EQ(complaint(coefficient(loop, mask)), "after a pass: stage 's': a coefficient outside its loop");
  const auto empty = std::make_shared<const Loop>(Loop{{1, {}}});
  EXPECT_EQ(complaint(median(empty, pixel())), "after a pass: stage 's': a loop over no points");
  EXPECT_EQ(complaint(median(loop, pixel(Affine(Atom(TapCoord{loop, 1}))))),
            "after a pass: stage 's': a tap's coordinate beyond its domain's rank");
}

TEST(Verify, SharedExpressionsInLoopsAreCheckedOnce) {
  Expr value = accumulated(loop, 0, type_of<float>());
  for (int i = 0; i < 60; ++i) value = binary(BinaryOp::Mul, value, value);
  auto fold = std::make_shared<const Fold>(Fold{loop, {constant(type_of<float>(), 0)}, {value}});
  EXPECT_EQ(complaint(fold_result(fold, 0)), "none");
}

TEST(Verify, AccumulatorThatDoesNotExist) {
  auto fold = std::make_shared<const Fold>(
      Fold{loop, {constant(type_of<float>(), 0)}, {accumulated(loop, 1, type_of<float>())}});
  EXPECT_EQ(complaint(fold_result(fold, 0)), "after a pass: stage 's': accumulator 1 of a fold of 1");
  EXPECT_EQ(complaint(raw(type_of<float>(), FoldResult{fold, 2})),
            "after a pass: stage 's': accumulator 2 of a fold of 1");
}

TEST(Verify, AccumulatorOfAnotherType) {
  auto fold = std::make_shared<const Fold>(
      Fold{loop, {constant(type_of<float>(), 0)}, {constant(type_of<int>(), 0)}});
  EXPECT_EQ(complaint(fold_result(fold, 0)), "after a pass: stage 's': an accumulator changes its type");
  auto read_as_int = std::make_shared<const Fold>(
      Fold{loop,
           {constant(type_of<float>(), 0)},
           {cast(CastMode::Convert, type_of<float>(), accumulated(loop, 0, type_of<int>()))}});
  EXPECT_EQ(complaint(fold_result(read_as_int, 0)), "after a pass: stage 's': an accumulator's type");
}

TEST(Verify, TypesOfOperators) {
  const Expr f = pixel(), i = constant(type_of<int>(), 1);
  EXPECT_EQ(complaint(raw(type_of<float>(), Binary{BinaryOp::Add, f, i})),
            "after a pass: stage 's': + of f32 and i32");
  EXPECT_EQ(complaint(raw(type_of<float>(), Binary{BinaryOp::Lt, f, f})),
            "after a pass: stage 's': < gives f32");
  EXPECT_EQ(complaint(raw(type_of<float>(), Unary{UnaryOp::Sqrt, i})),
            "after a pass: stage 's': sqrt changes the type");
  EXPECT_EQ(complaint(raw(type_of<float>(), Select{i, f, f})),
            "after a pass: stage 's': a select's condition is not a bool");
  EXPECT_EQ(complaint(i), "after a pass: stage 's': a case has type i32");
  EXPECT_EQ(complaint(raw(type_of<float>(), Lane{f, 1})), "after a pass: stage 's': a lane");
}

TEST(Verify, CoordinatesAndReads) {
  EXPECT_EQ(complaint(pixel(Affine(Atom(Coord{1})))),
            "after a pass: stage 's': a coordinate beyond its rank");
  EXPECT_EQ(complaint(read(Read{in, {x, x}, std::nullopt, in->box, {}})),
            "after a pass: stage 's': a read of 'in' has another rank");
  EXPECT_EQ(complaint(raw(type_of<float>(), Read{in, {pixel()}, std::nullopt, in->box, {}})),
            "after a pass: stage 's': a computed index is not an i64");
}

TEST(Verify, OrderAndNames) {
  const StagePtr a = stage_of("a", pixel(), in);
  const StagePtr b = stage_of("b", read(Read{a, {x}, std::nullopt, a->box, {}}), in);
  EXPECT_EQ(complaint(Pipeline{"p", {b}, {in}, {}, {b, a}, false}),
            "after a pass: 'b' reads 'a' before it is defined");
  EXPECT_EQ(complaint(Pipeline{"p", {b}, {in}, {}, {a}, false}),
            "after a pass: output 'b' is no stage of the pipeline");
  const StagePtr also_a = stage_of("a", pixel(), in);
  EXPECT_EQ(complaint(Pipeline{"p", {a}, {in}, {}, {a, also_a}, false}),
            "after a pass: two things are named 'a'");
}

}  // namespace weft::ir::verify_test
