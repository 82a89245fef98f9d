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

/// Neighbours along x, `left` of which are there from the first one on, if not all of them.
struct PixelsOfThread {
  int count;
  kernel::Expr first, left;
};
/// Appends the loads of the rows that these pixels of a box read, none of which they leave: of their own columns.
std::vector<ExpressionLowering::Pack> load_rows(const std::vector<plan::PixelRow>& rows,
                                                const PixelsOfThread& pixels, const Rows& box,
                                                ExpressionLowering& expressions, kernel::Block& block);

/// Appends the kernel and the tables of a pure stage that reads no other pixels than its own, or those of coarser images,
/// which neighbours share (plan/thread_pixels.h).
kernel::Launch lower_packs(const KernelContext& context);

}  // namespace weft::lower
