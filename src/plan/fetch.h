// Which part of the rows that a core needs next comes with which pass (KernelPlan::fetches_with_passes).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace weft::plan {

/// Columns of a row of an image, counted from the first that a tile needs.
struct FetchedColumns {
  std::string image;
  int from = 0, until = 0;
  bool is_last = false;  ///< To the end of the row, wherever it is.

  bool operator==(const FetchedColumns&) const = default;
};

/// Those that a pass asks memory for before it computes its rows: of 3 passes and one image of 1,040 columns in f32 the
/// first 320, the next 384, and the rest. The rows of all images are shared out evenly, in portions of 256 bytes.
std::vector<FetchedColumns> fetched_with(const KernelPlan& plan, std::size_t pass);

}  // namespace weft::plan
