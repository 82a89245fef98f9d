// Whether a part of the rows of all images gives the same rows of the results as the whole, and how many more rows it
// takes for that.
//
//     once(x, y) = in(x, y - 1) + in(x, y);   twice(x, y) = once(x, y) + once(x, y + 2)
//
// Here row y of the result needs the rows y - 1 to y + 2 of the image: reach {1, 2}. Rows 10 to 20 come out of the rows
// 9 to 22 alone, as if these were the image: what the border does to those at the ends of the part is not read. Only a
// part that ends where the image does reads beyond it, and finds there what the whole would find.
//
//     half(x, y) = in(x, 2 * y);   result(x, y) = half(x, y / 2)       parts begin at multiples of 2 rows
//     framed(x, y) = y >= 2 ? in(x, y) : 0                             the first 2 rows of a part may be taken for the frame
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// Rows that are needed above and below the row of a result. Rows are counted along the last dimension: those of volumes
/// are planes.
struct RowReach {
  std::int64_t above = 0, below = 0;
  std::int64_t step = 1;  ///< Parts begin at multiples of it.
  bool operator==(const RowReach&) const = default;
};
struct RowReachOrWhy {
  std::optional<RowReach> reach;
  std::string why = {};  ///< There is none: a clause.
  bool operator==(const RowReachOrWhy&) const = default;
};

/// For images that all have the same number of rows, and parts of more rows than reach above or below.
RowReachOrWhy row_reach(const ir::Pipeline& pipeline);

}  // namespace weft::analysis
