// A stage of little work as a GPU kernel whose threads compute several neighbouring pixels each, and load and
// store them in accesses of up to 16 bytes.
//
//     for y, y threads of the grid apart:
//       for x0, 4 pixels of each thread apart:
//         in_pack = in[x0 … x0 + 3, y]
//         for k in [0, 4):    grey_pack[k] = …
//         grey[x0 … x0 + 3, y] = grey_pack
#pragma once

#include "lower/lower_stage.h"
#include "lower/rows.h"
#include "plan/pixel_rows.h"

namespace weft::lower {

/// Neighbours along x: 4 from column 8 on, say. Of a row of 10 pixels 2 are left there, and the thread has no others.
struct PixelsOfThread {
  int count;
  kernel::Expr first, left;
};
/// Appends the loads of these pixels' own columns, a pack for each row that they read. No row may be left
/// (plan::PixelRow::may_leave).
std::vector<ExpressionLowering::Pack> load_rows(const std::vector<plan::PixelRow>& rows,
                                                const PixelsOfThread& pixels, const Rows& box,
                                                ExpressionLowering& expressions, kernel::Block& block);

/// Appends the kernel and the tables of a pure stage that reads no other pixels than its own, or those of coarser images,
/// which neighbours share (plan/thread_pixels.h).
kernel::Launch lower_packs(const KernelContext& context);

}  // namespace weft::lower
