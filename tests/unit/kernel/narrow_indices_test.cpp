// Which index arithmetic of GPU kernels is known to fit 32 bits.
#include "kernel/narrow_indices.h"

#include <gtest/gtest.h>

#include "emit/c_like.h"
#include "emit/writer.h"
#include "kernel/build.h"
#include "kernel/wrap_overflow.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

/// The type in which a loop to `end` counts, of a kernel that knows an image's `h` and the i32 `value`.
Scalar type_to(const Expr& end) {
  Module module;
  module.sizes = {{"w"_s, Scalar::I64}, {"h"_s, Scalar::I64}};
  module.arrays = {
      {"in"_s, {Scalar::F32, 1}, Array::Role::Input, {"in_pitch"_s}, {name("w"_s), name("h"_s)}}};
  module.functions = {{"kernel"_s, "", {}, {{For{LoopKind::Serial, "i"_s, literal(0), end, {}}}}}};
  narrow_indices(module);
  return std::get<For>(module.functions[0].body[0].op).to->type;
}

Expr by(ir::BinaryOp op, const Expr& a, std::int64_t b) { return binary(op, a, literal(b)); }

TEST(NarrowIndices, FollowQuotientsAndRemainders) {
  using ir::BinaryOp;
  const Expr h = name("h"_s);
  EXPECT_EQ(type_to(mul(h, literal(3))), Scalar::I32);
  EXPECT_EQ(type_to(mul(h, literal(8))), Scalar::I64) << "2^28 * 8";
  EXPECT_EQ(type_to(mul(by(BinaryOp::Div, h, 8), literal(16))), Scalar::I32);
  EXPECT_EQ(type_to(mul(by(BinaryOp::Div, h, 8), literal(64))), Scalar::I64);
  EXPECT_EQ(type_to(mul(by(BinaryOp::Shr, h, 3), literal(16))), Scalar::I32);
  EXPECT_EQ(type_to(mul(by(BinaryOp::Rem, h, 1000), literal(1000))), Scalar::I32);
  const Expr below = sub(literal(0), h);
  EXPECT_EQ(type_to(mul(by(BinaryOp::Shr, below, 3), literal(16))), Scalar::I32);
  EXPECT_EQ(type_to(mul(by(BinaryOp::Shr, below, 0), literal(16))), Scalar::I64);
  EXPECT_EQ(type_to(mul(index_call(IndexOp::FloorDiv, below, literal(8)), literal(8))), Scalar::I32);
  EXPECT_EQ(type_to(mul(index_call(IndexOp::FloorDiv, below, literal(2)), literal(32))), Scalar::I64);
}

/// 34 places move all bits of h out of 64 bits, and as 2 places in 32.
TEST(NarrowIndices, ShiftByLessThan32PlacesAlone) {
  using ir::BinaryOp;
  const Expr h = name("h"_s), places = cast(ir::CastMode::Convert, Scalar::I64, name("value"_s, Scalar::I32));
  EXPECT_EQ(type_to(binary(BinaryOp::Shr, h, places)), Scalar::I64);
  EXPECT_EQ(type_to(by(BinaryOp::Shr, h, 34)), Scalar::I64);
  EXPECT_EQ(type_to(by(BinaryOp::Shr, h, -1)), Scalar::I64);
  EXPECT_EQ(type_to(binary(BinaryOp::Shr, h, by(BinaryOp::And, places, 31))), Scalar::I32);
}

TEST(NarrowIndices, FollowTheLesserOfTwo) {
  const Expr w = name("w"_s), h = name("h"_s);
  EXPECT_EQ(type_to(min(mul(w, h), h)), Scalar::I32) << "from 0 to 2^56, but no more than h";
  EXPECT_EQ(type_to(max(mul(w, h), h)), Scalar::I64);
  EXPECT_EQ(type_to(min(sub(h, mul(w, h)), h)), Scalar::I64) << "far below 0";
  EXPECT_EQ(type_to(max(min(sub(h, mul(w, h)), h), literal(0))), Scalar::I32);
}

/// The type of a variable that begins as `first` and is later `next`, and whether what is added to it wraps.
std::string variable(const Expr& first, const Expr& next) {
  const Symbol at = "at"_s;
  Module module;
  module.sizes = {{"w"_s, Scalar::I64}, {"h"_s, Scalar::I64}};
  module.arrays = {
      {"in"_s, {Scalar::F32, 1}, Array::Role::Input, {"in_pitch"_s}, {name("w"_s), name("h"_s)}}};
  const For loop{LoopKind::Serial, "i"_s, name(at), add(name(at), literal(5)), {}};
  module.functions = {{"kernel"_s, "", {}, {{Let{at, first, true}}, {loop}, {Assign{at, next}}}}};
  narrow_indices(module);
  wrap_overflow(module);
  emit::Writer out;
  emit::CLike printer(out, true);
  printer.print(module.functions[0].body);
  return out.text();
}

TEST(NarrowIndices, FollowVariablesThatChange) {
  EXPECT_EQ(variable(literal(3), name("h"_s)),
            "int32_t at = 3;\nfor (int32_t i = at; i < at + 5; ++i) {\n}\nat = h;\n");
  EXPECT_EQ(variable(literal(3), mul(name("h"_s), name("w"_s))),
            "int64_t at = 3;\nfor (int64_t i = at; i < at + 5; ++i) {\n}\n"
            "at = (int64_t)h * (int64_t)w;\n");
  EXPECT_EQ(variable(literal(3), add(name("at"_s), literal(1))),
            "int64_t at = 3;\nfor (int64_t i = at; i < (int64_t)((uint64_t)at + 5ull); ++i) {\n}\n"
            "at = (int64_t)((uint64_t)at + 1ull);\n")
      << "it grows as often as it likes, as accumulators do";
}

TEST(NarrowIndices, ClampAnyInteger) {
  const Expr value = cast(ir::CastMode::Convert, Scalar::I64, name("value"_s, Scalar::I32));
  EXPECT_EQ(type_to(index_call(IndexOp::Clamp, value, name("h"_s))), Scalar::I32);
  EXPECT_EQ(type_to(index_call(IndexOp::Mirror, value, name("h"_s))), Scalar::I64) << "it adds to the index";
  EXPECT_EQ(type_to(index_call(IndexOp::Clamp, add(value, literal(1)), name("h"_s))), Scalar::I64);
}

}  // namespace
}  // namespace weft::kernel
