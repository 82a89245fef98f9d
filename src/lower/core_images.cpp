// Rows of images that a core's tile copies, with what is beyond their ends, or asks memory for.
#include <algorithm>

#include "lower/core_tiles.h"
#include "lower/prefetched.h"
#include "plan/fetch.h"

namespace weft::lower {

namespace {

/// The coordinates of a row, those outside of a source moved inside.
std::vector<Expr> moved_inside(std::vector<Expr> row, const Rows& rows, kernel::IndexOp op) {
  int d = 0;
  for (Expr& at : row) {
    ++d;
    at = kernel::add(kernel::index_call(op, kernel::sub(at, rows.begin(d)), rows.extent(d)), rows.begin(d));
  }
  return row;
}
/// Of a row in memory, the scalar of the pixel at a column.
Expr in_memory_at(const Tile::Source& source, const Rows& rows, const Expr& x) {
  return kernel::mul(kernel::sub(x, rows.begin(0)), literal(source.lanes()));
}

}  // namespace

Block CoreTiles::rows_of_image(const Source& source) {
  Block body;
  clip_columns(body, source, part_);
  if (finds(source)) {
    const kernel::Symbol& copied = edges_ ? edges_->copied : finding_.at(&source).copied;
    body.push_back({If{name(copied, Scalar::Bool), copied_row(source), {}}});
  } else if (source.kept.is_copied())
    kernel::append(body, copied_row(source));
  const bool is_prefetched = fetches_ahead(source) && !comes_with_passes(source);
  if (is_prefetched) body.push_back({prefetched(source, next_row(source), left(), right())});
  if (!is_prefetched && !source.kept.is_copied()) return {};
  return tile_.for_rows(&source.kept, source.kept.border.has_value(), std::move(body));
}

bool CoreTiles::fetches_ahead(const Source& source) const {
  return tile_.plan().fetches_ahead(source.stage.name);
}

bool CoreTiles::comes_with_passes(const Source& source) const {
  return tile_.is_of_volume() ? !source.kept.is_copied() : tile_.plan().fetches_with_passes();
}

std::vector<Expr> CoreTiles::next_row(const Source& source) const {
  std::vector<Expr> next = tile_.row_coords(&source.kept);
  next.front() = kernel::add(next.front(), literal(rows_ahead(tile_, &source.kept)));
  return next;
}

Block CoreTiles::fetch_part_of_rows(const Tile::Stages& pass) const {
  Block block;
  const std::vector<plan::Pass>& passes = tile_.plan().passes;
  const auto number = std::find_if(passes.begin(), passes.end(),
                                   [&](const plan::Pass& p) { return p.back() == pass.back()->name; }) -
                      passes.begin();
  for (const plan::FetchedColumns& part :
       plan::fetched_with(tile_.plan(), static_cast<std::size_t>(number))) {
    const Source& source = *std::find_if(tile_.sources().begin(), tile_.sources().end(),
                                         [&](const Source& s) { return s.stage.name == part.image; });
    const auto column = [&](int columns) {
      return columns == 0 ? left() : kernel::min(kernel::add(left(), literal(columns)), right());
    };
    Block body;
    clip_columns(body, source, part_);
    body.push_back({prefetched(source, next_row(source), column(part.from),
                               part.is_last ? right() : column(part.until))});
    kernel::append(block, tile_.for_rows(&source.kept, source.kept.border.has_value(), std::move(body)));
  }
  return block;
}

void CoreTiles::fetch_next_planes(Block& block, const Tile::Stages& pass, const Expr& row) const {
  if (pass.back()->name != tile_.plan().passes.front().back()) return;
  for (const Source& source : tile_.sources()) {
    if (source.kept.is_member || !comes_with_passes(source) || !fetches_ahead(source)) continue;
    const Expr plane = tile_.row_at(tile_.batch_row(), source.kept.rate[1]);
    block.push_back(
        {prefetched(source, {row, kernel::add(plane, literal(source.kept.ahead + 1))}, left(), right())});
  }
}

kernel::Prefetch CoreTiles::prefetched(const Source& source, std::vector<Expr> coords, const Expr& from,
                                       const Expr& until) const {
  const Rows rows = all_of(source);
  const Expr row =
      rows.row_offset(array_of(source.stage), moved_inside(std::move(coords), rows, kernel::IndexOp::Clamp));
  return {array_of(source.stage).name, source.stage.type.scalar,
          kernel::add(row, in_memory_at(source, rows, from)),
          kernel::mul(kernel::sub(until, from), literal(source.lanes()))};
}

Block CoreTiles::copied_row(const Source& source) {
  const std::optional<plan::BorderRule>& border = source.kept.border;
  const Scalar type = source.stage.type.scalar;
  const ArrayLayout& array = array_of(source.stage);
  const int lanes = source.lanes();
  const bool is_constant = source.is_constant_outside();
  const Rows rows = all_of(source);
  const bool is_found = border && !is_constant;  // by the border, in whatever row
  std::vector<Expr> row = tile_.row_coords(&source.kept);
  if (is_found) row = moved_inside(std::move(row), rows, index_op(border->mode));
  Block copies;
  const kernel::Symbol from = tile_.layout().names.claim(array.name.spelling() + "_row");
  copies.push_back({kernel::Pointer{from, array.name, type, rows.row_offset(array, row)}});
  const bool apart = source.kept.lane_pitch != 1;
  const auto copy_from = [&](const Expr& begin, const Expr& end) {
    Block copy;
    for (int l = 0; l < (apart ? lanes : 1); ++l) {
      const Expr scalar =
          kernel::add(kernel::mul(name(variables().i), literal(apart ? lanes : 1)), literal(l));
      copy.push_back(
          {kernel::Store{row_name(source), kernel::add(name(variables().i), at(source, begin, l)),
                         kernel::load(from, type, kernel::add(scalar, in_memory_at(source, rows, begin)))}});
    }
    const Expr count = kernel::mul(kernel::sub(end, begin), literal(apart ? 1 : lanes));
    copies.push_back({For{LoopKind::Vector, variables().i, literal(0), count, std::move(copy)}});
  };
  if (edges_ && finds(source)) {  // what is read at both ends
    const plan::Reach& x = source.kept.x();
    const Expr until = kernel::add(name(edges_->left), literal(x.max));
    const Expr again = kernel::add(name(edges_->right), literal(x.min));
    const kernel::Symbol left_end = tile_.layout().names.local("left_end"),
                         right_begin = tile_.layout().names.local("right_begin");
    copies.push_back({Let{left_end, kernel::min(right(), kernel::max(left(), until))}});
    copies.push_back({Let{right_begin, kernel::min(right(), kernel::max(name(left_end), again))}});
    copy_from(left(), name(left_end));
    copy_from(name(right_begin), right());
  } else {
    copy_from(left(), right());
  }
  if (border) {
    beyond_columns(copies, source, part_, row_name(source), [&](const Expr& x, int lane) {
      return kernel::load(from, type, kernel::add(in_memory_at(source, rows, x), literal(lane)));
    });
  }
  if (is_constant) {
    Block constants = constant_row(source);
    const If either = inside_or_constant(source, std::move(copies), std::move(constants));
    copies = {{either}};
  }
  copies.insert(copies.begin(), current_row(source));
  return copies;
}

void CoreTiles::beyond_columns(Block& block, const Source& source, const Ends& ends, const kernel::Symbol& to,
                               const std::function<Expr(const Expr&, int)>& pixel) {
  const plan::BorderRule& border = *source.kept.border;
  const Rows rows = all_of(source);
  const auto fill = [&](const Expr& from, const Expr& until) {
    Block body;
    const Expr x = name(rows_.coordinate(0));
    std::vector<Expr> values;
    if (border.mode == ir::BorderMode::Constant) {
      values = border_lanes(border, body);
    } else {
      const Expr inside =
          kernel::index_call(index_op(border.mode), kernel::sub(x, rows.begin(0)), rows.extent(0));
      const Expr found = kernel::add(inside, rows.begin(0));
      for (int l = 0; l < source.lanes(); ++l) values.push_back(pixel(found, l));
    }
    for (int l = 0; l < source.lanes(); ++l) {
      body.push_back({kernel::Store{to, at(source, x, l), values[l]}});
    }
    block.push_back({For{LoopKind::Serial, rows_.coordinate(0), from, until, std::move(body)}});
  };
  const plan::Reach &x = source.kept.x(), &outside = source.kept.outside[0];
  if (outside.min > 0) {
    const Expr from = kernel::add(begin_of(source), literal(x.min));
    fill(kernel::max(from, kernel::sub(rows.begin(0), literal(outside.min))), name(ends.left));
  }
  if (outside.max > 0) {
    const Expr until = kernel::add(end_of(source), literal(x.max));
    fill(name(ends.right), kernel::min(until, kernel::add(rows.end(0), literal(outside.max))));
  }
}

Block CoreTiles::constant_row(const Source& source) {
  Block block, body;
  const std::vector<Expr> values = border_lanes(*source.kept.border, block);
  for (int l = 0; l < source.lanes(); ++l)
    body.push_back(
        {kernel::Store{row_name(source),
                       kernel::add(kernel::mul(name(variables().i),
                                               literal(pixel_pitch(source.lanes(), source.kept.lane_pitch))),
                                   literal(l * source.kept.lane_pitch)),
                       values[l]}});
  block.push_back(
      {For{LoopKind::Vector, variables().i, literal(0), literal(columns_of(source)), std::move(body)}});
  return block;
}

std::vector<Expr> CoreTiles::border_lanes(const plan::BorderRule& border, Block& block) {
  ExpressionLowering expressions = tile_.expressions(result_, Place::Interior, rows_.coords());
  expressions.open(block);
  Lanes lanes = expressions.lower(border.constant);
  expressions.close();
  return lanes;
}
}  // namespace weft::lower
