// Rows of the stages of a pass, which a core's tile computes by one loop along them.
#include <algorithm>
#include <bit>

#include "lower/core_tiles.h"
#include "lower/lower_stage.h"
#include "lower/phases.h"
#include "lower/prefetched.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::If;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

namespace {

/// for the pixels of a row:  each lane from its own row to memory
For interleaved(const StripTarget& lanes, const StripTarget& pixels) {
  Block body;
  for (int l = 0; l < lanes.stage->type.lanes; ++l) {
    const Expr from = kernel::add(lanes.offset, literal(l * lanes.lane_pitch));
    body.push_back({kernel::Store{pixels.array, kernel::add(pixels.offset, literal(l)),
                                  kernel::load(lanes.array, lanes.stage->type.scalar, from)}});
  }
  return {LoopKind::Vector, "i", literal(0), kernel::sub(name("right"), name("left")), std::move(body)};
}

/// Of the loop of a pass: 1 unless one loop over pixels is all that it takes.
int phases_of_pass(ExpressionLowering& expressions, const Tile::Stages& pass) {
  int phases = 1;
  for (const ir::Stage* stage : pass) {
    if (!is_one_loop(expressions, *stage)) return 1;
    phases = std::max(phases, phase_count(*stage));
  }
  return phases;
}

}  // namespace

Block CoreTiles::rows_of_pass(const Tile::Stages& pass) {
  if (pass.back() == &result_) return rows_of_result(pass);
  const Source& first = *tile_.source(*pass.front());
  Block body, constants;
  clip_columns(body, first, ends_of_row());
  compute(body, pass, tile_.row_coords(&first.kept), columns_of(first));
  for (const ir::Stage* stage : pass) {
    const Source& source = *tile_.source(*stage);
    if (!source.is_constant_outside()) continue;
    constants.push_back(current_row(source));
    kernel::append(constants, constant_row(source));
  }
  const bool has_constants = !constants.empty();
  if (has_constants) body = {{inside_or_constant(first, std::move(body), std::move(constants))}};
  return tile_.for_rows(&first.kept, has_constants, std::move(body));
}

Block CoreTiles::rows_of_reduction(const TileReduction& reduction, const PartOf& part_of) {
  const Expr x = reduction.parts.column(), row = name("y");
  ExpressionLowering expressions = tile_.expressions(result_, Place::Row, {x, row});
  Tile::RowsOf rows;
  for (const Source& source : tile_.sources()) {
    if (source.kept.is_copied()) rows[&source.stage] = kept_rows_of(source);
  }
  expressions.keep_rows(std::move(rows), name("left"), kernel::sub(x, name("left")));
  Block elements = columns_of_result();
  reduction.parts.row(expressions, reduction.accumulators, name("left"), name("right"), elements);
  return tile_.for_rows(nullptr, false, part_of(row, 1, std::move(elements)));
}

Block CoreTiles::columns_of_result() const {
  const Ends ends = ends_of_row();
  const bool in_steps = steps_[0] > 1;  // which may begin and end beyond the result
  return {{Let{ends.left, in_steps ? kernel::max(name("x0"), rows_.begin(0)) : name("x0")}},
          {Let{ends.right, in_steps ? kernel::min(name("x1"), rows_.end(0)) : name("x1")}}};
}

Block CoreTiles::rows_of_result(const Tile::Stages& pass) {
  Block body = columns_of_result();
  compute(body, pass, tile_.row_coords(nullptr), tile_.width());
  return tile_.for_rows(nullptr, false, std::move(body));
}

void CoreTiles::compute(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row, int columns) {
  const Ends ends = ends_of_row();
  if (tile_.is_of_volume()) {
    if (!edges_) fetch_next_planes(block, pass, row.front());
  } else {
    const Source* of_pass = tile_.source(*pass.front());
    const int ahead = rows_ahead(tile_, of_pass ? &of_pass->kept : nullptr);
    kernel::append(
        block, prefetch_images(tile_, pass, name(ends.left), name(ends.right), row.front(), ahead, fetched_));
  }
  Block work;
  compute_part(work, pass, row, columns);
  if (edges_)
    kernel::append(block, in_parts(name(ends.left), name(ends.right), std::move(work)));
  else
    kernel::append(block, std::move(work));
  for (const ir::Stage* stage : pass) {
    const Source* source = tile_.source(*stage);
    if (!source) continue;
    if (edges_ && (source->kept.is_stored || source->kept.border_mode()))
      block.push_back(current_row(*source));
    if (source->kept.is_stored) block.push_back({stored_row(*source, row)});
    if (!source->kept.border_mode()) continue;
    beyond_columns(block, *source, ends, [&](const Expr& x, int lane) {
      return kernel::load(row_.at(source), stage->type.scalar, at(*source, x, lane));
    });
  }
}

