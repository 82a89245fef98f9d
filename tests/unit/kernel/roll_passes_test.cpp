// Passes that are alike become a loop, and others stay as they are.
#include "kernel/roll_passes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emit/cpp.h"
#include "kernel/build.h"
#include "kernel/verify.h"
#include "tests/support/symbols.h"

namespace weft::kernel::roll_passes_test {
namespace {

constexpr int scalars = 32;
const Symbol image = "image"_s, row = "y"_s, rows = "rows"_s;

Symbol array_of(int pass) { return symbol("u_step" + std::to_string(pass) + "_rows"); }

/// u_stepN_rows[i] = u_stepM_rows[i] + u_stepM_rows[i + shift], if the row is one of those needed.
Stmt pass_of(int from, int to, std::int64_t shift, std::int64_t ahead) {
  const Symbol column = symbol("i" + std::to_string(to)),
               source = symbol("u_step" + std::to_string(from) + "_0");
  const Expr i = name(column), at = add(i, literal(shift));
  const Expr sum = binary(ir::BinaryOp::Add, load(source, Scalar::F32, i), load(source, Scalar::F32, at));
  For loop{LoopKind::Vector, column, literal(0), literal(16), {{Store{array_of(to), i, sum}}}};
  Block body{{Pointer{source, array_of(from), Scalar::F32, literal(1)}}, {std::move(loop)}};
  return {If{binary(ir::BinaryOp::Le, name(rows), offset(name(row), ahead)), std::move(body), {}}};
}

/// What becomes of the passes, between one that fills the first array and one that stores the last.
std::string rolled(const Block& passes, int last) {
  Names names;
  for (const char* taken : {"image", "y", "rows"}) names.avoid(symbol(taken));
  Function function{"f"_s, "", {rows}, {}};
  for (int array = 1; array <= last; ++array)
    function.body.push_back({LocalArray{array_of(array), Scalar::F32, scalars, Storage::Local, true}});
  For each{LoopKind::Serial, row, literal(0), name(rows), {}};
  each.body.push_back({Store{array_of(1), literal(0), load(image, Scalar::F32, name(row))}});
  append(each.body, passes);
  each.body.push_back({Store{image, name(row), load(array_of(last), Scalar::F32, literal(0))}});
  function.body.push_back({std::move(each)});
  Module module;
  module.name = "p";
  module.arrays.push_back({image, {Scalar::F32, 1}, Array::Role::Output, {}, {literal(1)}});
  module.functions.push_back(function);
  module.steps.push_back(Launch{function.name, literal(1)});
  roll_passes(module.functions[0], names);
  verify(module, "roll_passes");
  const std::string text = emit::emit_for_loading(module);
  return text.substr(text.find("void f("), text.find("\n}\n", text.find("void f(")) - text.find("void f("));
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(RollPasses, CountTheirNumbersAndTakeTurnsOfArrays) {
  const std::string text =
      rolled({pass_of(1, 2, 5, 4), pass_of(2, 3, 7, 3), pass_of(3, 4, 9, 2), pass_of(4, 5, 11, 1)}, 5);
  for (const char* part :
       {"float u_steps_rows[160] = {};", "float* u_step1_rows = u_steps_rows;",
        "const float* u_step5_rows = u_steps_rows + 128;", "for (int64_t pass = 0; pass < 4; ++pass) {",
        "const int64_t ahead = 4 - pass;", "const float* u_past_rows = u_steps_rows + pass * 32;",
        "float* u_step_rows = u_steps_rows + (pass + 1) * 32;", "if (rows <= y + ahead) {",
        "const float* u_past_0 = u_past_rows + 1;",
        "u_step_rows[i2] = u_past_0[i2] + u_past_0[i2 + pass * 2 + 5];"})
    EXPECT_EQ(count(text, part), 1) << part << " in\n" << text;
  EXPECT_EQ(count(text, "rows["), 4) << "one pass is left, and what is around it:\n" << text;
}

TEST(RollPasses, AreThreeAtLeast) {
  EXPECT_EQ(count(rolled({pass_of(1, 2, 5, 2), pass_of(2, 3, 5, 1)}, 3), "pass"), 0);
}

TEST(RollPasses, StayIfANumberDoesNotGoOn) {
  const std::string text = rolled({pass_of(1, 2, 5, 3), pass_of(2, 3, 5, 2), pass_of(3, 4, 6, 1)}, 4);
  EXPECT_EQ(count(text, "pass"), 0) << text;
}

TEST(RollPasses, OfWhichSomeGoOnAreThoseOfALoop) {
  const std::string text = rolled({pass_of(1, 2, 9, 5), pass_of(2, 3, 5, 4), pass_of(3, 4, 5, 3),
                                   pass_of(4, 5, 5, 2), pass_of(5, 6, 5, 1)},
                                  6);
  EXPECT_EQ(count(text, "pass < 4"), 1) << text;
}

TEST(RollPasses, StayIfArraysDoNotFollowOneAnother) {
  EXPECT_EQ(count(rolled({pass_of(1, 2, 5, 3), pass_of(2, 1, 5, 2), pass_of(1, 2, 5, 1)}, 2), "pass"), 0)
      << "two arrays that take turns";
  EXPECT_EQ(count(rolled({pass_of(1, 2, 5, 3), pass_of(1, 3, 5, 2), pass_of(2, 4, 5, 1)}, 4), "pass"), 0);
}

TEST(RollPasses, StayIfTheyAreNotAlike) {
  Block passes{pass_of(1, 2, 5, 3), pass_of(2, 3, 5, 2), pass_of(3, 4, 5, 1)};
  std::get<For>(std::get<If>(passes[2].op).then[1].op).kind = LoopKind::Scalar;
  EXPECT_EQ(count(rolled(passes, 4), "pass"), 0);
}

TEST(RollPasses, StayIfPixelsAreMadeWithOtherNumbers) {
  const auto shifted = [](int from, int to, std::int32_t by) {
    Stmt pass = pass_of(from, to, 5, 9 - to);
    auto& store = std::get<Store>(std::get<For>(std::get<If>(pass.op).then[1].op).body[0].op);
    const Expr bits = cast(ir::CastMode::Convert, Scalar::I32, store.value);
    const Expr less = binary(ir::BinaryOp::Shr, bits, constant(Scalar::I32, {.i = by}));
    store.value = cast(ir::CastMode::Convert, Scalar::F32, less);
    return pass;
  };
  EXPECT_EQ(count(rolled({shifted(1, 2, 4), shifted(2, 3, 4), shifted(3, 4, 4)}, 4), "pass < 3"), 1);
  EXPECT_EQ(count(rolled({shifted(1, 2, 4), shifted(2, 3, 3), shifted(3, 4, 2)}, 4), "pass"), 0);
}

}  // namespace
}  // namespace weft::kernel::roll_passes_test
