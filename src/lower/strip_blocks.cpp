#include "lower/strip_blocks.h"

#include <array>
#include <utility>

#include "lower/lane_code.h"
#include "lower/words.h"
#include "plan/warp_strip.h"

namespace weft::lower {

StripBlocks::StripBlocks(const Tile& tile, const kernel::Symbol& next, Expr room)
    : tile_(tile),
      next_(next),
      room_(std::move(room)),
      rows_(tile.rows()),
      has_halves_(plan::halves_ends(tile.plan())) {}

/// Side by side, from where the result begins.
Expr StripBlocks::strips() const { return parts(rows_.extent(0), literal(tile_.width())); }
Expr StripBlocks::of_halves() const { return plan::columns_of_halves(tile_.plan(), strips()); }
Expr StripBlocks::columns() const { return kernel::add(strips(), of_halves()); }
/// Of columns of blocks, each as wide as a strip.
Expr StripBlocks::end() const {
  return kernel::add(rows_.end(0), kernel::mul(of_halves(), literal(tile_.width())));
}
/// Of a volume all tiles of a plane.
Expr StripBlocks::side_by_side() const { return kernel::mul(columns(), tile_.layers_of_tiles()); }
Expr StripBlocks::last_strip() const {
  const Expr before_end = kernel::sub(rows_.extent(0), literal(1));
  const Expr rest = kernel::binary(BinaryOp::Rem, before_end, literal(tile_.width()));
  return kernel::add(rows_.begin(0), kernel::sub(before_end, rest));
}

Expr StripBlocks::height() const {
  return tile_.height(
      side_by_side(), nullptr, [](const Expr& rows) { return rows; }, room_);
}

kernel::Grid StripBlocks::grid() const {
  const auto bands_of = [&](const Expr& rows) { return parts(tile_.steps().extent(tile_.down()), rows); };
  const Expr bands = tile_.height(side_by_side(), nullptr, bands_of, room_);
  const std::array<Expr, 3> of_image{columns(), bands, literal(1)},
      of_volume{columns(), tile_.layers_of_tiles(), bands};
  return {
      tile_.is_of_volume() ? of_volume : of_image, {1, 1, 1}, kernel::Sharing::Lanes, plan::lanes_of_warp};
}

For StripBlocks::across(Block strip) const {
  return {LoopKind::BlocksX,      next_,      rows_.begin(0), end(), std::move(strip),
          literal(tile_.width()), has_halves_};
}

For StripBlocks::down(Block& strip, const Expr& height, Block work) const {
  return has_halves_ ? with_halves(strip, height, std::move(work)) : whole(strip, height, std::move(work));
}

/// Where all tiles are as high. The last strip comes before the first.
For StripBlocks::whole(Block& strip, const Expr& height, Block work) const {
  const int down = tile_.down();
  const Expr next = name(next_), begin = rows_.begin(0), first = name(tile_.from(down));
  const Expr before = kernel::sub(next, literal(tile_.width()));
  strip.push_back({Let{tile_.from(0), kernel::select(equal(next, begin), last_strip(), before)}});
  const Expr end = tile_.steps().whole(rows_.end(down), down);
  Block tile{{Let{tile_.until(down), kernel::min(kernel::add(first, height), end)}}};
  kernel::append(tile, std::move(work));
  const LoopKind kind = tile_.is_of_volume() ? LoopKind::BlocksZ : LoopKind::BlocksY;
  For along{kind, tile_.from(down), tile_.steps().origin(down), rows_.end(down), std::move(tile), height};
  if (!tile_.is_of_volume()) return along;
  const Expr lines = literal(tile_.plan().lines());
  Block layer{{Let{tile_.until(1), kernel::min(kernel::add(name(tile_.from(1)), lines), rows_.end(1))}}};
  layer.push_back({std::move(along)});
  return {LoopKind::BlocksY, tile_.from(1), rows_.begin(1), rows_.end(1), std::move(layer), lines};
}

For StripBlocks::with_halves(Block& strip, const Expr& height, Block work) const {
  kernel::Names& names = tile_.layout().names;
  const int down = tile_.down();
  const std::int64_t width = tile_.width();
  const Expr next = name(next_), begin = rows_.begin(0), first = name(tile_.from(down));
  const auto is_before = [&](std::int64_t columns) {
    return less(next, kernel::add(begin, literal(columns * width)));
  };
  const kernel::Symbol is_end_of = names.local("is_end"), rows_of = names.local("strip_rows"),
                       band_of = names.local("band");
  const Expr is_end = name(is_end_of, Scalar::Bool), rows = name(rows_of), band = name(band_of);
  strip.push_back({Let{is_end_of, is_before(4)}});
  const Expr other = kernel::select(is_end, begin, kernel::sub(next, literal(3 * width)));
  strip.push_back({Let{tile_.from(0), kernel::select(is_before(2), last_strip(), other)}});
  const Expr half = plan::half_of(tile_.plan().height(), height);
  strip.push_back({Let{rows_of, kernel::select(is_end, half, height)}});

  const Expr column = kernel::div(kernel::sub(next, begin), literal(width));
  const Expr is_odd = kernel::binary(BinaryOp::And, column, literal(1));
  const Expr number = kernel::select(is_end, kernel::add(kernel::mul(band, literal(2)), is_odd), band);
  const Expr last = tile_.steps().whole(rows_.end(down), down);
  const Expr from = kernel::add(tile_.steps().origin(down), kernel::mul(number, rows));
  Block inside{{Let{tile_.until(down), kernel::min(kernel::add(first, rows), last)}}};
  kernel::append(inside, std::move(work));
  // There is one block of each, and loops would take registers. A grid has a block for results without pixels, too.
  const Expr has_column = less(next, end()), has_rows = less(first, rows_.end(down));
  Block tile{{Let{tile_.from(down), kernel::min(from, last)}}};
  tile.push_back({If{kernel::both(has_column, has_rows), std::move(inside), {}}});
  const Expr bands = parts(tile_.steps().extent(down), height);
  return {LoopKind::BlocksY, band_of, literal(0), bands, std::move(tile), {}, true};
}

}  // namespace weft::lower