If CoreTiles::stored_row(const Source& source, const std::vector<Expr>& row) const {
  const ArrayLayout& array = array_of(source.stage);
  Expr is_own;
  for (int d = 1; d <= tile_.down(); ++d) {
    const Expr &at = row[d - 1], first = name(ir::dim_name(d) + "0"), end = name(ir::dim_name(d) + "1");
    is_own = kernel::both(
        is_own, kernel::both(kernel::binary(BinaryOp::Le, first, at), kernel::binary(BinaryOp::Lt, at, end)));
  }
  const int lanes = source.lanes();
  const Expr i = name("i"), columns = kernel::sub(name("x1"), name("x0"));
  const Expr to = kernel::add(rows_.row_offset(array, row), rows_.x_offset(name("x0"), array));
  const auto& [from, target] = stored_.at(&source);
  Block body{{kernel::Pointer{from, row_.at(&source), source.kept.type.scalar, at(source, name("x0"))}}};
  const bool is_apart = source.kept.lane_pitch != 1;
  Block plain{{kernel::Pointer{target, array.name, source.kept.type.scalar, to, false}}}, copy;
  for (int l = 0; l < (is_apart ? lanes : 1); ++l) {
    const Expr scalar = kernel::add(kernel::mul(i, literal(is_apart ? lanes : 1)), literal(l));
    const Expr kept = is_apart ? kernel::add(i, literal(l * source.kept.lane_pitch)) : i;
    copy.push_back({kernel::Store{target, scalar, kernel::load(from, source.kept.type.scalar, kept)}});
  }
  const Expr scalars = kernel::mul(columns, literal(lanes));
  plain.push_back({For{LoopKind::Vector, "i", literal(0), is_apart ? columns : scalars, std::move(copy)}});
  if (is_apart) {
    kernel::append(body, std::move(plain));
  } else {
    const kernel::StorePastCaches past{array.name, source.kept.type.scalar, to, from, scalars};
    body.push_back({If{name(past_caches_, Scalar::Bool), {{past}}, std::move(plain)}});
  }
  return {is_own, std::move(body), {}};
}

void CoreTiles::compute_part(Block& block, const Tile::Stages& pass, const std::vector<Expr>& row,
                             int columns) {
  const Tile::PassLanes lanes = tile_.lanes_of(pass);
  const Expr per_pixel = literal(lanes.front()->per_pixel()), i = name("i");
  const Expr begin = kernel::mul(name("left"), per_pixel), length = kernel::mul(count(), per_pixel);
  ExpressionLowering expressions =
      tile_.expressions(lanes.front()->stage(), Place::Row, coords_of(kernel::add(begin, i), row));
  if (pass.size() > 1) expressions.share_with({pass.begin() + 1, pass.end()});
  Tile::RowsOf rows = tile_.rows_of(lanes, [&](const Source& source) { return kept_rows_of(source); });

  const int phases = phases_of_pass(expressions, pass);
  const bool to_lanes =
      tile_.plan().lanes_apart && phases > 1 && pass.back() == &result_ && result_.type.lanes > 1;
  std::vector<StripTarget> targets;
  for (std::size_t m = 0; m < pass.size(); ++m)
    targets.push_back(target_of(*pass[m], lanes[m]->stage(), expressions, row, block));
  const StripTarget memory = targets.back();
  if (to_lanes) {
    targets.back() = {memory.stage, expressions.claim(array_.name + "_lanes"), i, tile_.width()};
    block.push_back(
        {kernel::LocalArray{targets.back().array, result_.type.scalar, tile_.width() * result_.type.lanes}});
  }
  const int capacity = columns * lanes.front()->per_pixel();
  Block pointers, work;
  if (phases > 1) {
    store_by_phases(expressions, std::move(rows), pass, targets, row, phases, pointers, work);
  } else {
    expressions.keep_rows(std::move(rows), name("left"));
    store_strip(expressions, targets, {begin, length, capacity}, pointers, work);
  }
  kernel::append(block, std::move(pointers));
  kernel::append(block, std::move(work));
  if (to_lanes) block.push_back({interleaved(targets.back(), memory)});
  if (pass.back() == &result_) {
    kernel::StorePastCaches store{array_.name, result_.type.scalar, memory_of(row), line_.name,
                                  kernel::mul(count(), literal(result_.type.lanes))};
    block.push_back({If{name(past_caches_, Scalar::Bool), {{std::move(store)}}, {}}});
  }
}

Expr CoreTiles::first_scalar(const ir::Stage& stage) const {
  return &stage == &result_ ? literal(0) : at(*tile_.source(stage), name("left"));
}

