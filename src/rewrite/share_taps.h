// What the taps of a window compute from one source pixel, computed once per pixel.
//
//     blur = sum of m(t) * luminance(rgb(x + t.x, y + t.y))         nine luminances per pixel
//  →  blur_tap = luminance(rgb(x, y));   blur = sum of m(t) * blur_tap(x + t.x, y + t.y)
//
// Neighbouring pixels share taps, so a window of n taps computes everything n times. A border commutes with
// the function: the mapped index is the same, and a constant border becomes the function of the constant.
#pragma once

#include "ir/stage_ir.h"

namespace weft::rewrite {

ir::Pipeline share_taps(const ir::Pipeline& pipeline);

}  // namespace weft::rewrite
