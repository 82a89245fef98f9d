#include "rewrite/exact_means.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"
#include "tests/support/differential.h"

namespace weft::exact_means_test {
namespace {

/// The mean over a window, rounded to T.
template <class T>
Pipeline mean(const AnyImage& in, const Domain& window, float divisor) {
  const Accessor src = in.border(Border::clamp());
  return {"mean", stage("mean", in.size(), [&](Var x, Var y) {
            const Expr total = sum(window, [&](Tap t) { return src(x + t.x, y + t.y); });
            return saturate<T>(cast<float>(total) / divisor);
          })};
}

/// Whether the pipeline still divides floats.
bool divides_floats(const Pipeline& pipeline) {
  bool found = false;
  const ir::Pipeline rewritten = rewrite::exact_means(pipeline.ir());
  ir::visit(ir::expressions(*rewritten.stages.at(0)), [&](const ir::Expr& e) {
    const auto* binary = std::get_if<ir::Binary>(&e->op);
    found |= binary && binary->op == ir::BinaryOp::Div && is_float(e->type.scalar);
  });
  return found;
}

const AnyImage bytes() { return AnyImage("in", {Scalar::U8}); }

TEST(ExactMeans, OddDivisorsOfSumsThatSixteenBitsHold) {
  EXPECT_FALSE(divides_floats(mean<std::uint8_t>(bytes(), Domain(5, 5), 25)));
  EXPECT_FALSE(divides_floats(mean<std::uint8_t>(bytes(), Domain(15, 15), 225)));
  EXPECT_FALSE(divides_floats(mean<std::int8_t>(bytes(), Domain(3, 3), 3)));
}

TEST(ExactMeans, OthersStay) {
  EXPECT_TRUE(divides_floats(mean<std::uint8_t>(bytes(), Domain(4, 4), 16))) << "halves round to even";
  EXPECT_TRUE(divides_floats(mean<std::uint8_t>(bytes(), Domain(5, 5), 2.5f)));
  EXPECT_TRUE(divides_floats(mean<std::uint8_t>(bytes(), Domain(17, 17), 289))) << "65535 + 144 at most";
  EXPECT_TRUE(divides_floats(mean<float>(bytes(), Domain(5, 5), 25))) << "not rounded";
  EXPECT_TRUE(divides_floats(mean<std::uint8_t>(AnyImage("in", {Scalar::I16}), Domain(5, 5), 25)));
}

TEST(ExactMeans, RoundAsTheDivisionOfFloats) {
  Buffer in = testing_support::noise(type_of<std::uint8_t>(), {300, 40}, 5);
  for (int x = 0; x < 300; ++x) {
    for (int y = 0; y < 20; ++y) in.at<std::uint8_t>(x, y) = static_cast<std::uint8_t>(x < 150 ? x / 4 : 255);
  }
  for (const auto& [side, divisor] : {std::pair{3, 9}, {3, 3}, {5, 25}, {5, 7}, {15, 225}, {1, 3}}) {
    SCOPED_TRACE(divisor);
    const auto d = static_cast<float>(divisor);
    for (const Pipeline& pipeline : {mean<std::uint8_t>(bytes(), Domain(side, side), d),
                                     mean<std::int8_t>(bytes(), Domain(side, side), d),
                                     mean<std::uint16_t>(bytes(), Domain(side, side), d)}) {
      testing_support::expect_agreement(pipeline, {{{"in", in}}, {}, {}});
    }
  }
}

}  // namespace
}  // namespace weft::exact_means_test
