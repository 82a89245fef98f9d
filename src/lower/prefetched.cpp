#include "lower/prefetched.h"

#include <algorithm>
#include <bit>
#include <numeric>

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

/// A core has some 20 requests to memory under way: of a portion 16 cache lines, and 2 vectors of floats or more.
std::int64_t pixels_of_portion(double bytes_of_pixel) {
  constexpr double bytes = 1024;
  const auto pixels = static_cast<std::uint64_t>(bytes / bytes_of_pixel);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(pixels)), 32, 512);
}

/// Of several loops along a row the one for most of it: between those for its ends, or after those that prepare it.
kernel::For* loop_over_pixels(Block& work) {
  std::vector<kernel::For*> loops;
  for (kernel::Stmt& s : work) {
    auto* loop = std::get_if<kernel::For>(&s.op);
    if (loop && loop->kind == kernel::LoopKind::Vector && !loop->step) loops.push_back(loop);
  }
  return loops.empty() ? nullptr : loops.size() == 3 ? loops[1] : loops.back();
}

}  // namespace

int rows_ahead(const Tile& tile, const plan::Kept* kept) {
  if (tile.is_static()) return 1;
  return kept ? plan::at_rate(tile.batch(), tile.plan().step[1], kept->rate[1]) : tile.batch();
}

std::vector<RowAhead> rows_read_ahead(const Tile& tile, const Tile::Stages& pass, const Expr& left,
                                      const Expr& right, const Expr& row, int ahead,
                                      std::set<const ir::Stage*>& fetched) {
  std::vector<RowAhead> rows_ahead;
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
      ir::Scaled column;
      ir::as_scaled(std::get<ir::Affine>(read.indices[0]), 0, &column);
      rows_ahead.push_back({{array->second.name, read.source->type.scalar, offset,
                             kernel::mul(kernel::sub(end, first), literal(lanes))},
                            column.scale * lanes,
                            column.divisor});
    }
  }
  return rows_ahead;
}

Block with_rows_ahead(Block work, const std::vector<RowAhead>& ahead, const Iterations& iterations,
                      int columns, const kernel::Symbol& portion) {
  if (ahead.empty()) return work;
  double bytes = 0;  // for each pixel
  for (const RowAhead& a : ahead)
    bytes += static_cast<double>(a.scalars * size_of(a.row.type)) / static_cast<double>(a.pixels);
  const std::int64_t pixels = pixels_of_portion(bytes);
  kernel::For* loop = pixels < columns ? loop_over_pixels(work) : nullptr;
  if (!loop) {
    Block block;
    for (const RowAhead& a : ahead) block.push_back({a.row});
    kernel::append(block, std::move(work));
    return block;
  }
  const Expr length = literal(pixels * iterations.count / iterations.pixels);
  kernel::For portions{kernel::LoopKind::Serial, portion, loop->from, loop->to, {}, length};
  for (const RowAhead& a : ahead) {
    kernel::Prefetch row = a.row;
    const std::int64_t scalars = a.scalars * iterations.pixels, of = a.pixels * iterations.count,
                       common = std::gcd(scalars, of);
    const Expr before =
        kernel::div(kernel::mul(kernel::name(portion), literal(scalars / common)), literal(of / common));
    row.offset = kernel::add(row.offset, before);
    row.count = literal(pixels * a.scalars / a.pixels);
    portions.body.push_back({std::move(row)});
  }
  kernel::For inner = std::move(*loop);
  inner.from = kernel::name(portion);
  inner.to = kernel::min(kernel::add(kernel::name(portion), length), inner.to);
  portions.body.push_back({std::move(inner)});
  *loop = std::move(portions);
  return work;
}

}  // namespace weft::lower
