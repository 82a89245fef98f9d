#include "target/choose_blocks.h"

#include "kernel/build.h"
#include "kernel/registers.h"
#include "kernel/visit.h"
#include "target/block.h"

namespace weft::target {
namespace {

void choose(kernel::Grid& grid, const kernel::Function& function, const machine::Architecture& architecture) {
  if (grid.block != std::array{1, 1, 1}) return;
  target::BlockLaunch launch;
  launch.sharing = grid.sharing;
  launch.items = grid.items;
  launch.warps = grid.warps;
  launch.has_rows = !kernel::is_literal(grid.threads[1], 1);
  launch.is_single =
      target::is_of_blocks(grid.sharing) && kernel::is_literal(grid.threads[0], 1) && !launch.has_rows;
  const std::int64_t shared = kernel::shared_bytes(function);
  const target::BlockChoice choice = target::choose_block(
      architecture, kernel::estimated_registers(function), [&](int) { return shared; }, launch);
  grid.block = choice.block;
  grid.why = choice.why;
  if (target::is_of_blocks(grid.sharing))
    grid.threads[0] = kernel::mul(grid.threads[0], kernel::literal(choice.block[0]));
}

}  // namespace

void choose_blocks(kernel::Module& module, const machine::Architecture& architecture) {
  for (kernel::Launch* launch : kernel::launches_of(module))
    choose(*launch->grid, kernel::function_named(module, launch->function), architecture);
}

}  // namespace weft::target
