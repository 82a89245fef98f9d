#include "machine/board.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/error.h>

#include <cctype>
#include <set>

namespace weft::machine {
namespace {

TEST(Board, ItsPeaksAreTheVendorsAsPublished) {
  struct Published {
    const char* name;
    int lanes;
    double gb_per_s, gflops;
  };
  for (const Published& p : {Published{"gtx470", 448, 133.9, 1089},
                             {"nvs5200m", 96, 14.4, 240},
                             {"gtx680", 1536, 192.3, 3250},
                             {"k20c", 2496, 208.0, 3524},
                             {"gtx745", 384, 28.8, 793},
                             {"gtx1080ti", 3584, 484.0, 11340},
                             {"v100", 5120, 897, 15667},
                             {"v100-pcie", 5120, 897, 14131},
                             {"rtx2080", 2944, 448.0, 10068},
                             {"titan-rtx", 4608, 672.0, 16312},
                             {"a100", 6912, 1555, 19492},
                             {"a100-80", 6912, 2039, 19492},
                             {"rtx4090", 16384, 1008, 82575},
                             {"h100", 16896, 3352, 66908},
                             {"h100-pcie", 14592, 2039, 51220},
                             {"h200", 16896, 4800, 66908},
                             {"b200", 18944, 7672, 74450},
                             {"rtx5090", 21760, 1792, 104753}}) {
    const Board& b = board(p.name);
    EXPECT_EQ(b.lanes(), p.lanes) << p.name;
    EXPECT_NEAR(b.bandwidth(), p.gb_per_s, 5e-4 * p.gb_per_s) << p.name;
    EXPECT_NEAR(b.gflops(), p.gflops, 1e-3 * p.gflops) << p.name;
  }
}

TEST(Board, IssuesSoManyInstructionsWhileAByteArrives) {
  const std::pair<const char*, double> published[] = {{"gtx680", 5.6},   {"gtx1080ti", 11.7}, {"v100", 17.5},
                                                      {"rtx2080", 22.5}, {"a100", 12.5},      {"rtx4090", 41},
                                                      {"h100", 10.0},    {"h200", 7.0},       {"b200", 4.9}};
  for (const auto& [name, balance] : published)
    EXPECT_NEAR(board(name).instructions_per_byte(), balance, 0.051) << name;
}

TEST(Board, ItsFactsAreWithinReason) {
  std::set<std::string_view> names;
  for (const Board& b : boards()) {
    EXPECT_TRUE(names.insert(b.name).second) << b.name;
    EXPECT_EQ(find_board(b.name), &b);
    EXPECT_LE(b.base_mhz, b.boost_mhz) << b.name;
    EXPECT_GT(b.copy_fraction.value, 0.7) << b.name;
    EXPECT_LT(b.copy_fraction.value, 1.0) << b.name;
    if (b.read_fraction) EXPECT_GE(b.read_fraction->value, b.copy_fraction.value) << b.name;
    if (b.graph_launch) EXPECT_LT(b.graph_launch->value, b.stream_launch->value) << b.name;
    EXPECT_LT(b.shared_latency.value, b.dram_latency.value) << b.name;
  }
}

TEST(Board, OfAnUnknownNameIsAnErrorThatListsThose) {
  EXPECT_EQ(find_board("h300"), nullptr);
  try {
    board("h300");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no board 'h300'\n"
                 "  known gtx470, nvs5200m, gtx680, k20c, gtx745, gtx1080ti, v100, v100-pcie, rtx2080, "
                 "titan-rtx, a100, a100-80, rtx4090, h100, h100-pcie, h200, b200, rtx5090");
  }
}

TEST(Board, DescribesItselfWithSources) {
  const std::string text = describe(board("h200"));
  for (const char* part :
       {"NVIDIA H200 SXM", "132 of Hopper (sm_90)", "HBM3e, 6144 bits: 4800 GB/s", "60 MB", "4320 GB/s, 90 %",
        "this project's own run on the board", "7.0 instructions per byte", "1.23 us",
        "RRZE-HPC/gpu-benches, raw results of February 2025", "assumed, from a similar board"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

}  // namespace
}  // namespace weft::machine
