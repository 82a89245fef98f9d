// A stage as a GPU kernel whose threads compute several neighbouring pixels each, and load the rows around them: their own
// columns in accesses of up to 16 bytes, those beside them one by one.
//
//     in(x - 1, y) + in(x, y - 1) + in(x + 1, y) + …, 4 pixels of a thread:
//     if the 4 are all there, and rows are aligned:
//       in_row   = in[x0 - 1 … x0 + 4, y]
//       in_row_2 = in[x0 … x0 + 3, y - 1]
//       …
//       for k in [0, 4):    out_pack[k] = in_row[k] + in_row_2[k] + in_row[k + 2] + …
//       out[x0 … x0 + 3, y] = out_pack
//     else:  one pixel after the other
//
// Rows are found by the cache: threads keep none of them, so that they are many.
#pragma once

#include "lower/lower_stage.h"

namespace weft::lower {

/// Appends the kernel and the tables of a pure stage all of whose rows lie along x, some of them such that they may leave what
/// they are of (plan/pixel_rows.h).
kernel::Launch lower_row_packs(const KernelContext& context);

}  // namespace weft::lower
