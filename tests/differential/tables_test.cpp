// Tables of bytes at computed places, which vectors look up several at a time: sizes around those of a vector and of two,
// rows shorter than a vector and longer.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

class Tables : public testing::TestWithParam<std::int64_t> {};

TEST_P(Tables, AreLookedUpAtEveryPlace) {
  const std::int64_t size = GetParam();
  const Stage table =
      stage("table", Extents{size}, [](Var v) { return cast<std::uint8_t>(v * 37 + v / 5 + 11); });
  const Accessor clamped = table.border(Border::clamp()), repeated = table.border(Border::repeat());
  const Image<std::int16_t> in("in");
  const Stage out = stage("out", in.size(), [&](Var x, Var y) {
    const Expr place = in(x, y) / 8 + 5;
    return pack(clamped(cast<std::int16_t>(place)), repeated(place), clamped(abs(in(x, y)) / 3));
  });
  const Pipeline pipeline("tables", out);
  const Program program = pipeline.compile(compile_options());
  for (const std::vector<std::int64_t>& extents :
       std::vector<std::vector<std::int64_t>>{{1, 1}, {63, 3}, {64, 2}, {65, 2}, {200, 9}, {1100, 2}})
    expect_agreement(program, pipeline, {{{"in", noise(type_of<std::int16_t>(), extents, 5)}}, {}, {}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Tables, testing::Values(1, 2, 127, 128, 129, 256, 1025, 2048, 2049));

TEST(TablesOfBytes, AreOfEveryTypeOfPlace) {
  const auto check = [](Type type, const Pipeline& pipeline) {
    const Program program = pipeline.compile(compile_options());
    expect_agreement(program, pipeline, {{{"in", noise(type, {131, 4}, 9)}}, {}, {}});
  };
  const Stage table =
      stage("table", Extents{256}, [](Var v) { return cast<std::uint8_t>(255 - v * v / 300); });
  const Accessor at = table.border(Border::clamp());
  const auto of = [&](const AnyImage& in) {
    return Pipeline("places", stage("out", in.size(), [&](Var x, Var y) {
                      return cast<float>(at((in(x, y) ^ in(x, y) / 2) & 255)) * .5f + 1.f;
                    }));
  };
  check(type_of<std::uint8_t>(), of(Image<std::uint8_t>("in")));
  check(type_of<std::uint16_t>(), of(Image<std::uint16_t>("in")));
  check(type_of<std::int32_t>(), of(Image<std::int32_t>("in")));
  check(type_of<std::uint32_t>(), of(Image<std::uint32_t>("in")));
}

}  // namespace
}  // namespace weft::testing_support
