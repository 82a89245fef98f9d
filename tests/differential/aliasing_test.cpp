// Outputs that lie in memory of the caller, also where an input or another output lies.
#include <gtest/gtest.h>

#include "tests/support/differential.h"

namespace weft::testing_support {
namespace {

const std::vector<std::int64_t> extents = {37, 19};

class Aliasing : public testing::Test {
 protected:
  const Image<std::int32_t> in{"in"};
  const Accessor src = in.border(Border::clamp());
  const Stage shifted =
      stage("shifted", in.size(), [&](Var x, Var y) { return src(x - 1, y - 2) + src(x + 2, y); });
  const Stage doubled = point("doubled", in * 2);
  const Buffer image = noise(in.type(), extents, 91);
};

TEST_F(Aliasing, OutputOverItsInput) {
  expect_agreement(Pipeline("in_place", shifted), {{{"in", image}}, {}, {{"shifted", image}}});
}

TEST_F(Aliasing, OutputOverAPartOfItsInput) {
  const Buffer memory = noise(in.type(), {37, 30}, 92);
  auto* rows = static_cast<std::int32_t*>(memory.data());
  const Buffer upper(rows, in.type(), extents, {1, 37}),
      lower(rows + std::ptrdiff_t{5} * 37, in.type(), extents, {1, 37});
  expect_agreement(Pipeline("overlap", shifted), {{{"in", upper}}, {}, {{"shifted", lower}}});
}

TEST_F(Aliasing, OneOfTwoOutputsOverTheInput) {
  const Pipeline pipeline("two", {shifted, doubled});
  expect_agreement(pipeline, {{{"in", image}}, {}, {{"doubled", image}}});
}

TEST_F(Aliasing, OutputGivenOtherAllocated) {
  const Buffer mine = Buffer::allocate(in.type(), extents);
  const Pipeline pipeline("two", {shifted, doubled});
  const auto results = pipeline.compile(compile_options()).run({{{"in", image}}, {}, {{"doubled", mine}}});
  EXPECT_EQ(results.at("doubled").data(), mine.data());
  EXPECT_NE(results.at("shifted").data(), mine.data());
  EXPECT_EQ(difference(interpreted(pipeline, {{{"in", image}}, {}, {}}).at("doubled"), mine), "");
}

TEST_F(Aliasing, OneImageForTwoInputs) {
  const Image<std::int32_t> other("other", in.size());
  const Pipeline pipeline("sum",
                          stage("out", in.size(), [&](Var x, Var y) { return src(x + 1, y) - other(x, y); }));
  expect_agreement(pipeline, {{{"in", image}, {"other", image}}, {}, {}});
}

TEST_F(Aliasing, LeavesTheInputAsItWas) {
  const Buffer before = image.packed();
  expect_agreement(Pipeline("two", {shifted, doubled}), {{{"in", image}}, {}, {}});
  EXPECT_EQ(difference(before, image), "");
}

}  // namespace
}  // namespace weft::testing_support
