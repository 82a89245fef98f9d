#include "lower/lower_tiles.h"

#include "lower/steps_in_lanes.h"
#include "lower/tile_owner.h"

namespace weft::lower {

namespace {

/// Around work for rows of a reduction's elements: accumulators start before the first row of a part, and are
/// stored after its last. No rows are of two parts.
Block part_of(const Tile& tile, const TileReduction& reduction, const Expr& per_part, const Expr& row,
              int rows, Block work) {
  ExpressionLowering expressions =
      tile.expressions(tile.result(), tile.plan().is_of_blocks() ? Place::Thread : Place::Row,
                       {reduction.parts.column(), row});
  const Expr above = kernel::sub(row, tile.rows().begin(1));
  const kernel::Symbol row_of_part = tile.layout().names.local("row_of_part");
  const Expr left = kernel::sub(name(tile.from(0)), tile.rows().begin(0));
  Block body, start, finish;
  body.push_back({Let{row_of_part, kernel::binary(BinaryOp::Rem, above, per_part)}});
  reduction.parts.start(expressions, reduction.accumulators, start);
  const Expr is_first = kernel::binary(BinaryOp::Eq, name(row_of_part), literal(0));
  body.push_back({If{is_first, std::move(start), {}}});
  kernel::append(body, std::move(work));
  const Expr part = ReductionParts::number(above, per_part, kernel::div(left, literal(tile.width())),
                                           tile.columns_of_tiles());
  reduction.parts.finish(expressions, reduction.accumulators, part, finish);
  const Expr end =
      kernel::min(kernel::add(kernel::sub(row, name(row_of_part)), per_part), tile.rows().end(1));
  const Expr is_last = kernel::binary(BinaryOp::Le, end, kernel::add(row, literal(rows)));
  body.push_back({If{is_last, std::move(finish), {}}});
  return body;
}

std::unique_ptr<TileOwner> owner_of(const Tile& tile) {
  if (!tile.plan().is_of_blocks()) return core_of(tile);
  return tile.plan().is_of_lanes() ? warp_of(tile) : block_of(tile);
}

}  // namespace

kernel::Launch lower_tiles(const KernelContext& context, const ReductionParts* parts) {
  const Tile tile(context);
  const plan::KernelPlan& plan = context.plan;
  const std::unique_ptr<TileOwner> owner = owner_of(tile);
  kernel::Function function = owner->begin();
  function.comment = owner->comment();
  for (const kernel::LocalArray& place : tile.places()) {
    if (place.count > 0) owner->declare(place, function.body);
  }
  std::optional<TileReduction> reduction;
  Expr rows_per_part, part_rows;
  if (parts) {
    reduction.emplace(TileReduction{*parts});
    const auto claim = [&](const std::string& wanted) { return context.layout.names.claim(wanted); };
    reduction->accumulators = reduction->parts.accumulators(claim, function.body);
    rows_per_part = reduction->parts.rows_per_part();
    const kernel::Symbol symbol = context.layout.names.local("part_rows");
    function.body.push_back({Let{symbol, rows_per_part}});
    part_rows = name(symbol);
  }

  const auto in_parts = [&](const Expr& row, int rows, Block elements) {
    return part_of(tile, *reduction, part_rows, row, rows, std::move(elements));
  };
  const auto rows_of_batch = [&] {
    Block work;
    for (const Tile::Source& source : tile.sources()) {
      if (!source.kept.is_member) kernel::append(work, owner->rows_of_image(source));
    }
    for (const plan::Pass& pass : plan.passes) {
      const Tile::Stages members = tile.members_of(pass);
      const bool is_reduced = reduction && members.back() == &tile.result();
      kernel::append(
          work, is_reduced ? owner->rows_of_reduction(*reduction, in_parts) : owner->rows_of_pass(members));
    }
    return work;
  };
  owner->go_through(function, part_rows, in_lanes_or(tile, owner->go_down(rows_of_batch)));
  kernel::Launch launch = owner->launch_of(function, rows_per_part);
  context.module.functions.push_back(std::move(function));
  return launch;
}

}  // namespace weft::lower
