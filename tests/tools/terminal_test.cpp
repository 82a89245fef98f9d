#include "tools/terminal.h"

#include <gtest/gtest.h>

namespace weft::tools {
namespace {

TEST(Terminal, Durations) {
  EXPECT_EQ(duration(0), "0 s");
  EXPECT_EQ(duration(59.4), "59 s");
  EXPECT_EQ(duration(59.6), "1 min 0 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(7500), "2 h 5 min");
  EXPECT_EQ(duration(4 * 86400.0), "4 days");
  EXPECT_EQ(duration(1e15), "years");
}

TEST(Terminal, HowFarARunIs) {
  RunProgress progress;
  EXPECT_EQ(running_text(progress, 0), "running");
  EXPECT_EQ(running_text(progress, 3), "running, 3 s");
  progress.done = 0.256;
  EXPECT_EQ(running_text(progress, 0.2), "running: 25 %");
  EXPECT_EQ(running_text(progress, 10), "running: 25 %, about 29 s left");
  progress.step = 3, progress.steps = 12;
  EXPECT_EQ(running_text(progress, 10), "running: 25 %, step 3 of 12, about 29 s left");
  progress.done = 1;
  EXPECT_EQ(running_text(progress, 10), "running: 100 %, step 3 of 12, about 0 s left");
}

}  // namespace
}  // namespace weft::tools