void CoreTiles::store_by_phases(ExpressionLowering& single, Tile::RowsOf kept_rows, const Tile::Stages& pass,
                                const std::vector<StripTarget>& targets, const std::vector<Expr>& row,
                                int count, Block& pointers, Block& work) {
  const Expr i = name("i"), mask = literal(-count);
  const Expr shift = literal(std::countr_zero(static_cast<unsigned>(count)));
  const auto whole = [&](const Expr& x) { return kernel::binary(BinaryOp::Shr, x, shift); };
  const Expr up = kernel::binary(BinaryOp::And, kernel::add(name("left"), literal(count - 1)), mask);
  pointers.push_back({Let{"whole_left", kernel::min(up, name("right"))}});
  const Expr down = kernel::binary(BinaryOp::And, name("right"), mask);
  pointers.push_back({Let{"whole_right", kernel::max(name("whole_left"), down)}});
  const Expr left = kernel::sub(name("whole_left"), name("left"));
  const Expr right = kernel::sub(name("whole_right"), name("left"));

  std::vector<Phases> phases;
  std::unordered_map<const ir::Node*, std::string> names;
  std::vector<const ir::Stage*> stages;
  for (const StripTarget& target : targets) {
    phases.push_back(phases_of(*target.stage, count, tile_.names()));
    names.insert(phases.back().names.begin(), phases.back().names.end());
  }
  for (const Phases& of_stage : phases) {
    for (const ir::Stage& phase : of_stage.stages) stages.push_back(&phase);
  }
  pointers.push_back({Let{"whole", whole(name("whole_left"))}});
  ExpressionLowering together =
      tile_.expressions(*stages.front(), Place::Row, coords_of(kernel::add(name("whole"), i), row), &names);
  together.share_with({stages.begin() + 1, stages.end()});
  together.keep_rows(kept_rows, name("whole"));
  together.avoid_names_of(single);
  For pixels{
      LoopKind::Vector, "i", literal(0), whole(kernel::sub(name("whole_right"), name("whole_left"))), {}};
  together.open(work, &pointers);
  together.open(pixels.body);
  for (std::size_t m = 0; m < targets.size(); ++m) {
    const StripTarget& target = targets[m];
    const int lanes = target.stage->type.lanes;
    for (int p = 0; p < count; ++p) {
      const Lanes value = together.lower(cases_of(phases[m].stages[p])[0].value);
      const Expr pixel = kernel::add(kernel::add(kernel::mul(i, literal(count)), literal(p)), left);
      for (int l = 0; l < lanes; ++l) {
        const Expr scalar = kernel::mul(pixel, literal(pixel_pitch(lanes, target.lane_pitch)));
        pixels.body.push_back({kernel::Store{
            target.array,
            kernel::add(scalar, kernel::add(first_scalar(*pass[m]), literal(l * target.lane_pitch))),
            value[l]}});
      }
    }
  }
  together.close();
  together.close();
  work.push_back({std::move(pixels)});

  single.avoid_names_of(together);
  single.keep_rows(std::move(kept_rows), name("left"));
  const auto edge = [&](const Expr& from, const Expr& until) {
    For pixel{LoopKind::Scalar, "i", from, until, {}};
    single.open(pixel.body, &pixel.body);
    for (const StripTarget& target : targets)
      store_pixel(single, pixel.body, cases_of(*target.stage), target.array, target.offset,
                  target.lane_pitch);
    single.close();
    work.push_back({std::move(pixel)});
  };
  edge(literal(0), left);
  edge(right, kernel::sub(name("right"), name("left")));
}

StripTarget CoreTiles::target_of(const ir::Stage& stage, const ir::Stage& inner,
                                 ExpressionLowering& expressions, const std::vector<Expr>& row,
                                 Block& block) const {
  const auto scalar = [&](std::int64_t lane_pitch) {
    return kernel::mul(name("i"), literal(pixel_pitch(inner.type.lanes, lane_pitch)));
  };
  if (&stage != &result_) {
    const Source& source = *tile_.source(stage);
    const std::int64_t lane_pitch = source.kept.lane_pitch;
    block.push_back(current_row(source));
    return {&inner, row_.at(&source), kernel::add(scalar(lane_pitch), first_scalar(stage)), lane_pitch};
  }
  const std::string target = expressions.claim(array_.name + "_row");
  block.push_back({kernel::Pointer{target, array_.name, stage.type.scalar, memory_of(row), false,
                                   name(past_caches_, Scalar::Bool), line_.name}});
  return {&inner, target, scalar(1)};
}

Expr CoreTiles::memory_of(const std::vector<Expr>& row) const {
  return kernel::add(rows_.row_offset(array_, row), rows_.x_offset(name("left"), array_));
}

}  // namespace weft::lower
