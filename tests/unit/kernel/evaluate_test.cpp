#include "kernel/evaluate.h"

#include <gtest/gtest.h>
#include <weft/error.h>

#include <limits>
#include <string>

#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

const FieldValues fields = {
    {"w"_s, {.i = 33}}, {"h"_s, {.i = 31}}, {"none"_s, {.i = 0}}, {"narrow"_s, {.i = -7}}};
const Expr w = name("w"_s), h = name("h"_s), none = name("none"_s);
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(Evaluation, OfSizes) {
  EXPECT_EQ(evaluate(add(mul(w, h), literal(2)), fields), 33 * 31 + 2);
  EXPECT_EQ(evaluate(sub(div(w, literal(2)), literal(20)), fields), -4);
  EXPECT_EQ(evaluate(max(min(w, h), literal(1)), fields), 31);
  EXPECT_EQ(evaluate(index_call(IndexOp::FloorDiv, sub(none, w), literal(2)), fields), -17);
  EXPECT_EQ(evaluate(select(binary(ir::BinaryOp::Lt, w, h), w, h), fields), 31);
  EXPECT_EQ(evaluate(cast(ir::CastMode::Convert, Scalar::I64, name("narrow"_s, Scalar::I32)), fields), -7);
}

TEST(Evaluation, ChoosesOneSideOnly) {
  const Expr unknown = name("unknown"_s);
  EXPECT_EQ(evaluate(select(binary(ir::BinaryOp::Eq, none, literal(0)), w, unknown), fields), 33);
  EXPECT_THROW(evaluate(unknown, fields), InternalError);
}

TEST(Evaluation, DoesNotWrap) {
  for (const Expr& e :
       {add(literal(most), w), sub(sub(none, literal(most)), h), mul(mul(w, literal(most / 2)), h)}) {
    try {
      evaluate(e, fields);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "an image is too large to address\n  help: use smaller images");
    }
  }
}

}  // namespace
}  // namespace weft::kernel
