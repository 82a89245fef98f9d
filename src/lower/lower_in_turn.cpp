#include "lower/lower_in_turn.h"

#include <fmt/format.h>

#include "lower/lower_grid.h"
#include "lower/lower_stage.h"
#include "lower/rows.h"

namespace weft::lower {
namespace {

/// How threads stand side by side in a box, by its dimensions.
std::vector<int> threads_along(int rank) {
  switch (rank) {
    case 0: return {};
    case 1: return {plan::threads_in_turn};
    case 2: return {32, plan::threads_in_turn / 32};
    default: return {32, 4, plan::threads_in_turn / 32 / 4};
  }
}

/// All pixels of a stage, shared out among the threads of a block.
Block stage_in_turn(const KernelContext& context, const ir::Stage& stage) {
  const Rows rows(stage.box, context.layout);
  Block block;
  store_pixel_of(context, stage, rows, block);
  const kernel::Symbol thread = context.layout.names.local("t");
  const std::vector<int> threads = threads_along(rows.rank());
  Expr rest = kernel::name(thread);
  std::vector<Expr> first;
  for (std::size_t d = 0; d < threads.size(); ++d) {
    const bool is_last = d + 1 == threads.size();
    first.push_back(is_last ? rest : kernel::binary(ir::BinaryOp::Rem, rest, literal(threads[d])));
    rest = kernel::div(rest, literal(threads[d]));
  }
  for (int d = 0; d < rows.rank(); ++d) {
    const bool is_shared = d < static_cast<int>(threads.size());
    For loop{LoopKind::Rolled, rows.coordinate(d), rows.begin(d), rows.end(d), std::move(block)};
    if (is_shared) {
      loop.from = kernel::add(loop.from, first[static_cast<std::size_t>(d)]);
      loop.step = literal(threads[static_cast<std::size_t>(d)]);
    }
    block = {{std::move(loop)}};
  }
  const int count = rows.rank() == 0 ? 1 : plan::threads_in_turn;
  return {{For{LoopKind::Threads, thread, literal(0), literal(count), std::move(block)}}};
}

}  // namespace

kernel::Launch lower_in_turn(const KernelContext& context) {
  const ir::Stage& last = context.stage();
  std::string names;
  for (const ir::Stage* stage : context.members) names += (names.empty() ? "'" : ", '") + stage->name + "'";
  kernel::Function function{
      context.layout.names.claim(context.layout.arrays.at(&last).name.spelling() + "_in_turn"),
      names + ", one after the other, by one block.",
      {},
      {}};
  for (const ir::Stage* stage : context.members) {
    function.body.push_back({kernel::Comment{comment_on(*stage, "'" + stage->name + "'")}});
    kernel::append(function.body, stage_in_turn(context, *stage));
  }
  kernel::Launch launch{function.name, literal(1), grid_of_blocks(literal(plan::threads_in_turn))};
  launch.grid->block = {plan::threads_in_turn, 1, 1};
  launch.grid->why = fmt::format("{} threads: one block computes all in turn", plan::threads_in_turn);
  context.module.functions.push_back(std::move(function));
  return launch;
}

}  // namespace weft::lower
