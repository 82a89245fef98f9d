// Rows of the stages of a pass, which a core's tile computes by one loop along them.
#include <algorithm>
#include <bit>

#include "kernel/share_loads.h"
#include "lower/core_tiles.h"
#include "lower/lower_stage.h"
#include "lower/phase_loop.h"
#include "lower/prefetched.h"

namespace weft::lower {

namespace {

/// The coordinates of the row `below` rows under another.
std::vector<Expr> at_row(std::vector<Expr> row, int below) {
  row.back() = kernel::add(row.back(), literal(below));
  return row;
}

/// for the pixels of a row:  each lane to the other row. In one of the two rows lanes lie apart.
For moved_lanes(const StripTarget& from, const StripTarget& to, Type type, const kernel::Symbol& i,
                const Expr& count) {
  Block body;
  for (int l = 0; l < type.lanes; ++l) {
    const Expr lane =
        kernel::load(from.array, type.scalar, kernel::add(from.offset, literal(l * from.lane_pitch)));
    body.push_back({kernel::Store{to.array, kernel::add(to.offset, literal(l * to.lane_pitch)), lane}});
  }
  return {LoopKind::Vector, i, literal(0), count, std::move(body)};
}

/// GCC 12 thinks that loading again costs nothing, and does so with what rows have in common, unless stores between could
/// have changed it. So they are hidden where pointers point.
void make_opaque(Block& pointers) {
  for (kernel::Stmt& statement : pointers) {
    if (auto* pointer = std::get_if<kernel::Pointer>(&statement.op)) pointer->is_opaque = true;
  }
}

/// Of the loop of a pass: 1 unless one loop over pixels is all that it takes.
int phases_of_pass(ExpressionLowering& expressions, const Tile::Stages& pass, int most) {
  int phases = 1;
  for (const ir::Stage* stage : pass) {
    if (!is_one_loop(expressions, *stage)) return 1;
    phases = std::max(phases, phase_count(*stage, most));
  }
  return phases;
}

}  // namespace

Block CoreTiles::rows_of_pass(const Tile::Stages& pass) {
  const bool is_of_result = pass.back() == &result_;
  const Source* source = is_of_result ? nullptr : tile_.source(*pass.front());
  const plan::Kept* kept = source ? &source->kept : nullptr;
  const std::set<const ir::Stage*> fetched = fetched_;
  const auto computed = [&](const RowsTogether& rows) {
    Block body = is_of_result ? columns_of_result() : Block{};
    if (source) clip_columns(body, *source, ends_of_row());
    fetched_ = fetched;
    compute(body, pass, tile_.row_coords(kept), source ? columns_of(*source) : tile_.width(), rows);
    return body;
  };
  Block body = computed({}), constants;
  for (const ir::Stage* stage : pass) {
    const Source* of_stage = tile_.source(*stage);
    if (!of_stage || !of_stage->is_constant_outside()) continue;
    constants.push_back(current_row(*of_stage));
    kernel::append(constants, constant_row(*of_stage));
  }
  const bool has_constants = !constants.empty();
  if (has_constants) body = {{inside_or_constant(*source, std::move(body), std::move(constants))}};
  Tile::Together together;
  const bool has_constant_lines = has_constants && tile_.is_of_volume();  // beside those that are computed
  if (const RowsTogether rows = rows_together(pass, source); rows.count > 1 && !has_constant_lines)
    together = {computed(rows), where_together(pass, source, rows.count)};
  if (shared_columns_ && is_of_result && !together.work.empty()) {
    in_vectors_ = true;
    Block in_vectors = computed(rows_together(pass, source));
    in_vectors_ = false;
    together.work = {{kernel::IfVectors{shared_columns_->in_vectors, nullptr, std::move(in_vectors),
                                        std::move(together.work)}}};
  }
  Block all_rows = tile_.for_rows(kept, has_constants, std::move(body), std::move(together));
  if (!shared_columns_ || pass != shared_columns_->pass) return all_rows;
  return {{kernel::IfVectors{shared_columns_->in_vectors, where_in_vectors(), {}, std::move(all_rows)}}};
}

RowsTogether CoreTiles::rows_together(const Tile::Stages& pass, const Source* source) const {
  const int planned = tile_.plan().rows_of_pass();
  const int in_batch =
      source && !tile_.is_static() && !tile_.is_of_volume() ? tile_.rows_of_batch(&source->kept) : 1;
  if (planned == 1 && (in_batch == 1 || in_batch > plan::most_rows_of_pass)) return {};
  const Tile::PassLanes lanes = tile_.lanes_of(pass);
  ExpressionLowering expressions = tile_.expressions(lanes.front()->stage(), Place::Row, rows_.coords());
  int phases_down = 1;
  for (const auto& stage : lanes) {
    const bool is_simple = cases_of(stage->stage()).size() == 1
                               ? is_one_loop(expressions, stage->stage())
                               : pass.size() == 1 && box_of_first_case(stage->stage());
    if (!is_simple || phase_count(stage->stage(), tile_.plan().code.phases) > 1) return {};
    phases_down = std::max(phases_down, phase_count(stage->stage(), in_batch, 1));
  }
  if (planned > 1) return {planned, {1, 0}};
  const bool is_moved =
      lanes.front()->per_pixel() > 1 && source->kept.lane_pitch != 1;  // from a row of flat lanes
  if (phases_down == 1 || is_moved) return {};
  return {in_batch, {in_batch, (source->kept.ahead % in_batch + in_batch) % in_batch}};
}

Expr CoreTiles::where_together(const Tile::Stages& pass, const Source* source, int rows) const {
  const Tile::PassLanes lanes = tile_.lanes_of(pass);
  const ir::Stage& stage = lanes.front()->stage();
  const auto box = box_of_first_case(stage);
  if (!box) return nullptr;
  std::vector<Expr> coords{name(tile_.from(0))};
  for (int d = 1; d < tile_.down(); ++d) coords.push_back(name(tile_.from(d)));
  coords.push_back(tile_.first_of_batch(source ? &source->kept : nullptr));
  return inside_along(tile_.down(), tile_.expressions(stage, Place::Row, std::move(coords)), *box, rows);
}

Block CoreTiles::rows_of_reduction(const TileReduction& reduction, const PartOf& part_of) {
  const Expr x = reduction.parts.column(), row = name(rows_.coordinate(1));
  ExpressionLowering expressions = tile_.expressions(result_, Place::Row, {x, row});
  expressions.keep_rows(all_kept_rows(), left(), kernel::sub(x, left()));
  Block elements = columns_of_result();
  reduction.parts.row(expressions, reduction.accumulators, left(), right(), elements);
  return tile_.for_rows(nullptr, false, part_of(row, 1, std::move(elements)));
}

// Steps may begin and end beyond the result.
Expr CoreTiles::first_stored(int d) const {
  const Expr from = name(tile_.from(d));
  return steps_[d] > 1 ? kernel::max(from, rows_.begin(d)) : from;
}
Expr CoreTiles::end_of_stored(int d) const {
  const Expr until = name(tile_.until(d));
  return steps_[d] > 1 ? kernel::min(until, rows_.end(d)) : until;
}

Block CoreTiles::columns_of_result() const {
  const Ends& ends = ends_of_row();
  return {{Let{ends.left, first_stored(0)}}, {Let{ends.right, end_of_stored(0)}}};
}

std::vector<RowAhead> CoreTiles::rows_ahead_of(const Tile::Stages& pass, const std::vector<Expr>& row,
                                               int rows) {
  if (tile_.is_of_volume()) return {};
  const Source* of_pass = tile_.source(*pass.front());
  const int distance = rows_ahead(tile_, of_pass ? &of_pass->kept : nullptr);
  std::vector<RowAhead> ahead = rows_of_images_ahead(pass, row.back(), rows);
  const std::set<const ir::Stage*> fetched = fetched_;
  for (int below = 0; below < rows; ++below) {
    fetched_ = fetched;
    for (RowAhead& read :
         rows_read_ahead(tile_, pass, left(), right(), at_row(row, below).front(), distance, fetched_))
      ahead.push_back(std::move(read));
  }
  return ahead;
}

void CoreTiles::compute(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row, int columns,
                        const RowsTogether& together) {
  const Ends& ends = ends_of_row();
  if (tile_.is_of_volume() && !edges_) fetch_next_planes(block, pass, row.front(), together.count);
  Block work;
  compute_part(work, pass, row, columns, together);
  if (edges_)
    kernel::append(block, in_parts(name(ends.left), name(ends.right), std::move(work)));
  else
    kernel::append(block, std::move(work));
  for (int below = 0; below < together.count; ++below) {
    for (const ir::Stage* stage : pass) {
      const Source* source = tile_.source(*stage);
      if (!source) continue;
      const kernel::Symbol& kept = row_name(*source, below);
      if (edges_ && (source->kept.is_stored || source->kept.border_mode()))
        block.push_back(current_row(*source, below));
      if (source->kept.is_stored) block.push_back({stored_row(*source, at_row(row, below), kept)});
      if (!source->kept.border_mode()) continue;
      beyond_columns(block, *source, ends, kept, [&](const Expr& x, int lane) {
        return kernel::load(kept, stage->type.scalar, at(*source, x, lane));
      });
    }
  }
}

If CoreTiles::stored_row(const Source& source, const std::vector<Expr>& row,
                         const kernel::Symbol& kept_row) const {
  const ArrayLayout& array = array_of(source.stage);
  Expr is_own;
  for (int d = 1; d <= tile_.down(); ++d) {
    is_own = kernel::both(is_own, kernel::both(kernel::binary(BinaryOp::Le, first_stored(d), row[d - 1]),
                                               kernel::binary(BinaryOp::Lt, row[d - 1], end_of_stored(d))));
  }
  const int lanes = source.lanes();
  const Expr i = name(variables().i), left = first_stored(0), columns = kernel::sub(end_of_stored(0), left);
  const Expr to = kernel::add(rows_.row_offset(array, row), rows_.x_offset(left, array));
  const auto& [from, target] = stored_.at(&source);
  Block body{{kernel::Pointer{from, kept_row, source.kept.type.scalar, at(source, left)}}};
  const bool is_apart = source.kept.lane_pitch != 1;
  Block plain{{kernel::Pointer{target, array.name, source.kept.type.scalar, to, false}}}, copy;
  for (int l = 0; l < (is_apart ? lanes : 1); ++l) {
    const Expr scalar = kernel::add(kernel::mul(i, literal(is_apart ? lanes : 1)), literal(l));
    const Expr kept = is_apart ? kernel::add(i, literal(l * source.kept.lane_pitch)) : i;
    copy.push_back({kernel::Store{target, scalar, kernel::load(from, source.kept.type.scalar, kept)}});
  }
  const Expr scalars = kernel::mul(columns, literal(lanes));
  plain.push_back(
      {For{LoopKind::Vector, variables().i, literal(0), is_apart ? columns : scalars, std::move(copy)}});
  if (is_apart) {
    kernel::append(body, std::move(plain));
  } else {
    const kernel::StorePastCaches past{array.name, source.kept.type.scalar, to, from, scalars};
    body.push_back({If{name(past_caches_, Scalar::Bool), {{past}}, std::move(plain)}});
  }
  return {is_own, std::move(body), {}};
}

void CoreTiles::compute_part(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row,
                             int columns, const RowsTogether& together) {
  const int rows = together.count;
  const Tile::PassLanes lanes = tile_.lanes_of(pass);
  const Expr per_pixel = literal(lanes.front()->per_pixel()), i = name(variables().i);
  const Expr begin = kernel::mul(left(), per_pixel), length = kernel::mul(count(), per_pixel);
  ExpressionLowering expressions =
      tile_.expressions(lanes.front()->stage(), Place::Row, coords_of(kernel::add(begin, i), row));
  if (pass.size() > 1) expressions.share_with({pass.begin() + 1, pass.end()});
  Tile::RowsOf kept_rows =
      tile_.rows_of(lanes, [&](const Source& source) { return shared_rows_of(source, row.back()); });

  const int phases = phases_of_pass(expressions, pass, tile_.plan().code.phases);
  if (phases > 1 && tile_.reads_lanes_apart(*pass.front()) && rewrite::reads_lanes_at_pixels(*pass.front())) {
    if (const auto parts = rewrite::between_pixels(*pass.front(), tile_.names()))
      return compute_between(block, *pass.front(), *parts, row, columns, phases);
  }
  std::vector<StripTarget> targets;
  for (int below = 0; below < rows; ++below) {
    for (std::size_t m = 0; m < pass.size(); ++m)
      targets.push_back(
          target_of(*pass[m], lanes[m]->stage(), expressions, at_row(row, below), below, block));
  }
  if (rows > 1) make_opaque(block);
  // Rows that vectors cannot be stored to as they are computed: pixels of phases to pixels of uneven lanes, and flat lanes
  // to lanes that lie apart.
  const StripTarget last = targets.back();
  const Type type = pass.back()->type;
  const bool by_lanes =
      phases > 1 && type.lanes > 1 && tile_.reads_lanes_apart(*pass.back()) && last.lane_pitch == 1;
  const bool by_pixels = lanes.front()->per_pixel() > 1 && last.lane_pitch != 1;
  if (by_lanes || by_pixels) {
    targets.back() = {
        last.stage,
        expressions.claim(array_of(*pass.back()).name.spelling() + (by_lanes ? "_lanes" : "_line")), i,
        by_lanes ? columns : 1};
    block.push_back({kernel::LocalArray{targets.back().array, type.scalar, columns * type.lanes}});
  }
  const Strip strip{begin, length, columns * lanes.front()->per_pixel()};
  Block pointers, work;
  if (rows > 1) {
    store_rows(expressions, std::move(kept_rows), pass, targets, row, together, strip, pointers, work);
  } else if (phases > 1) {
    std::vector<Expr> first;
    for (const ir::Stage* stage : pass) first.push_back(first_scalar(*stage));
    if (by_lanes) first.back() = literal(0);
    store_by_phases(expressions, std::move(kept_rows), targets, first, row, phases, pointers, work);
  } else {
    expressions.keep_rows(std::move(kept_rows), left());
    store_strip(expressions, targets, strip, pointers, work);
  }
  const Iterations iterations =
      phases > 1 ? Iterations{1, phases} : Iterations{lanes.front()->per_pixel(), 1};
  kernel::append(block, std::move(pointers));
  kernel::append(block, with_rows_ahead(std::move(work), rows_ahead_of(pass, row, rows), iterations, columns,
                                        portion_of_row()));
  if (by_lanes) block.push_back({moved_lanes(targets.back(), last, type, variables().i, count())});
  if (by_pixels) {
    const Expr pixel = kernel::mul(i, literal(type.lanes));
    const Expr kept = kernel::add(i, first_scalar(*pass.back()));
    block.push_back(
        {moved_lanes({nullptr, targets.back().array, pixel, 1}, {nullptr, last.array, kept, last.lane_pitch},
                     type, variables().i, count())});
  }
  if (pass.back() == &result_) store_lines(block, row, rows);
}

void CoreTiles::compute_between(Block& block, const ir::Stage& stage, const rewrite::BetweenPixels& parts,
                                const std::vector<Expr>& row, int columns, int phases) {
  const Expr i = name(variables().i);
  const std::vector<Expr> coords = coords_of(kernel::add(left(), i), row);
  Tile::RowsOf rows = all_kept_rows();
  ExpressionLowering between = tile_.expressions(*parts.between.front(), Place::Row, coords);
  std::vector<StripTarget> targets;
  Tile::RowsOf rows_of_rest = rows;
  Tile::Stages others;
  for (const ir::StagePtr& part : parts.between) {
    const kernel::Symbol array = between.claim(part->name);
    block.push_back({kernel::LocalArray{array, part->type.scalar, columns * part->type.lanes}});
    targets.push_back({part.get(), array, i, columns});
    const auto from_left = [from = left()](const Expr& x) { return kernel::sub(x, from); };
    rows_of_rest[part.get()] = {array, [](const std::vector<Expr>&) { return literal(0); }, from_left, false,
                                columns};
    tile_.layout().arrays[part.get()] = {array, part->type, {}, part->box};
    if (part != parts.between.front()) others.push_back(part.get());
  }
  if (!others.empty()) between.share_with(others);
  ExpressionLowering rest = tile_.expressions(parts.rest, Place::Row, coords, &parts.names);
  Block pointers, work;
  store_by_phases(between, std::move(rows), targets, std::vector<Expr>(targets.size(), literal(0)), row,
                  phases, pointers, work);
  kernel::append(block, std::move(pointers));
  kernel::append(block, std::move(work));
  pointers.clear(), work.clear();
  rest.avoid_names_of(between);
  rest.keep_rows(std::move(rows_of_rest), left());
  const StripTarget target = target_of(stage, parts.rest, rest, row, 0, block);
  store_strip(rest, {target}, {left(), count(), columns}, pointers, work);
  kernel::append(block, std::move(pointers));
  kernel::append(block, with_rows_ahead(std::move(work), rows_ahead_of({&stage}, row, 1), {}, columns,
                                        portion_of_row()));
  for (const ir::StagePtr& part : parts.between) tile_.layout().arrays.erase(part.get());
  if (&stage == &result_) store_lines(block, row, 1);
}

void CoreTiles::store_lines(Block& block, const std::vector<Expr>& row, int rows) const {
  Block stores;
  for (int below = 0; below < rows; ++below)
    stores.push_back(
        {kernel::StorePastCaches{array_.name, result_.type.scalar, memory_of(at_row(row, below)),
                                 lines_[below].name, kernel::mul(count(), literal(result_.type.lanes))}});
  block.push_back({If{name(past_caches_, Scalar::Bool), std::move(stores), {}}});
}

Expr CoreTiles::first_scalar(const ir::Stage& stage) const {
  return &stage == &result_ ? literal(0) : at(*tile_.source(stage), left());
}

void CoreTiles::store_by_phases(ExpressionLowering& single, Tile::RowsOf kept_rows,
                                const std::vector<StripTarget>& targets, const std::vector<Expr>& first,
                                const std::vector<Expr>& row, int count, Block& pointers, Block& work) {
  const Expr i = name(variables().i), mask = literal(-count);
  const Expr shift = literal(std::countr_zero(static_cast<unsigned>(count)));
  const auto whole = [&](const Expr& x) { return kernel::binary(BinaryOp::Shr, x, shift); };
  const Expr up = kernel::binary(BinaryOp::And, kernel::add(left(), literal(count - 1)), mask);
  const kernel::Names& locals = tile_.layout().names;
  const kernel::Symbol whole_left = locals.local("whole_left"), whole_right = locals.local("whole_right"),
                       first_whole = locals.local("whole");
  pointers.push_back({Let{whole_left, kernel::min(up, right())}});
  const Expr down = kernel::binary(BinaryOp::And, right(), mask);
  pointers.push_back({Let{whole_right, kernel::max(name(whole_left), down)}});
  const Expr begin = kernel::sub(name(whole_left), left());
  const Expr end = kernel::sub(name(whole_right), left());

  std::vector<Phases> phases;
  for (const StripTarget& target : targets)
    phases.push_back(phases_of(*target.stage, count, tile_.names(), tile_.strict()));
  pointers.push_back({Let{first_whole, whole(name(whole_left))}});
  PhaseLoop loop(tile_.context(), Place::Row, std::move(phases), coords_of(nullptr, row), name(first_whole));
  ExpressionLowering& together = loop.expressions();
  together.keep_rows(kept_rows, name(first_whole));
  together.avoid_names_of(single);
  together.open(work, &pointers);
  work.push_back({loop.pixels(
      literal(0), kernel::sub(name(whole_right), name(whole_left)), [&](std::size_t m, const Expr& x) {
        StripTarget target = targets[m];
        const std::int64_t pitch = pixel_pitch(target.stage->type.lanes, target.lane_pitch);
        target.offset = kernel::add(kernel::mul(kernel::add(x, begin), literal(pitch)), first[m]);
        return target;
      })});
  together.close();

  single.avoid_names_of(together);
  single.keep_rows(std::move(kept_rows), left());
  const auto edge = [&](const Expr& from, const Expr& until) {
    For pixel{LoopKind::Scalar, variables().i, from, until, {}};
    single.open(pixel.body, &pixel.body);
    for (const StripTarget& target : targets)
      store_pixel(single, pixel.body, cases_of(*target.stage), target.array, target.offset,
                  target.lane_pitch);
    single.close();
    work.push_back({std::move(pixel)});
  };
  edge(literal(0), begin);
  edge(end, kernel::sub(right(), left()));
}

void CoreTiles::store_rows(const ExpressionLowering& single, Tile::RowsOf kept_rows, const Tile::Stages& pass,
                           const std::vector<StripTarget>& targets, const std::vector<Expr>& row,
                           const RowsTogether& together, const Strip& strip, Block& pointers, Block& work) {
  std::vector<const ir::Stage*> stages, others;
  for (std::size_t m = 0; m < pass.size(); ++m) stages.push_back(targets[m].stage);
  Tile::Names names = tile_.names();
  const std::vector<std::vector<ir::Stage>> rows = rows_below(stages, together, names, tile_.strict());
  for (const auto& of_row : rows) {
    for (const ir::Stage& stage : of_row) others.push_back(&stage);
  }
  const ir::Stage& first = *others.front();
  others.erase(others.begin());
  std::vector<Expr> step = row;  // the number of that which the rows are in
  if (const auto [rate, of_first] = together.first; rate > 1) {
    const Expr shift = literal(std::countr_zero(static_cast<std::uint64_t>(rate)));
    step.back() = kernel::binary(BinaryOp::Shr, kernel::sub(row.back(), literal(of_first)), shift);
  }
  ExpressionLowering expressions = tile_.expressions(
      first, Place::Row, coords_of(kernel::add(strip.x0, name(variables().i)), step), &names);
  expressions.share_with(others);
  expressions.keep_rows(std::move(kept_rows), left());
  expressions.avoid_names_of(single);
  expressions.open(work, &pointers);
  const auto loop = [&](std::size_t number, const Expr& from, const Expr& until) {
    For pixels{LoopKind::Vector, variables().i, from, until, {}};
    expressions.open(pixels.body);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      expressions.number_neighbours(tile_.down(), literal(static_cast<std::int64_t>(r)));
      Block stores;
      for (std::size_t m = 0; m < pass.size(); ++m) {
        const StripTarget& target = targets[r * pass.size() + m];
        const Lanes lanes = expressions.lower(cases_of(rows[r][m])[number].value);
        for (std::size_t l = 0; l < lanes.size(); ++l) {
          const Expr to =
              kernel::add(target.offset, literal(static_cast<std::int64_t>(l) * target.lane_pitch));
          stores.push_back({kernel::Store{target.array, to, lanes[l]}});
        }
      }
      kernel::append(pixels.body, std::move(stores));
    }
    expressions.close();
    kernel::share_loads(pixels.body, [&](const std::string& wanted) { return expressions.claim(wanted); });
    work.push_back({std::move(pixels)});
  };
  const auto box = box_of_first_case(*stages.front());
  if (box) {
    const PixelRange all{variables().i, literal(0), strip.count, strip.x0};
    const Expr is_line_inside = tile_.is_of_volume() ? inside_along(1, expressions, *box) : nullptr;
    const auto [begin, end] = columns_in_box(expressions, *box, all, is_line_inside, work);
    loop(1, literal(0), begin);
    if (in_vectors_)
      share_columns(expressions, row, together, {variables().i, begin, end, strip.x0}, strip.capacity,
                    pointers, work);
    loop(0, begin, end);
    loop(1, end, strip.count);
  } else {
    const PixelRange all{variables().i, literal(0), strip.count, strip.x0};
    if (in_vectors_) share_columns(expressions, row, together, all, strip.capacity, pointers, work);
    loop(0, literal(0), strip.count);
  }
  expressions.close();
  make_opaque(pointers);
}

StripTarget CoreTiles::target_of(const ir::Stage& stage, const ir::Stage& inner,
                                 ExpressionLowering& expressions, const std::vector<Expr>& row, int below,
                                 Block& block) const {
  const auto scalar = [&](std::int64_t lane_pitch) {
    return kernel::mul(name(variables().i), literal(pixel_pitch(inner.type.lanes, lane_pitch)));
  };
  if (&stage != &result_) {
    const Source& source = *tile_.source(stage);
    const std::int64_t lane_pitch = source.kept.lane_pitch;
    block.push_back(current_row(source, below));
    return {&inner, row_name(source, below), kernel::add(scalar(lane_pitch), first_scalar(stage)),
            lane_pitch};
  }
  const kernel::Symbol target = expressions.claim(array_.name.spelling() + "_row" + suffix_of_row(below));
  block.push_back({kernel::Pointer{target, array_.name, stage.type.scalar, memory_of(row), false,
                                   name(past_caches_, Scalar::Bool), lines_[below].name}});
  return {&inner, target, scalar(1)};
}

Expr CoreTiles::memory_of(const std::vector<Expr>& row) const {
  return kernel::add(rows_.row_offset(array_, row), rows_.x_offset(left(), array_));
}

}  // namespace weft::lower
