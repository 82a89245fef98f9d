// Rows of images that a core's tile copies, with what is beyond their ends, or asks memory for.
#include <algorithm>
#include <array>

#include "ir/visit.h"
#include "lower/core_tiles.h"
#include "lower/prefetched.h"

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
  std::vector<RowAhead> ahead;
  if (fetches_ahead(source) && !comes_with_pass(source))
    ahead.push_back({prefetched(source, next_row(source), left(), right()), source.lanes(), 1});
  if (ahead.empty() && !source.kept.is_copied()) return {};
  if (source.kept.is_copied() && !finds(source)) {
    kernel::append(body, copied_row(source, ahead));
  } else {
    if (finds(source)) {
      const kernel::Symbol& copied = edges_ ? edges_->copied : finding_.at(&source).copied;
      body.push_back({If{name(copied, Scalar::Bool), copied_row(source, {}), {}}});
    }
    for (const RowAhead& row : ahead) body.push_back({row.row});
  }
  return tile_.for_rows(&source.kept, source.kept.border.has_value(), std::move(body));
}

bool CoreTiles::fetches_ahead(const Source& source) const {
  return tile_.plan().fetches_ahead(source.stage.name);
}

bool CoreTiles::comes_with_pass(const Source& source) const {
  if (tile_.is_of_volume()) return !source.kept.is_copied();
  const bool is_copied = source.kept.is_copied() && !finds(source);
  return !tile_.is_static() && !tile_.plan().parts && !is_copied && first_reader(source);
}

const plan::Pass* CoreTiles::first_reader(const Source& source) const {
  const auto reads = [&](const ir::Stage* stage) {
    const std::vector<ir::Expr> all = ir::reads(*stage);
    return std::any_of(all.begin(), all.end(), [&](const ir::Expr& e) {
      return std::get<ir::Read>(e->op).source->name == source.stage.name;
    });
  };
  for (const plan::Pass& pass : tile_.plan().passes) {
    const Tile::Stages stages = tile_.members_of(pass);
    if (std::any_of(stages.begin(), stages.end(), reads)) return &pass;
  }
  return nullptr;
}

std::vector<Expr> CoreTiles::next_row(const Source& source) const {
  std::vector<Expr> next = tile_.row_coords(&source.kept);
  next.front() = kernel::add(next.front(), literal(rows_ahead(tile_, &source.kept)));
  return next;
}

std::vector<RowAhead> CoreTiles::rows_of_images_ahead(const Tile::Stages& pass, const Expr& row,
                                                      int rows) const {
  const Source* of_pass = tile_.source(*pass.front());
  const plan::Kept* computed = of_pass ? &of_pass->kept : nullptr;
  const std::array<int, 2> own = computed ? computed->rate : tile_.plan().step;
  const std::int64_t own_first = computed ? computed->x().min : 0;
  const auto at_rate_of = [](const Expr& distance, int rate, int of) {
    return rate >= of ? kernel::mul(distance, literal(rate / of)) : kernel::div(distance, literal(of / rate));
  };
  std::vector<RowAhead> ahead;
  for (const Source& source : tile_.sources()) {
    if (source.kept.is_member || !fetches_ahead(source) || !comes_with_pass(source)) continue;
    if (first_reader(source)->back() != pass.back()->name) continue;
    const std::array<int, 2>& rate = source.kept.rate;
    const Rows all = all_of(source);
    // The columns and rows that the tile needs of the image, as far on as the pass is in those that it computes.
    const auto column = [&](const Expr& x) {
      const std::int64_t first = source.kept.x().min;
      if (rate[0] == own[0]) return kernel::add(x, literal(first - own_first));
      const Expr from_own = kernel::sub(x, kernel::add(tile_.begin(own[0]), literal(own_first)));
      return kernel::add(kernel::add(begin_of(source), literal(first)),
                         at_rate_of(from_own, rate[0], own[0]));
    };
    const Expr from = kernel::max(column(left()), all.begin(0));
    const Expr until =
        kernel::min(kernel::add(column(right()), literal(source.kept.x().extent() - 1)), all.end(0));
    const Expr in_batch = kernel::sub(row, literal(computed ? computed->ahead : 0));
    const Expr first_row = kernel::add(at_rate_of(in_batch, rate[1], own[1]),
                                       literal(source.kept.ahead + rows_ahead(tile_, &source.kept)));
    for (int k = 0; k < std::max(rows * rate[1] / own[1], 1); ++k)
      ahead.push_back({prefetched(source, {kernel::add(first_row, literal(k))}, from, until),
                       source.lanes() * rate[0], own[0]});
  }
  return ahead;
}

void CoreTiles::fetch_next_planes(Block& block, const Tile::Stages& pass, const Expr& row, int planes) const {
  if (pass.back()->name != tile_.plan().passes.front().back()) return;
  for (const Source& source : tile_.sources()) {
    if (source.kept.is_member || !comes_with_pass(source) || !fetches_ahead(source)) continue;
    const Expr plane = tile_.row_at(tile_.batch_row(), source.kept.rate[1]);
    for (int next = 0; next < planes; ++next) {
      const Expr ahead = kernel::add(plane, literal(source.kept.ahead + planes + next));
      block.push_back({prefetched(source, {row, ahead}, left(), right())});
    }
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

Block CoreTiles::copied_row(const Source& source, const std::vector<RowAhead>& ahead) {
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
    const Iterations iterations{apart ? 1 : lanes, 1};
    copies = with_rows_ahead(std::move(copies), ahead, iterations, columns_of(source), portion_of_row());
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
