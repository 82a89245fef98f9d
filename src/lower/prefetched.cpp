#include "lower/prefetched.h"

#include "analysis/interior.h"
#include "ir/visit.h"
#include "plan/march.h"

namespace weft::lower {

namespace {

/// Side by side, from one row of an image: all of the cache lines that are fetched are read.
bool reads_a_row(const ir::Read& read) {
  if (read.indices.size() != 2 || analysis::access_of(read) != analysis::Access::Direct) return false;
  const auto& x = std::get<ir::Affine>(read.indices[0]);
  const auto& y = std::get<ir::Affine>(read.indices[1]);
  if (ir::mentions_tap(x) || ir::mentions_tap(y)) return false;
  ir::Scaled scaled;
  return ir::as_scaled(x, 0, &scaled) && scaled.scale > 0 && scaled.scale <= scaled.divisor;
}

}  // namespace

int rows_ahead(const Tile& tile, const plan::Kept* kept) {
  if (tile.is_static()) return 1;
  return kept ? plan::at_rate(tile.batch(), tile.plan().step[1], kept->rate[1]) : tile.batch();
}

Block prefetch_images(const Tile& tile, const Tile::Stages& pass, const Expr& left, const Expr& right,
                      const Expr& row, int ahead, std::set<const ir::Stage*>& fetched) {
  Block block;
  for (const ir::Stage* stage : pass) {
    const Expr later = kernel::add(row, literal(ahead)), last = kernel::sub(right, literal(1));
    const ExpressionLowering at_left = tile.expressions(*stage, Place::Row, {left, later});
    const ExpressionLowering at_last = tile.expressions(*stage, Place::Row, {last, later});
    for (const ir::Expr& e : ir::reads(*stage)) {
      const auto& read = std::get<ir::Read>(e->op);
      const auto array = tile.layout().arrays.find(read.source.get());
      if (tile.source(*read.source) || array == tile.layout().arrays.end() || !reads_a_row(read)) continue;
      if (!tile.plan().fetches_ahead(read.source->name)) continue;
      if (!fetched.insert(read.source.get()).second) continue;
      const Rows rows = {read.source->box, tile.layout()};
      const auto place = [&](const ExpressionLowering& at, int d) {
        const Expr index = at.lower(std::get<ir::Affine>(read.indices[d]));
        const Expr origin = rows.lower(array->second.box[d].min);
        if (d == 0 && !read.border) return kernel::sub(index, origin);
        const Expr inside =
            kernel::index_call(kernel::IndexOp::Clamp, kernel::sub(index, rows.begin(d)), rows.extent(d));
        return kernel::sub(kernel::add(inside, rows.begin(d)), origin);
      };
      const int lanes = read.source->type.lanes;
      const Expr first = place(at_left, 0), end = kernel::add(place(at_last, 0), literal(1));
      const Expr offset = kernel::add(kernel::mul(place(at_left, 1), kernel::name(array->second.strides[0])),
                                      kernel::mul(first, literal(lanes)));
      block.push_back({kernel::Prefetch{array->second.name, read.source->type.scalar, offset,
                                        kernel::mul(kernel::sub(end, first), literal(lanes))}});
    }
  }
  return block;
}

}  // namespace weft::lower
