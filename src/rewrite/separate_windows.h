// Large windows that are a column times a row become stages along one dimension each.
//
//     blur = sum over 61x61 of in(x + t.x, y + t.y)                                   3721 taps a pixel
//  →  blur_columns = sum over 61 of in(x, y + t);   blur = sum over 61 of blur_columns(x + t, y)       122
//
// Where all weights are alike, neighbouring pixels have most of a line in common, too, and a line becomes a
// few pieces of equal length, which are computed once:
//
//     blur_columns = sum over 61 of in(x, y + t)
//  →  blur_column_parts = sum over 8 of in(x, y + t)
//     blur_columns = sum over 7 of blur_column_parts(x, y + 8*t) + sum over 5 of in(x, y + 56 + t)      20
//
// Pieces of minima and maxima may overlap, so that nothing is left over. Windows of one row or column become pieces
// likewise. Most small windows are left to lowering, which keeps columns of a strip of pixels (analysis/separable.h).
//
// Borders separate as well: an index beyond the image is mapped dimension by dimension, and beyond a constant
// border a whole column is made of the constant.
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// A window that became stages.
struct SeparatedWindow {
  std::string stage;
  int width, height;
  bool in_pieces;
  std::vector<std::string> stages;  ///< The last is the one that had the window.
};

/// Windows whose columns are worth a stage.
enum class Separate {
  Large,     ///< Even where each stage is stored.
  SmallSums  ///< Also those that sum up floats of another stage, where only some rows of stages are kept.
};

/// Those that it separates are added to `separated`, if that is given.
ir::Pipeline separate_windows(const ir::Pipeline& pipeline, Separate which = Separate::Large,
                              std::vector<SeparatedWindow>* separated = nullptr);

/// Why a large window of a stage is left as it is: a clause. Empty if it is separated.
std::string why_not_separated(const ir::Stage& stage, const ir::Fold& fold, bool strict);

}  // namespace weft::rewrite
