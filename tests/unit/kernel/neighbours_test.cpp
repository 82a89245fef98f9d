#include "kernel/neighbours.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::neighbours_test {
namespace {

using ir::BinaryOp;

Expr at(const std::string& array, std::int64_t place, Scalar type = Scalar::F32) {
  return load(symbol(array), type, add(add(name("left"_s), name("i"_s)), literal(place)));
}
Expr sum(const Expr& a, const Expr& b) { return binary(BinaryOp::Add, a, b); }
Store out(const Expr& value) { return {"out"_s, name("i"_s), value}; }

Block with_neighbours(Block body) {
  Module module;
  module.functions.push_back({"f"_s, "", {}, std::move(body)});
  find_neighbours(module, {});
  return std::move(module.functions.back().body);
}

/// The rows of a loop with that body, each with its vector before, and that at the variable.
std::string rows_of(Block body, LoopKind kind = LoopKind::Vector) {
  const Block found = with_neighbours({{For{kind, "i"_s, literal(0), name("n"_s), std::move(body)}}});
  const auto& vectors = std::get<For>(found[0].op).vectors;
  if (!vectors) return "";
  std::string text;
  for (const Neighbours& row : vectors->neighbours)
    text += row.array.spelling() + " " + std::to_string(row.left) + " " + row.before.spelling() + " " +
            row.here.spelling() + "; ";
  return text;
}

TEST(Neighbours, AreFoundInRowsThatAreReadAtSeveralPlaces) {
  EXPECT_EQ(rows_of({{out(sum(sum(at("in", -1), at("in", 1)), at("up", 0)))}}), "in 1 in_before in_here; ");
  EXPECT_EQ(rows_of({{out(sum(at("in", 2), at("in", 6)))}}), "in 2 in_before in_here; ");
  EXPECT_EQ(rows_of({{out(sum(at("in", 0), at("in", 1)))}}), "");
}

TEST(Neighbours, TakeTheNamesOfVariables) {
  EXPECT_EQ(rows_of({{Let{"v"_s, at("in", 0)}}, {out(sum(at("in", -1), name("v"_s, Scalar::F32)))}}),
            "in 1 in_before v; ");
}

TEST(Neighbours, AreInTheVectorBefore) {
  EXPECT_EQ(rows_of({{out(sum(at("in", -16), at("in", 0)))}}), "in 16 in_before in_here; ");
  EXPECT_EQ(rows_of({{out(sum(at("in", -17), at("in", 0)))}}), "");
  EXPECT_EQ(rows_of({{out(sum(at("in", -9, Scalar::F64), at("in", 0, Scalar::F64)))}}), "");
}

TEST(Neighbours, AreOfLoopsOfArithmeticForVectors) {
  const Expr both = sum(at("in", -1), at("in", 0));
  EXPECT_EQ(rows_of({{out(both)}}, LoopKind::Scalar), "");
  EXPECT_NE(rows_of({{out(unary(ir::UnaryOp::Sqrt, both))}}), "");
  EXPECT_EQ(rows_of({{out(unary(ir::UnaryOp::Exp, both))}}), "");
  EXPECT_EQ(rows_of({{out(both)}, {If{name("c"_s, Scalar::Bool), {}, {}}}}), "");
  EXPECT_EQ(rows_of({{out(both)}, {Store{"other"_s, name("i"_s), constant(Scalar::F32, {.f = 1})}}}), "")
      << "a scalar is stored";
  EXPECT_EQ(rows_of({{out(both)}, {Store{"other"_s, mul(name("i"_s), literal(2)), both}}}), "")
      << "not side by side";
  const Expr gathered = load("in"_s, Scalar::F32, cast(ir::CastMode::Convert, Scalar::I64, at("places", 0)));
  EXPECT_EQ(rows_of({{out(sum(both, gathered))}}), "");
}

TEST(Neighbours, MayBeStoredTwiceWhereNoIterationReadsWhatItStores) {
  const auto may_repeat = [](const std::string& from, const std::string& of, const std::string& added,
                             const Stmt& before = {Continue{}}) {
    const Pointer row{"row"_s, symbol(of), Scalar::F32, literal(0)};
    const Expr value = sum(sum(at(from, -1), at(from, 0)), at(added, 0));
    const Block found = with_neighbours(
        {before, {row}, {For{LoopKind::Vector, "i"_s, literal(0), name("n"_s), {{out(value)}}}}});
    return std::get<For>(found[2].op).vectors->may_repeat;
  };
  EXPECT_TRUE(may_repeat("in", "other", "row"));
  EXPECT_FALSE(may_repeat("in", "other", "out"));
  EXPECT_FALSE(may_repeat("in", "out", "row")) << "through a pointer";
  EXPECT_FALSE(may_repeat("row", "out", "in"));
  const Prefetch next{"in"_s, Scalar::F32, literal(0), literal(16)};
  EXPECT_FALSE(may_repeat("in", "other", "row", {next})) << "of a portion of a row";
}

class WholeRows : public ::testing::Test {
 protected:
  static For pixels(const Expr& from, const Expr& to) {
    return {LoopKind::Serial, "p"_s, from, to, {{CallFunction{"pixel"_s, {name("p"_s)}}}}};
  }
  /// A row of w pixels: a loop over those before `first`, one over those from `last` on, and between them the one in vectors.
  static Block row(const RowEnds& ends, const Expr& value) {
    const Expr first = name("first"_s), last = name("last"_s);
    const auto scalars = [&](const Expr& pixel) { return mul(pixel, literal(ends.lanes)); };
    For loop{LoopKind::Vector, "i"_s, scalars(first), scalars(last), {{out(value)}}};
    loop.ends = ends;
    return {{pixels(literal(0), first)}, {Let{"hoisted"_s, literal(1)}}, {loop}, {pixels(last, ends.pixels)}};
  }
  /// What becomes of a function: one in vectors, if it gets that, and itself.
  static std::vector<Function> functions_of(Block block) {
    Module module;
    module.sizes.push_back({"w"_s, Scalar::I64});
    module.functions.push_back({"f"_s, "", {}, std::move(block)});
    find_neighbours(module, {});
    return std::move(module.functions);
  }
  static const For& whole_row(const std::vector<Function>& functions) {
    return std::get<For>(functions.front().body.back().op);
  }
  static Expr in(std::int64_t place) { return load("in"_s, Scalar::F32, add(name("i"_s), literal(place))); }
  static std::int64_t place_of(const Expr& value) { return *literal_value(std::get<Load>(value->op).index); }

