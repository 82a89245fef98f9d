#include "schedule/hipacc/legality.h"

#include <gtest/gtest.h>

#include "machine/board.h"
#include "tests/unit/schedule/pipelines.h"

namespace weft::schedule::hipacc {
namespace {

/// "header: 'half' reads 'a' at other coordinates than its own", or "legal".
std::string verdict(const StageGraph& graph, const std::vector<std::string>& names,
                    const FusionLimits& limits = {}) {
  const auto found = objection(graph, members(graph, names), limits);
  return found ? name_of(found->obstacle) + ": " + found->why : "legal";
}
std::string verdict(const Outputs& outputs, const std::vector<std::string>& names,
                    const FusionLimits& limits = {}) {
  return verdict(graph_of(outputs), names, limits);
}

const auto clamped = Border::clamp();

TEST(Legality, ChainsAndSharedInputsAreLegal) {
  Image<float> in("in");
  Stage a = point("a", in + 1.f);
  Stage b = point("b", a * 2.f);
  EXPECT_EQ(verdict({b}, {"a", "b"}), "legal") << "Fig. 3.2a";
  Stage c = point("c", a * in);
  EXPECT_EQ(verdict({c}, {"a", "c"}), "legal") << "Fig. 3.2b";
  EXPECT_EQ(verdict({c}, {"a"}), "legal") << "one stage";
}

TEST(Legality, AResultThatOthersNeedIsAnExternalOutput) {
  Image<float> in("in");
  Stage a = point("a", in + 1.f), b = point("b", a * 2.f), c = point("c", a * 3.f), d = point("d", b + c);
  EXPECT_EQ(verdict({d}, {"a", "b"}), "external output: 'c' reads 'a', too") << "Fig. 3.2c";
  EXPECT_EQ(verdict({d}, {"a", "b", "c"}), "external output: 'b' and 'c' would all be results");
  EXPECT_EQ(verdict({d}, {"a", "b", "c", "d"}), "legal");
  EXPECT_EQ(verdict({a, d}, {"a", "b", "c", "d"}), "external output: 'a' is an output, too");
  EXPECT_EQ(verdict({a, d}, {"b", "c", "d"}), "legal");
}

TEST(Legality, AnImageThatTheFirstDoesNotReadIsAnExternalInput) {
  Image<float> in("in"), other("other", in.size());
  Stage a = point("a", in + 1.f), b = point("b", a * other);
  EXPECT_EQ(verdict({b}, {"a", "b"}), "external input: 'b' reads 'other', which 'a' does not read")
      << "Fig. 3.2d";
  Stage both = point("both", in + other), c = point("c", both * other);
  EXPECT_EQ(verdict({c}, {"both", "c"}), "legal");
  Stage left = point("left", in + 1.f), sum = point("sum", left + point("right", in + other));
  EXPECT_EQ(verdict({sum}, {"left", "right", "sum"}), "legal") << "'right' reads all";
}

TEST(Legality, ScalarsAreNoImages) {
  Image<float> in("in");
  Stage peak = reduce("peak", in, Reduce::max());
  Stage a = point("a", in + 1.f), b = point("b", a / peak);
  EXPECT_EQ(verdict({b}, {"a", "b"}), "legal");
}

TEST(Legality, WhatHasNoPixelsOfItsOwnIsAlone) {
  Image<float> in("in");
  Stage a = point("a", in + 1.f);
  Stage peak = reduce("peak", a, Reduce::max());
  Stage b = point("b", in / peak);
  EXPECT_EQ(verdict({b}, {"a", "peak"}), "kind: 'peak' is a reduction");
  EXPECT_EQ(verdict({b}, {"peak", "b"}), "kind: 'peak' is a reduction");
  Image<std::uint8_t> bytes("bytes");
  Stage inverse = point("inverse", 255 - bytes);
  Stage hist = scatter("hist", {256}, 0u, bytes, [&](Var x, Var y) { return add({inverse(x, y)}, 1u); });
  EXPECT_EQ(verdict({hist}, {"inverse", "hist"}), "kind: 'hist' is scattered into");
  Field<float> u("u", a);
  Stage heat = evolve("heat", u, 3, [&](Var x, Var y) { return u(x, y) * .5f; });
  EXPECT_EQ(verdict({heat}, {"a", "heat"}), "kind: 'heat' changes step by step");
}

TEST(Legality, HeadersHaveOneSpaceAndReadPixelByPixel) {
  Image<float> in("in");
  Stage a = point("a", in + 1.f);
  auto src = a.border(clamped);
  Stage half = stage("half", in.size() / 2, [&](Var x, Var y) { return src(2 * x, 2 * y); });
  EXPECT_EQ(verdict({half}, {"a", "half"}),
            "header: 'a' has the box [in.w, in.h], 'half' has [in.w/2, in.h/2]");
  Stage mirrored = stage("mirrored", in.size(), [&](Var x, Var y) { return src(in.width() - 1 - x, y); });
  EXPECT_EQ(verdict({mirrored}, {"a", "mirrored"}),
            "header: 'mirrored' reads 'a' at other coordinates than its own");
  Stage looked = stage("looked", in.size(), [&](Var x, Var y) { return src(cast<int>(in(x, y)), y); });
  EXPECT_EQ(verdict({looked}, {"a", "looked"}), "header: 'looked' reads 'a' at computed places");
  Stage moved = stage("moved", in.size(), [&](Var x, Var y) { return src(x + 1, y); });
  EXPECT_EQ(verdict({moved}, {"a", "moved"}), "legal") << "a window of one pixel";
  const Accessor inner = a.crop({1, 1}, in.size() / 2).border(clamped);
  Stage cropped = stage("cropped", in.size(), [&](Var x, Var y) { return inner(x, y); });
  EXPECT_EQ(verdict({cropped}, {"a", "cropped"}),
            "header: 'cropped' reads 'a' in a crop that has a border of its own");
  Stage after = point("after", looked * 2.f);
  EXPECT_EQ(verdict({after}, {"looked", "after"}), "legal") << "what a first stage reads is its own matter";
}

TEST(Legality, GroupsHangTogether) {
  Image<float> in("in");
  Stage a = point("a", in + 1.f), b = point("b", in + 2.f);
  EXPECT_EQ(verdict({a, b}, {"a", "b"}), "disconnected: no other of them reads or is read by 'a'");
}

TEST(Legality, SharedMemoryGrowsTwofoldAtMost) {
  const StageGraph harris = graph_of_application("harris");
  const std::vector<std::string> all = {"dx", "dy", "sx", "sy", "sxy", "gx", "gy", "gxy", "hc"};
  EXPECT_EQ(verdict(harris, all),
            "resources: 3 tiles in shared memory are 3.00 times what one stage has; 2 are allowed");
  FusionLimits generous;
  generous.shared_growth = 3;
  EXPECT_EQ(verdict(harris, all, generous), "legal");
  EXPECT_EQ(verdict(harris, {"sxy", "gxy"}), "legal") << "two tiles, of 'dx' and 'dy'";
  FusionLimits strict;
  strict.shared_growth = 1.5;
  EXPECT_EQ(verdict(harris, {"sxy", "gxy"}, strict),
            "resources: 2 tiles in shared memory are 2.00 times what one stage has; 1.5 are allowed");
}

TEST(Legality, OccupancyIsKept) {
  // A tile of 63x35 floats is 8820 bytes, and of 94x66, for both stages together, 24816 bytes beside it: of
  // 48 KB, five blocks and one.
  Image<float> in("in");
  Stage a = local("a", in.border(clamped), Domain(32, 32), Local::Max);
  Stage b = local("b", a.border(clamped), Domain(32, 32), Local::Max);
  FusionLimits limits;
  limits.architecture = &machine::architecture(3, 0);
  limits.block = {32, 4};
  EXPECT_EQ(verdict({b}, {"a", "b"}), "legal");
  EXPECT_EQ(verdict({b}, {"a", "b"}, limits), "resources: occupancy would fall from 31 % to 6 %");
  limits.occupancy_kept = 0.1;
  EXPECT_EQ(verdict({b}, {"a", "b"}, limits), "legal");
}

}  // namespace
}  // namespace weft::schedule::hipacc
