// The rows along x that the pixels of a stage read: neighbours read neighbours, and a thread of a GPU may load those of its pixels
// at once.
#pragma once

#include <optional>
#include <vector>

#include "ir/stage_ir.h"
#include "plan/march.h"

namespace weft::plan {

/// Of a coarser image, so that neighbours read the same pixels; those beyond the end of a row, too, by the border.
bool is_of_coarser_image(const ir::Read& read);

/// At a computed place of a table, which has a border: pixels that are computed beyond the end of a row find one, too.
bool is_of_table(const ir::Read& read);

/// Whether two reads find their pixels in one row of a source, whatever their columns are.
bool have_the_same_row(const ir::Read& a, const ir::Read& b);

struct PixelRow {
  ir::Read read;  ///< The first of that row; if it is in a window, at a tap.
  Reach columns;  ///< Around the pixels' own, which are among them, of all reads of the row.
  /// Some of them, or rows without a border, may not be there: a thread looks whether its own are.
  bool may_leave = false;

  std::int64_t beside() const { return columns.extent() - 1; }
};

/// In order of their first use.
struct PixelRows {
  std::vector<PixelRow> rows;
  std::vector<ir::Read> others;  ///< Reads of something else.

  bool may_leave() const;
  std::int64_t columns_beside() const;  ///< Of all rows together.
};
PixelRows pixel_rows(const std::vector<const ir::Read*>& reads, const ir::Stage& stage);
/// Of all that the stage itself reads.
PixelRows pixel_rows(const ir::Stage& stage);

}  // namespace weft::plan
