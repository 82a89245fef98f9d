// What models take of boards.
#include "machine/gpu.h"

#include <gtest/gtest.h>

namespace weft::machine {
namespace {

TEST(GpuSpeeds, AreWhatTheBoardReaches) {
  const GpuSpeeds h200 = gpu_speeds(board("h200"));
  EXPECT_DOUBLE_EQ(h200.bytes.value, 0.9 * 6144 / 8 * 6.25e9);
  EXPECT_EQ(h200.bytes.source, Source::OwnRun);
  EXPECT_DOUBLE_EQ(h200.again.value, 6.1e12);
  EXPECT_DOUBLE_EQ(h200.operations.value, 128 * 1.98e9);
  EXPECT_DOUBLE_EQ(h200.accesses.value, 32 * 1.98e9);
  EXPECT_DOUBLE_EQ(h200.divisions.value, 16 * 1.98e9);
  EXPECT_DOUBLE_EQ(h200.latency.value, 689 / 1.98e9);
  EXPECT_DOUBLE_EQ(h200.barrier.value, 32 / 1.98e9);
  EXPECT_DOUBLE_EQ(h200.launch.value, 2.44e-6);
  EXPECT_EQ(h200.launch.source, Source::GpuBenches);
  EXPECT_EQ(h200.multiprocessors, 132);
}

TEST(GpuSpeeds, AreAssumedWhereNobodyMeasured) {
  const GpuSpeeds kepler = gpu_speeds(board("gtx680"));
  EXPECT_EQ(kepler.again.value, 2 * kepler.bytes.value);
  EXPECT_EQ(kepler.again.source, Source::Assumed);
  EXPECT_DOUBLE_EQ(kepler.launch.value, 2.44e-6);
  EXPECT_EQ(kepler.launch.source, Source::Assumed);
}

TEST(Boards, AreFoundByTheirArchitecture) {
  EXPECT_EQ(board_of(architecture(9, 0)).name, "h200");
  EXPECT_EQ(board_of(architecture(8, 9)).name, "rtx4090");
  EXPECT_EQ(board_of(architecture(8, 6)).name, "h200") << "there is none";
}

}  // namespace
}  // namespace weft::machine
