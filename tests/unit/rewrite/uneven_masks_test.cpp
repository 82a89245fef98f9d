#include "rewrite/uneven_masks.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"

namespace weft::uneven_masks_test {
namespace {

/// The mask coefficients that the rewritten sum of a mask over an image of type T still reads.
template <class T>
std::size_t coefficients_left(const Mask& mask) {
  Image<T> in("in");
  const Pipeline pipeline("p", convolve("s", in.border(Border::clamp()), mask));
  std::size_t count = 0;
  const ir::Pipeline rewritten = rewrite::uneven_masks(pipeline.ir());
  ir::visit(ir::expressions(*rewritten.stages.at(0)),
            [&](const ir::Expr& e) { count += std::holds_alternative<ir::Coefficient>(e->op); });
  return count;
}

Mask all_but(int centre, int corner) {
  return Mask::from(5, 5, [=](int x, int y) {
    return x == 0 && y == 0 ? centre : x == 2 && y == 2 ? corner : 3;
  });
}

TEST(UnevenMasks, OneOrTwoExceptionsLeaveABox) {
  EXPECT_EQ(coefficients_left<std::uint8_t>(all_but(-24, 3)), 0u);
  EXPECT_EQ(coefficients_left<std::int16_t>(all_but(-24, 7)), 0u);
}

TEST(UnevenMasks, OthersStay) {
  EXPECT_EQ(coefficients_left<float>(all_but(-24, 3)), 1u) << "floats would cancel";
  EXPECT_EQ(coefficients_left<std::uint8_t>(all_but(3, 3)), 1u) << "even already";
  EXPECT_EQ(coefficients_left<std::uint8_t>(Mask::outer({1, 2, 1}, {1, 2, 1})), 1u);
  EXPECT_EQ(coefficients_left<std::uint8_t>(Mask{{1, 1, 1}, {1, -7, 0}, {1, 1, 1}}), 1u) << "a hole";
}

}  // namespace
}  // namespace weft::uneven_masks_test
