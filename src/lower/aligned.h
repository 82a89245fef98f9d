// Whether rows of an array lie where whole accesses may begin.
#pragma once

#include "lower/layout.h"

namespace weft::lower {

/// Appends what finds that out, for accesses to `scalars` neighbouring scalars of every row from that `column` of the
/// array on, also in scalars.
kernel::Expr is_aligned(const ArrayLayout& array, const kernel::Expr& column, int scalars,
                        const Layout& layout, kernel::Block& block);

}  // namespace weft::lower
