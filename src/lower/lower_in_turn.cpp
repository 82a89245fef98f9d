#include "lower/lower_in_turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "lower/lower_grid.h"
#include "lower/lower_stage.h"
#include "lower/rows.h"

namespace weft::lower {
namespace {

/// How threads stand side by side in a box: 32 x 16 in an image, 32 x 4 x 4 in a volume; where fewer cover an extent that is known,
/// the others stand along x, or the first dimension that has room for them. 256 x 2 in a table of two rows.
std::vector<int> threads_along(const ir::Box& box) {
  const std::vector<int> usual = box.size() == 1   ? std::vector{plan::threads_in_turn}
                                 : box.size() == 2 ? std::vector{32, 16}
                                                   : std::vector{32, 4, 4};
  std::vector<int> threads, most;
  int all = 1;
  for (std::size_t d = 0; d < std::min(box.size(), usual.size()); ++d) {
    const ir::Affine& extent = box[d].extent;
    const std::int64_t known =
        extent.is_constant() ? std::max<std::int64_t>(extent.constant(), 1) : plan::threads_in_turn;
    most.push_back(static_cast<int>(
        std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(known, plan::threads_in_turn)))));
    threads.push_back(std::min(usual[d], most[d]));
    all *= threads[d];
  }
  for (std::size_t d = 0; d < threads.size(); ++d) {
    for (; all < plan::threads_in_turn && threads[d] < most[d]; all *= 2) threads[d] *= 2;
  }
  return threads;
}

/// All pixels of a stage, shared out among the threads of a block.
Block stage_in_turn(const KernelContext& context, const ir::Stage& stage) {
  const Rows rows(stage.box, context.layout);
  Block block;
  store_pixel_of(context, stage, rows, block);
  const kernel::Symbol thread = context.layout.names.local("t");
  const std::vector<int> threads = threads_along(stage.box);
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
  const int count = std::accumulate(threads.begin(), threads.end(), 1, std::multiplies<>());
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
