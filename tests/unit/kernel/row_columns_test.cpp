#include "kernel/row_columns.h"

#include <gtest/gtest.h>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel::row_columns_test {
namespace {

using ir::BinaryOp;
using ir::CastMode;
using enum Scalar;

const Expr i = name("i"_s), x0 = name("x0"_s), width = name("w"_s), count = name("count"_s);

Expr from_left(std::int64_t place) { return offset(add(x0, i), place); }
Expr sum(const Expr& a, const Expr& b) { return binary(BinaryOp::Add, a, b); }
Expr in(std::int64_t place) { return load("in"_s, F32, from_left(place)); }
Expr column(std::int64_t place) { return load("column"_s, F32, add(i, literal(place))); }
For over(const Expr& to, Block body) { return {LoopKind::Vector, "i"_s, literal(0), to, std::move(body)}; }

/// Strips of a row that keep columns, one pixel more to each side.
For strips(const Expr& of_column, const Expr& of_pixel) {
  For loop{LoopKind::Serial, "x0"_s, literal(1), sub(width, literal(1)), {}, literal(1024)};
  loop.body = {{Let{"count"_s, min(literal(1024), sub(sub(width, literal(1)), x0))}},
               {Pointer{"in"_s, "image"_s, F32, name("y"_s)}},
               {LocalArray{"column"_s, F32, 1026}},
               {over(add(count, literal(2)), {{Store{"column"_s, i, of_column}}})},
               {over(count, {{Store{"out"_s, add(x0, i), of_pixel}}})}};
  loop.ends = RowEnds{width, 1, IndexOp::Clamp, nullptr, width};
  return loop;
}

TEST(RowColumns, AreComputedAtTheVariable) {
  const auto row = row_of_columns(strips(sum(in(-1), in(-1)), sum(column(0), column(2))));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->once.size(), 1u) << "the pointer";
  const Expr at_variable = load("in"_s, F32, i);
  ASSERT_EQ(row->whole.vectors->columns.size(), 1u);
  const Columns& columns = row->whole.vectors->columns[0];
  EXPECT_TRUE(same(columns.index, offset(i, 1))) << "strips keep them one place further on";
  EXPECT_TRUE(same(columns.value, sum(at_variable, at_variable)));
  EXPECT_EQ(row->whole.vectors->scalars, 16);
  EXPECT_TRUE(same(std::get<Store>(row->whole.body[0].op).index, i));
}

TEST(RowColumns, KnowThoseBeyondTheRow) {
  const auto row = row_of_columns(strips(in(-1), sum(column(0), column(3))));
  ASSERT_TRUE(row);
  const Columns& columns = row->whole.vectors->columns[0];
  const auto pixel = [](const Expr& index) { return load("in"_s, F32, index); };
  ASSERT_EQ(columns.left_of_row.size(), 1u);
  EXPECT_TRUE(same(columns.left_of_row[0], pixel(literal(0))));
  ASSERT_EQ(columns.right_of_row.size(), 2u);
  EXPECT_TRUE(same(columns.right_of_row[1], pixel(sub(width, literal(1)))));
}

TEST(RowColumns, HaveVectorsOfTheWidestInteger) {
  const Expr byte = load("bytes"_s, U8, from_left(-1)), wide = cast(CastMode::Convert, I32, byte);
  For loop = strips(in(-1), column(0));
  std::get<LocalArray>(loop.body[2].op).type = I16;
  std::get<For>(loop.body[3].op).body = {
      {Store{"column"_s, i, cast(CastMode::Convert, I16, sum(wide, wide))}}};
  const auto short_column = [](std::int64_t place) { return load("column"_s, I16, add(i, literal(place))); };
  std::get<For>(loop.body[4].op).body = {{Store{"out"_s, add(x0, i), sum(short_column(0), short_column(2))}}};
  const auto row = row_of_columns(loop);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->whole.vectors->scalars, 32);
  EXPECT_TRUE(row->whole.vectors->bytes);
}

TEST(RowColumns, OfABlockAreKeptInRegisters) {
  const Expr from = name("from"_s), to = name("to"_s);
  For columns = over(offset(to, 1), {{Store{"column"_s, offset(i, 1), load("in"_s, F32, i)}}});
  columns.from = offset(from, -1);
  For pixels = over(to, {{Store{"out"_s, i, sum(column(0), column(2))}}});
  pixels.from = from;
  Block block = {
      {LocalArray{"column"_s, F32, 322}}, {columns}, {over(from, {{Store{"out"_s, i, in(0)}}})}, {pixels}};
  const For* found = keep_columns_in_registers(block);
  ASSERT_TRUE(found);
  EXPECT_EQ(block.size(), 2u);
  EXPECT_EQ(found, &std::get<For>(block[1].op));
  const Columns& of_row = found->vectors->columns.at(0);
  EXPECT_FALSE(found->vectors->is_whole_row);
  EXPECT_TRUE(same(of_row.index, offset(i, 1)));
  EXPECT_TRUE(same(of_row.left_of_row.at(0), load("in"_s, F32, offset(from, -1))));
  EXPECT_TRUE(same(of_row.right_of_row.at(0), load("in"_s, F32, to)));

  Block other = {{LocalArray{"column"_s, F32, 322}}, {columns}, {pixels}, {pixels}};
  EXPECT_FALSE(keep_columns_in_registers(other)) << "two loops read them";
  EXPECT_EQ(other.size(), 4u);
}

TEST(RowColumns, AreLeftAloneWhereTheyAreNotPossible) {
  const Expr both = sum(column(0), column(2));
  EXPECT_TRUE(row_of_columns(strips(in(-1), both)));
  EXPECT_FALSE(row_of_columns(strips(sum(in(-1), in(0)), both))) << "columns of two places";
  EXPECT_FALSE(row_of_columns(strips(in(-1), sum(both, in(1))))) << "a row is read beside the pixel";
  EXPECT_FALSE(row_of_columns(strips(in(-1), sum(column(0), column(1))))) << "nothing is read to the right";
  EXPECT_FALSE(row_of_columns(strips(in(-1), sum(column(0), column(18))))) << "not in the next vector";
  EXPECT_FALSE(row_of_columns(strips(unary(ir::UnaryOp::Exp, in(-1)), both))) << "no vector operation";
  For loop = strips(in(-1), both);
  loop.body.push_back({Store{"out"_s, x0, in(0)}});
  EXPECT_FALSE(row_of_columns(loop)) << "something else";
}

}  // namespace
}  // namespace weft::kernel::row_columns_test
