// Steps of lines in the lanes of vectors: which go along them, and why others do not.
#include "plan/steps_in_lanes.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "follow.h"

namespace weft::plan::steps_in_lanes_test {
namespace {

TEST(StepsInLanes, GoAlongLines) {
  const auto text = [](auto make, const std::string& kernel) {
    const auto found =
        follow(Pipeline("test", {make()}).ir(), R"({"groups": [], "kernels": {"b": )" + kernel + "}}", {});
    return found.schedule ? to_text(found.schedule->kernels.at(0)) : found.why;
  };
  const auto line = [] {
    const Field<float> u("u", Image<float>("in", 1));
    return evolve("b", u, 16, [&](Var x) { return .5f * (u(x - 1) + u(x + 1)); });
  };
  const auto with = [](const std::string& steps, const std::string& more = "") {
    return R"({"steps": )" + steps + R"(, "levels": [)" + more + R"({"kind": "vector", "order": "march"}]})";
  };
  const std::string along_lanes = text(line, with("16"));
  EXPECT_NE(along_lanes.find("  core    7936 x "), std::string::npos) << along_lanes;
  EXPECT_NE(along_lanes.find("  vector  march\n"), std::string::npos) << along_lanes;
  EXPECT_EQ(text(line, R"({"steps": 16})"), along_lanes) << "unless something else is asked for";
  const std::string passes =
      text(line, R"({"steps": 16, "levels": [{"kind": "vector", "order": "parallel"}]})");
  EXPECT_EQ(passes.find("march\n  u"), std::string::npos) << passes;

  EXPECT_EQ(text(line, with("5")),
            "5 steps of 'b' are no kernel: lanes store 5 columns behind what they load, which is no multiple "
            "of 16");
  EXPECT_EQ(text(line, with("16", R"({"kind": "core", "extent": [64, 32]}, )")),
            "16 steps of 'b' are no kernel: lanes of vectors make tiles 7936 wide");
  const auto other = [&](auto update) {
    return text(
        [&] {
          const Field<float> u("u", Image<float>("in", 1));
          return evolve("b", u, 16, [&](Var x) { return update(u, x); });
        },
        with("16"));
  };
  const std::string no = "16 steps of 'b' are no kernel: lanes of vectors ";
  EXPECT_EQ(other([](const Field<float>& u, Var x) { return min(u(x - 1), u(x + 1)); }),
            no + "do arithmetic with neighbours alone");
  EXPECT_EQ(other([](const Field<float>& u, Var x) { return .5f * u(x); }),
            no + "keep the columns beside a pixel, a few, in registers");
  EXPECT_EQ(other([](const Field<float>& u, Var x) { return u(x - 4) + u(x + 4); }),
            no + "keep the columns beside a pixel, a few, in registers");
  const auto plane = [] {
    const Field<float> u("u", Image<float>("in"));
    return evolve("b", u, 16, [&](Var x, Var y) { return u(x - 1, y) + u(x, y + 1); });
  };
  EXPECT_EQ(text(plane, with("16")),
            "16 steps of 'b' are no kernel: lanes of a core's vectors march along lines of one field");
  const auto window = [] {
    return convolve("b", Image<float>("in").border(Border::clamp()), Mask{{1.f, 2.f, 1.f}});
  };
  EXPECT_EQ(text(window, R"({"levels": [{"kind": "vector", "order": "march"}]})"),
            "the kernel of 'b' is of no steps of a line, which alone go along lanes");
}

}  // namespace
}  // namespace weft::plan::steps_in_lanes_test
