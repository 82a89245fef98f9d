// The updates that a scatter makes at one point: where they go, and what they add.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/bands.h"
#include "lower/expressions.h"
#include "lower/rows.h"

namespace weft::lower {

/// The value that changes nothing when it is combined.
ir::Value identity_of(ir::BinaryOp op, Type type);

struct PlacedUpdate {
  std::vector<kernel::Expr> at;  ///< Its indices, counted from the beginnings of the box.
  kernel::Expr inside;           ///< Whether they are in the box. Null: they always are.
  Lanes value;
};
/// A part of a box: in one dimension, indices from one to another.
struct PartOfBox {
  int dim;
  kernel::Expr from, to;
  /// The only form of an index that leads there, and nowhere else at the points that are gone through.
  std::optional<ir::Affine> form = {};
};

/// Appends what the updates of the current point compute; `make` is told of one after the other. Of those of a part of
/// the stage's box `bins`, which is as large as it in all other dimensions.
void place_updates(ExpressionLowering& expressions, const ir::Stage& stage, const Rows& bins,
                   const std::vector<PartOfBox>& parts, kernel::Block& block,
                   const std::function<void(const PlacedUpdate&)>& make);

/// Of the points that a band of the stage's box can change: their coordinates bands.along, from the first to before the
/// second, by one of the bands' forms. The band goes from one index to another.
std::pair<kernel::Expr, kernel::Expr> points_that_lead_to(const Rows& points, const analysis::Bands& bands,
                                                          const ir::Affine& form, const kernel::Expr& from,
                                                          const kernel::Expr& to);

/// array[place] = array[place] op value, for all lanes of a pixel of the stage, `lane_pitch` apart. No other thread
/// changes it.
kernel::Block changed_pixel(const ir::Stage& stage, const kernel::Symbol& array, const kernel::Expr& place,
                            const Lanes& value, int lane_pitch, bool strict);

/// Appends, for each update of the stage, its bin and `change(bin, value)`, guarded if the bin may lie outside of the
/// box `bins`. Bins are numbered with x fastest, without gaps.
void lower_updates(ExpressionLowering& expressions, const ir::Stage& stage, const Rows& bins,
                   kernel::Block& block,
                   const std::function<kernel::Block(kernel::Expr bin, const Lanes& value)>& change);

}  // namespace weft::lower
