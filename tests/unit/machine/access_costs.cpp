#include "machine/access_costs.h"

#include <gtest/gtest.h>

namespace weft::machine {
namespace {

TEST(AccessCosts, TheThesisBoardsHaveTheThesisNumbers) {
  for (const char* name : {"gtx745", "gtx680", "k20c"}) {
    const AccessCosts costs = access_costs(board(name));
    EXPECT_EQ(costs.global.value, 400) << name;
    EXPECT_EQ(costs.alu.value, 4) << name;
    EXPECT_EQ(costs.global.source, Source::Papers) << name;
  }
}

TEST(AccessCosts, AreOrderedOnEveryBoard) {
  for (const Board& b : boards()) {
    const AccessCosts costs = access_costs(b);
    EXPECT_GE(costs.global.value, 400) << b.name << ": the thesis says 400 to 800 clocks";
    EXPECT_LE(costs.global.value, 800) << b.name;
    EXPECT_LT(costs.shared.value, costs.global.value / 10) << b.name;
    EXPECT_GT(costs.sfu.value, costs.alu.value) << b.name;
  }
}

TEST(AccessCosts, SpecialFunctionsCostByTheirLanes) {
  EXPECT_EQ(access_costs(board("gtx680")).sfu.value, 24) << "192 lanes to 32";
  EXPECT_EQ(access_costs(board("h200")).sfu.value, 4.0 * 128 / 16) << "128 lanes to 16";
}

}  // namespace
}  // namespace weft::machine