  const Expr width = name("w"_s);
  const RowEnds clamped{width, 1, IndexOp::Clamp, nullptr, width};
};

TEST_F(WholeRows, TakeTheLoopsAroundThem) {
  const std::vector<Function> functions = functions_of(row(clamped, sum(in(-2), in(1))));
  EXPECT_EQ(functions.front().body.size(), 1u);
  const For& loop = whole_row(functions);
  EXPECT_TRUE(same(loop.from, literal(0)) && same(loop.to, width));
  ASSERT_TRUE(loop.vectors);
  EXPECT_TRUE(loop.vectors->is_whole_row);
  ASSERT_EQ(loop.vectors->neighbours.size(), 1u);
  const Neighbours& row = loop.vectors->neighbours[0];
  ASSERT_EQ(row.left_of_row.size(), 2u);
  EXPECT_EQ(place_of(row.left_of_row[0]), 0);
  ASSERT_EQ(row.right_of_row.size(), 1u);
  EXPECT_TRUE(same(std::get<Load>(row.right_of_row[0]->op).index, offset(width, -1)));
}

TEST_F(WholeRows, AreOfAFunctionOfTheirOwn) {
  const std::vector<Function> functions = functions_of(row(clamped, sum(in(-2), in(1))));
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[1].in_vectors, functions[0].name);
  EXPECT_EQ(functions[1].body.size(), 4u) << "as it was";
  EXPECT_FALSE(std::get<For>(functions[1].body[2].op).vectors);
}

TEST_F(WholeRows, FindWhatIsBeyondByTheBorder) {
  const RowEnds mirrored{width, 3, IndexOp::Mirror101, nullptr, width};
  const std::vector<Function> functions = functions_of(row(mirrored, sum(in(-4), in(0))));
  const std::vector<Expr> left = whole_row(functions).vectors->neighbours.at(0).left_of_row;
  ASSERT_EQ(left.size(), 4u);
  const auto lane_of_pixel = [&](std::int64_t pixel, std::int64_t lane) {
    return offset(mul(index_call(IndexOp::Mirror101, literal(pixel), width), literal(3)), lane);
  };
  EXPECT_TRUE(same(std::get<Load>(left[0]->op).index, lane_of_pixel(-2, 2)));
  EXPECT_TRUE(same(std::get<Load>(left[1]->op).index, lane_of_pixel(-1, 0)));
  EXPECT_TRUE(same(std::get<Load>(left[3]->op).index, lane_of_pixel(-1, 2)));

  const RowEnds constant{width, 1, std::nullopt, kernel::constant(Scalar::F32, {.f = 7}), width};
  const std::vector<Function> others = functions_of(row(constant, sum(in(-1), in(0))));
  EXPECT_TRUE(same(whole_row(others).vectors->neighbours.at(0).left_of_row.at(0), constant.constant));
}

TEST_F(WholeRows, AreLeftAloneWhereTheyAreNotPossible) {
  const auto is_whole = [&](const Block& block) { return functions_of(block).size() == 2; };
  const Block possible = row(clamped, sum(in(-1), in(1)));
  EXPECT_TRUE(is_whole(possible));
  EXPECT_FALSE(is_whole(row(clamped, sum(in(-1), in(17))))) << "not in the next vector";
  EXPECT_FALSE(is_whole(row(clamped, sum(in(-1), load("out"_s, Scalar::F32, name("i"_s))))))
      << "pixels are computed twice";
  EXPECT_FALSE(is_whole({possible[0], possible[2]})) << "nothing to the right";
  EXPECT_FALSE(is_whole({possible[2], possible[3]})) << "nothing to the left";
  EXPECT_FALSE(is_whole({possible[0], {Store{"out"_s, literal(0), in(0)}}, possible[2], possible[3]}))
      << "something else between";
  EXPECT_FALSE(is_whole({{pixels(literal(1), name("first"_s))}, possible[2], possible[3]}))
      << "not from the first pixel on";
  const RowEnds unknown{name("computed"_s), 1, IndexOp::Clamp, nullptr, width};
  EXPECT_FALSE(is_whole(row(unknown, sum(in(-1), in(1))))) << "of a length that is not known before";
}

TEST(Neighbours, LeaveRegistersToTheRest) {
  const auto rows = [](int count) {
    Expr all = sum(at("r0", -1), at("r0", 0));
    for (int r = 1; r < count; ++r) {
      const std::string row = "r" + std::to_string(r);
      all = sum(all, sum(at(row, -1), at(row, 0)));
    }
    return rows_of({{out(all)}});
  };
  EXPECT_NE(rows(8), "");
  EXPECT_EQ(rows(9), "");
}

}  // namespace
}  // namespace weft::kernel::neighbours_test
