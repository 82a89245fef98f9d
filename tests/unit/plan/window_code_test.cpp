#include "plan/window_code.h"

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "ir/visit.h"

namespace weft::plan {
namespace {

class CodeOfWindows : public testing::Test {
 protected:
  const Image<float> in{"in"}, kernel{"kernel"};
  const Accessor src = in.border(Border::clamp());

  /// What becomes of the only window of a stage.
  static WindowCode code(const Stage& stage, target::Processor processor = target::Processor::Cpu) {
    const CodeLimits limits = usual_limits(processor == target::Processor::Gpu);
    WindowCode result;
    ir::visit(ir::expressions(*stage.node()), [&](const ir::Expr& e) {
      if (const auto* fold = std::get_if<ir::FoldResult>(&e->op))
        result = code_of(*fold->fold, false, processor, limits);
      if (const auto* median = std::get_if<ir::Median>(&e->op)) result = code_of(*median, limits);
    });
    return result;
  }
  /// A sum of products with another image, whose pixels are found at computed indices.
  Stage filtered(int side, const Border& border) {
    return stage("filtered", in.size(), [&](Var x, Var y) {
      return sum(Domain(side, side), [&](Tap t) {
        return src(x + t.x, y + t.y) * kernel.border(border)(Expr(t.x) + side / 2, Expr(t.y) + side / 2);
      });
    });
  }
};

TEST_F(CodeOfWindows, SmallOnesAreStraightLineCode) {
  EXPECT_EQ(code(local("product", src, Domain(3, 3), Local::Product)).form, "unrolled");
  EXPECT_EQ(code(local("product", src, Domain(3, 3), Local::Product)).why,
            "27 operations; up to 1200 are straight-line code");
  EXPECT_EQ(code(local("product", src, Domain(21, 21), Local::Product)).form, "tap by tap");
  EXPECT_EQ(code(local("product", src, Domain(21, 21), Local::Product)).why,
            "1323 operations: straight-line code of more than 1200 would compile for long");
  EXPECT_EQ(code(local("product", src, Domain(17, 17), Local::Product), target::Processor::Gpu).why,
            "867 operations: straight-line code of more than 600 would leave the instruction cache");
}

TEST_F(CodeOfWindows, ProductsOfColumnsAndRowsShareColumns) {
  EXPECT_EQ(code(local("mean", src, Domain(5, 5), Local::Mean)).form, "columns");
  EXPECT_EQ(code(local("mean", src, Domain(5, 5), Local::Mean), target::Processor::Gpu).form, "unrolled");
}

/// GCC 12 took 9 s for the last of them as straight-line code.
TEST_F(CodeOfWindows, WhereComputedReadsLieIsWrittenOutTapByTap) {
  EXPECT_EQ(code(filtered(3, Border::mirror101())).form, "unrolled");
  EXPECT_EQ(code(filtered(7, Border::clamp())).form, "unrolled");
  EXPECT_EQ(code(filtered(9, Border::mirror101())).form, "tap by tap");
}

TEST_F(CodeOfWindows, APassMakesAsManyTapsAsAreAskedFor) {
  const Stage wide = local("product", src, Domain(21, 21), Local::Product);
  ir::visit(ir::expressions(*wide.node()), [&](const ir::Expr& e) {
    const auto* fold = std::get_if<ir::FoldResult>(&e->op);
    if (!fold) return;
    CodeLimits limits;
    EXPECT_EQ(taps_of_pass(*fold->fold, limits), 21);
    limits.pass = 30;  // of 4 operations each: the row of 21 is made of 3 times 7
    EXPECT_EQ(taps_of_pass(*fold->fold, limits), 7);
    limits.pass = 1;
    EXPECT_EQ(taps_of_pass(*fold->fold, limits), 1);
  });
}

TEST_F(CodeOfWindows, MediansHaveANetworkOrAreSelected) {
  EXPECT_EQ(code(local("median", src, Domain(7, 7), Local::Median)).why,
            "a sorting network of 49 values; up to 49 have one");
  EXPECT_EQ(code(local("median", src, Domain(9, 9), Local::Median)).why,
            "81 values are gathered and selected from; up to 49 have a sorting network");
}

}  // namespace
}  // namespace weft::plan
