// A program that runs again: what it found out about the sizes of images is kept, and nothing else is.
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/known_extents.h"
#include "runtime/last_run.h"

namespace weft {
namespace {

using namespace testing_support;

Buffer ones(std::int64_t w, std::int64_t h) {
  Buffer buffer = Buffer::allocate(type_of<std::int32_t>(), {w, h});
  for (std::int64_t y = 0; y < h; ++y) {
    for (std::int64_t x = 0; x < w; ++x) buffer.at<std::int32_t>(x, y) = 1;
  }
  return buffer;
}

Arguments with(const Buffer& in) { return {{{"in", in}}, {}, {}}; }

class RunAgain : public ::testing::Test {
 public:
  static Program inner() {
    const Image<std::int32_t> in("in");
    const Param<std::int32_t> k("k", 1, between(0, 9));
    const Stage out =
        stage("out", {in.width() - 4, in.height()}, [&](Var x, Var y) { return in(x + 4, y) * k; });
    CompileOptions options;
    options.target = Target::Cpu;
    return Pipeline("inner", out).compile(options);
  }

  std::string message(const Arguments& arguments) const {
    return message_of([&] { program.run(arguments); });
  }

  const Program program = inner();
};

TEST_F(RunAgain, EverySizeHasItsOutputs) {
  for (const std::int64_t w : {7, 7, 9, 7, 5, 5}) {
    const Buffer out = program.run(with(ones(w, 3))).at("out");
    EXPECT_EQ(out.extents(), (std::vector<std::int64_t>{w - 4, 3}));
    EXPECT_EQ(out.at<std::int32_t>(w - 5, 2), 1);
  }
}

TEST_F(RunAgain, WhatIsWrongIsRefusedAfterWhatWasRight) {
  const Arguments right = with(ones(7, 3));
  program.run(right);
  const std::string too_small = message(with(ones(3, 3)));
  EXPECT_NE(too_small.find("stage 'out' would have a negative size for these images"), std::string::npos)
      << too_small;
  EXPECT_EQ(message(with(ones(3, 3))), too_small);
  program.run(right);

  Arguments misspelt = right;
  misspelt.images["im"] = right.images.at("in");
  EXPECT_EQ(message(misspelt), "pipeline 'inner' has 'in'; 'im' is not one of its images");
  Arguments other_type = with(Buffer::allocate(type_of<float>(), {7, 3}));
  EXPECT_NE(message(other_type).find("image 'in' is 2-D f32, the pipeline declares it 2-D i32"),
            std::string::npos);
  Arguments no_memory = with(Buffer(nullptr, type_of<std::int32_t>(), {7, 3}, {1, 7}));
  EXPECT_NE(message(no_memory).find("image 'in' is null"), std::string::npos);
  Arguments parameter = right;
  parameter.params["k"] = 10;
  EXPECT_NE(message(parameter).find("parameter 'k' is 10, and has to be from 0 to 9"), std::string::npos);
  Arguments output = right;
  output.outputs["out"] = ones(4, 3);
  EXPECT_NE(message(output).find("the buffer for output 'out' has another type or size"), std::string::npos);
}

TEST_F(RunAgain, OutputsMayOverlapTheImageOrHaveGaps) {
  const Arguments right = with(ones(7, 3));
  program.run(right);
  const Buffer in = ones(7, 3);
  const Buffer over(in.data(), in.type(), {3, 3}, {1, 7});  // the first columns of the image itself
  Arguments in_place = with(in);
  in_place.params["k"] = 2;
  in_place.outputs["out"] = over;
  program.run(in_place);
  EXPECT_EQ(in.at<std::int32_t>(2, 2), 2);
  EXPECT_EQ(in.at<std::int32_t>(3, 2), 1);
}

/// The third run is the first that may be taken for the one before.
TEST_F(RunAgain, TheSameBuffersAreComputedAnewEachTime) {
  Arguments arguments = with(ones(7, 3));
  const Buffer in = arguments.images.at("in"), out = Buffer::allocate(in.type(), {3, 3});
  arguments.outputs["out"] = out;
  for (std::int32_t value = 1; value <= 4; ++value) {
    in.at<std::int32_t>(5, 1) = value;
    EXPECT_EQ(program.run(arguments).at("out").data(), out.data());
    EXPECT_EQ(out.at<std::int32_t>(1, 1), value);
  }
  arguments.params["k"] = 3;
  program.run(arguments);
  EXPECT_EQ(out.at<std::int32_t>(1, 1), 12);
  arguments.params["k"] = 10;
  EXPECT_NE(message(arguments).find("parameter 'k' is 10"), std::string::npos);
}

TEST(LastRun, IsThatOfTheSameViewsAndParameters) {
  Arguments arguments = with(ones(7, 3));
  const Buffer in = arguments.images.at("in");
  arguments.outputs["out"] = ones(3, 3);
  arguments.params["k"] = 2;
  runtime::LastRun last;
  EXPECT_EQ(last.of(arguments), nullptr);
  int runs = 0;
  last.remember(arguments, [&] { ++runs; });
  (*last.of(arguments))();
  EXPECT_EQ(runs, 1);

  const auto differs = [&](auto change) {
    Arguments other = arguments;
    change(other);
    return last.of(other) == nullptr;
  };
  EXPECT_TRUE(differs([](Arguments& a) { a.images["in"] = ones(7, 3); }));
  EXPECT_TRUE(differs([&](Arguments& a) { a.images["in"] = Buffer(in.data(), in.type(), {6, 3}, {1, 7}); }));
  EXPECT_TRUE(differs([&](Arguments& a) { a.images["in"] = Buffer(in.data(), in.type(), {7, 3}, {1, 8}); }));
  EXPECT_TRUE(differs([](Arguments& a) { a.images["more"] = ones(7, 3); }));
  EXPECT_TRUE(differs([](Arguments& a) { a.outputs.clear(); }));
  EXPECT_TRUE(differs([](Arguments& a) { a.outputs["out"] = ones(3, 3); }));
  EXPECT_TRUE(differs([](Arguments& a) { a.params["k"] = 3; }));
  EXPECT_TRUE(differs([](Arguments& a) { a.params.clear(); }));
  EXPECT_FALSE(differs([&](Arguments& a) { a.images["in"] = in.owned_by(nullptr); }));
}

/// Else a program would keep the last images that it has seen for as long as it lives.
TEST(LastRun, KeepsNoMemory) {
  auto memory = std::make_shared<std::int32_t>(1);
  const Buffer pixel = Buffer(memory.get(), type_of<std::int32_t>(), {1, 1}, {1, 1}).owned_by(memory);
  runtime::LastRun last;
  last.remember(with(pixel), [] {});
  EXPECT_EQ(memory.use_count(), 2);
}

TEST(KnownExtents, AreThoseOfTheLastImages) {
  runtime::KnownExtents known;
  EXPECT_EQ(known.of({{"a", ones(2, 3)}}), nullptr);
  known.remember({{"a", {2, 3}}}, {{5, 6}});
  ASSERT_NE(known.of({{"a", ones(2, 3)}}), nullptr);
  EXPECT_EQ(*known.of({{"a", ones(2, 3)}}), (runtime::KnownExtents::Outputs{{5, 6}}));
  EXPECT_EQ(known.of({{"a", ones(3, 2)}}), nullptr);
  EXPECT_EQ(known.of({{"b", ones(2, 3)}}), nullptr);
  EXPECT_EQ(known.of({}), nullptr);
  EXPECT_EQ(known.of({{"a", ones(2, 3)}, {"b", ones(2, 3)}}), nullptr);
  const auto held = known.of({{"a", ones(2, 3)}});
  known.remember({{"a", {1, 1}}}, {{7, 7}});
  EXPECT_EQ(*held, (runtime::KnownExtents::Outputs{{5, 6}}));
}

}  // namespace
}  // namespace weft
