#include "target/choose_blocks.h"

#include <string_view>
#include <unordered_map>

#include "kernel/build.h"
#include "kernel/registers.h"
#include "target/block.h"

namespace weft::target {
namespace {

void choose(kernel::Grid& grid, const kernel::Function& function, const machine::Architecture& architecture) {
  target::BlockLaunch launch;
  launch.sharing = grid.sharing;
  launch.items = grid.items;
  launch.has_rows = !kernel::is_literal(grid.threads[1], 1);
  launch.is_single =
      grid.sharing == kernel::Sharing::Work && kernel::is_literal(grid.threads[0], 1) && !launch.has_rows;
  const std::int64_t shared = kernel::shared_bytes(function);
  const target::BlockChoice choice = target::choose_block(
      architecture, kernel::estimated_registers(function), [&](int) { return shared; }, launch);
  grid.block = choice.block;
  grid.why = choice.why;
  if (grid.sharing == kernel::Sharing::Work)
    grid.threads[0] = kernel::mul(grid.threads[0], kernel::literal(choice.threads()));
}

}  // namespace

void choose_blocks(kernel::Module& module, const machine::Architecture& architecture) {
  std::unordered_map<std::string_view, const kernel::Function*> functions;
  for (const kernel::Function& function : module.functions) functions[function.name] = &function;
  const auto choose_of = [&](kernel::Launch& launch) {
    choose(*launch.grid, *functions.at(launch.function), architecture);
  };
  for (kernel::Step& step : module.steps) {
    if (auto* launch = std::get_if<kernel::Launch>(&step)) choose_of(*launch);
    if (auto* repeat = std::get_if<kernel::Repeat>(&step)) {
      for (kernel::Launch& launch : repeat->launches) choose_of(launch);
    }
  }
}

}  // namespace weft::target
