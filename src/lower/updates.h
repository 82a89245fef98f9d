// The updates that a scatter makes at one point: where they go, and what they add.
#pragma once

#include <functional>

#include "lower/expressions.h"
#include "lower/rows.h"

namespace weft::lower {

/// The value that changes nothing when it is combined.
ir::Value identity_of(ir::BinaryOp op, Type type);

/// Appends, for each update, its bin and `change(bin, value)`, guarded if the bin may lie outside of the
/// box `bins`. Bins are numbered with x fastest, without gaps.
void lower_updates(ExpressionLowering& expressions, const ir::Scatter& scatter, const Rows& bins,
                   kernel::Block& block,
                   const std::function<kernel::Block(kernel::Expr bin, const Lanes& value)>& change);

}  // namespace weft::lower
