// What a block of threads does between two places where barriers may stand: it loads rows of images, and
// computes one pass after the other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace weft::plan {

/// With the sources whose kept rows it reads and writes.
struct Turn {
  Pass pass = {};  ///< Empty: images are loaded.
  std::set<std::string> reads = {}, writes = {};
};
/// Of one batch of rows, in order.
std::vector<Turn> turns_of(const KernelPlan& plan);

/// Before which turns, which follow one another around and around, the threads wait for each other: those
/// that read what has been written since the last barrier, or write what has been read.
std::vector<bool> barriers_before(const std::vector<Turn>& turns);

}  // namespace weft::plan
