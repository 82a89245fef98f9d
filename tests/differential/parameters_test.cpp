// Run-time parameters of every type.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

TEST(Parameters, OfEveryType) {
  const Image<std::int32_t> in("in");
  const Param<bool> flag("flag", true);
  const Param<std::int8_t> i8("i8", -5);
  const Param<std::uint8_t> u8("u8", 250);
  const Param<std::int16_t> i16("i16", -30000);
  const Param<std::uint16_t> u16("u16", 60000);
  const Param<std::int32_t> i32("i32", -2'000'000'000);
  const Param<std::uint32_t> u32("u32", 4'000'000'000u);
  const Param<std::int64_t> i64("i64", -(1LL << 50));
  const Param<std::uint64_t> u64("u64", 1ULL << 52);
  const Param<half> f16("f16", half(0.5f));
  const Param<float> f32("f32", 0.1f);
  const Param<double> f64("f64", 0.1);
  const Pipeline pipeline(
      "parameters",
      Outputs({point("flag_out", select(flag, in, 3)), point("narrow", in + i8 + u8 + i16 + u16),
               point("wide", in * i32 + u32), point("long", in + i64), point("unsigned_long", in ^ u64),
               point("real", in * f32 + f16), point("double", in * f64)})
          .strict());
  const Program program = pipeline.compile(compile_options());
  const Buffer image = noise(in.type(), {23, 11}, 111);
  expect_agreement(program, pipeline, {{{"in", image}}, {}, {}});
  expect_agreement(
      program, pipeline,
      {{{"in", image}}, {{"flag", 0}, {"i8", 7}, {"u16", 1}, {"i64", 1e15}, {"f32", 1e-3}, {"f16", 3}}, {}});
  // the ends of types, and what is rounded
  expect_agreement(
      program, pipeline,
      {{{"in", image}}, {{"i8", -128}, {"u8", 255}, {"u32", 4294967295}, {"f16", 65519}, {"f32", 0.1}}, {}});
}

TEST(Parameters, InIndicesAndConditions) {
  const Image<std::int32_t> in("in");
  const Param<int> shift("shift", 3);
  const Accessor src = in.border(Border::repeat());
  const Pipeline pipeline("shifted", stage("out", in.size(), [&](Var x, Var y) {
                            return cases()
                                .when(Expr(x) < shift * 2, src(Expr(x) - shift, Expr(y) + shift))
                                .otherwise(src(x, Expr(y) * shift));
                          }));
  const Program program = pipeline.compile(compile_options());
  for (const double value : {3, -1000, 0}) {
    expect_agreement(program, pipeline, {{{"in", noise(in.type(), {23, 11}, 112)}}, {{"shift", value}}, {}});
  }
}

}  // namespace
}  // namespace weft::testing_support
