#include <gtest/gtest.h>

#include "ir/interpret.h"

namespace weft::ir {
namespace {

/// Walks from inside to the index one step at a time, as each mode is drawn in stage_ir.h.
std::int64_t walked(BorderMode mode, std::int64_t index, std::int64_t extent) {
  std::int64_t place = 0, direction = 1;
  const std::int64_t step = index < 0 ? -1 : 1;
  for (std::int64_t at = 0; at != index; at += step) {
    const std::int64_t next = place + direction * step;
    if (next >= 0 && next < extent) {
      place = next;
      continue;
    }
    switch (mode) {
      case BorderMode::Clamp: break;
      case BorderMode::Repeat: place = next < 0 ? extent - 1 : 0; break;
      case BorderMode::Mirror: direction = -direction; break;  // the edge once more, then back
      case BorderMode::Mirror101:
        direction = -direction;
        if (extent > 1) place += direction * step;
        break;
      case BorderMode::Constant: return -1;
    }
  }
  return place;
}

}  // namespace

TEST(BorderIndex, EveryModeSizeAndOvershoot) {
  for (const BorderMode mode : {BorderMode::Clamp, BorderMode::Mirror, BorderMode::Mirror101,
                                BorderMode::Repeat, BorderMode::Constant}) {
    for (std::int64_t extent = 1; extent <= 5; ++extent) {
      for (std::int64_t index = -20; index < extent + 20; ++index) {
        EXPECT_EQ(border_index(mode, index, extent), walked(mode, index, extent))
            << "mode " << static_cast<int>(mode) << " extent " << extent << " index " << index;
      }
    }
    EXPECT_EQ(border_index(mode, 0, 0), -1) << "an empty region";
  }
}

TEST(BorderIndex, FarAway) {
  constexpr std::int64_t far = std::int64_t{1} << 60;
  EXPECT_EQ(border_index(BorderMode::Clamp, far, 5), 4);
  EXPECT_EQ(border_index(BorderMode::Repeat, -far, 1 << 10), 0);
  EXPECT_EQ(border_index(BorderMode::Mirror, far, 1 << 10), 0);
}

}  // namespace weft::ir
