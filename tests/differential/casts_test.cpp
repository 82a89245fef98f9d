// Conversions between all types, of both kinds, from the most awkward values.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

const std::vector<Scalar> scalars = {Scalar::Bool, Scalar::I8,  Scalar::I16, Scalar::I32,
                                     Scalar::I64,  Scalar::U8,  Scalar::U16, Scalar::U32,
                                     Scalar::U64,  Scalar::F16, Scalar::F32, Scalar::F64};

class Casts : public testing::TestWithParam<Scalar> {};

TEST_P(Casts, ToEveryType) {
  const AnyImage in("in", {GetParam()});
  std::vector<Stage> stages;
  for (const Scalar to : scalars) {
    stages.push_back(point("cast_" + name_of(to), cast({to, 1}, in)));
    if (to != Scalar::Bool) stages.push_back(point("saturate_" + name_of(to), saturate({to, 1}, in)));
  }
  const auto make = is_float(GetParam()) ? extreme_floats : noise;
  expect_agreement(stages, make(in.type(), {79, 41}, 21));
}

INSTANTIATE_TEST_SUITE_P(From, Casts, testing::ValuesIn(scalars),
                         [](const auto& info) { return name_of(info.param); });

TEST(Casts, AreTheSameWithoutStrict) {
  const Image<float> in("in");
  const Pipeline pipeline(
      "casts", {point("bytes", saturate<std::uint8_t>(in)), point("words", cast<std::int16_t>(in)),
                point("ints", cast<std::int32_t>(in)), point("unsigned", saturate<std::uint32_t>(in)),
                point("longs", cast<std::int64_t>(in))});
  expect_agreement(pipeline, {{{"in", extreme_floats(in.type(), {79, 41}, 22)}}, {}, {}});
}

#if defined(__x86_64__)
/// Which processors with AVX2 do by other means.
TEST(Casts, OfFloatsTo64BitsWithoutAvx512) {
  const Image<float> a("a");
  const Image<double> b("b", a.size());
  const Pipeline pipeline(
      "casts",
      Outputs{point("floats", cast<std::int64_t>(a)), point("doubles", cast<std::int64_t>(b)),
              point("large", cast<std::int64_t>(a * 1e15f)), point("larger", cast<std::int64_t>(b * 1e15)),
              point("small", cast<std::int64_t>(a * 0.03f))}
          .strict());
  CompileOptions options = compile_options();
  options.compiler_flags.push_back("-mno-avx512dq");
  const Program program = pipeline.compile(options);
  for (const auto make : {extreme_floats, noise}) {
    const Arguments arguments{
        {{"a", make(a.type(), {79, 41}, 22)}, {"b", make(b.type(), {79, 41}, 23)}}, {}, {}};
    expect_agreement(program, pipeline, arguments);
  }
}
#endif

// Found by: weft verify --random 1 --seed 3031572
TEST_P(Casts, OfIntegersKnowOneZero) {
  if (!is_float(GetParam())) return;
  const AnyImage in("in", {GetParam()});
  std::vector<Stage> stages;
  for (const Scalar to : {Scalar::I8, Scalar::U16, Scalar::I32, Scalar::U32, Scalar::I64}) {
    for (const Scalar back : {Scalar::F32, Scalar::F64}) {
      const std::string name = name_of(to) + "_" + name_of(back);
      stages.push_back(point("cast_" + name, 1 / cast({back, 1}, cast({to, 1}, in))));
      stages.push_back(point("saturate_" + name, 1 / cast({back, 1}, saturate({to, 1}, in))));
    }
  }
  expect_agreement(stages, extreme_floats(in.type(), {79, 41}, 23));
}

// Found by: weft verify --random 1 --seed 50001397
TEST(Casts, OfIntegersAreTakenFromZero) {
  const Image<int> in("in");
  const Pipeline pipeline("minus", Outputs{point("zero", 1. / (0. - cast<double>(in))),
                                           point("same", 1.f / (cast<float>(in - in) - cast<float>(in)))}
                                       .strict());
  expect_agreement(pipeline, {{{"in", Buffer::allocate(in.type(), {9, 2})}}, {}, {}});
}

// Compiled code that is not strict may flush subnormal floats to zero; those of half are ordinary floats.
TEST(Casts, OfSubnormalHalves) {
  const Image<half> in("in");
  const Pipeline pipeline("halves", {point("wide", cast<float>(in)), point("twice", cast<half>(in + in))});
  const Buffer image = Buffer::allocate(in.type(), {1 << 11});
  for (int i = 0; i < image.extent(0); ++i)
    image.at<half>(i).bits = static_cast<std::uint16_t>(i | (i & 1) << 15);
  const Buffer rows(image.data(), in.type(), {64, 32}, {1, 64});
  expect_agreement(pipeline, {{{"in", rows}}, {}, {}});
}

TEST(Casts, HalfImagesThroughWindows) {
  const Image<half> in("in");
  const Accessor src = in.border(Border::mirror());
  Stage blurred = stage("blurred", in.size(), [&](Var x, Var y) {
    return cast<half>(sum(Domain(3, 3), [&](Tap t) { return src(x + t.x, y + t.y); }) / 9.f);
  });
  Stage lastly = stage("lastly", in.size(), [&](Var x, Var y) {
    Accum<half> total = cast<half>(0.1f);
    for_each(Domain(17, 17), [&](Tap t) { total = total * .5f + src(x + t.x, y + t.y); });
    return total;
  });
  const Accessor framed = in.border(Border::constant(cast<half>(.3f)));
  expect_agreement(
      {blurred, lastly, point("doubled", blurred + blurred),
       local("greatest", framed, Domain(5, 3), Local::Max), local("least", src, Domain(3, 1), Local::Min),
       local("median", src, Domain(3, 3), Local::Median),
       local("median_of_many", src, Domain(9, 9), Local::Median)},
      noise(in.type(), {33, 17}, 23));
}

}  // namespace
}  // namespace weft::testing_support
