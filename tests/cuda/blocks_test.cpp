// The blocks of every application's kernels: for each architecture they can be launched, and no other block
// that the kernel could have would fill a multiprocessor better.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "emit/gpu.h"
#include "host/plan.h"
#include "kernel/build.h"
#include "kernel/registers.h"
#include "kernel/visit.h"
#include "lower/lower.h"
#include "machine/occupancy.h"
#include "plan/block_strip.h"
#include "rewrite/prepare.h"
#include "schedule/schedule.h"
#include "target/block.h"
#include "tests/support/symbols.h"
#include "tools/arguments.h"

namespace weft::testing_support::blocks_test {
namespace {

using machine::Architecture;

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Application* application : tools::select_applications("all")) names.push_back(application->name);
  return names;
}

kernel::Module lowered_for(const std::string& application, const Architecture& architecture) {
  const ir::Pipeline prepared = rewrite::prepare(build(applications().at(application)).pipeline.ir());
  const schedule::Schedule schedule =
      schedule::choose(prepared, schedule::Tiling::None, {plan::most_shared_bytes});
  return lower::lower(prepared, schedule.kernels, {target::Processor::Gpu, architecture});
}

/// By the registers that were estimated.
machine::Occupancy occupancy_of(const Architecture& architecture, const kernel::Function& function,
                                int threads) {
  machine::BlockNeeds needs;
  needs.threads = threads;
  needs.registers = std::min(kernel::estimated_registers(function).most, architecture.registers_per_thread);
  needs.static_shared = kernel::shared_bytes(function);
  return machine::occupancy(architecture, needs);
}

/// Those that do not depend on what was decided.
std::vector<int> other_blocks(const kernel::Grid& grid) {
  if (grid.sharing == kernel::Sharing::Work)
    return target::candidate_blocks({.sharing = grid.sharing, .items = grid.items}, 32);
  return {64, 96, 128, 160, 192, 224, 256};
}

class Blocks : public testing::TestWithParam<std::tuple<const char*, std::string>> {};

TEST_P(Blocks, CanBeLaunchedAndFillTheArchitecture) {
  const auto& [name, application] = GetParam();
  const Architecture& architecture = machine::architecture_named(name);
  const kernel::Module module = lowered_for(application, architecture);
  for (const kernel::Function& function : module.functions) {
    SCOPED_TRACE(function.name);
    const kernel::Grid& grid = *host::launch_of(module, function).grid;
    const int threads = grid.block[0] * grid.block[1] * grid.block[2];
    EXPECT_LE(threads, architecture.max_threads_per_block);
    EXPECT_EQ(grid.block[0] % architecture.warp, 0) << "rows are read in whole sectors";
    EXPECT_LE(kernel::shared_bytes(function), architecture.static_shared_per_block);
    const machine::Occupancy chosen = occupancy_of(architecture, function, threads);
    EXPECT_GT(chosen.blocks, 0);
    if (!kernel::is_literal(grid.threads[0], threads))  // else there is one block
      EXPECT_TRUE(grid.why.starts_with(std::to_string(threads) + " threads of about ")) << grid.why;
    for (const int other : other_blocks(grid))
      EXPECT_LE(occupancy_of(architecture, function, other).warps(), chosen.warps()) << other << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Applications, Blocks,
                         testing::Combine(testing::Values("sm_75", "sm_80", "sm_90", "sm_120"),
                                          testing::ValuesIn(names())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

/// "{32, 2, 1}" of a launch in the text that is emitted.
std::string emitted_block(const std::string& application, const std::string& kernel,
                          const char* architecture) {
  const kernel::Module module = lowered_for(application, machine::architecture_named(architecture));
  const std::string text = emit::emit_gpu_for_loading(module);
  const std::size_t launch = text.find("status = launch(" + kernel + ",");
  const std::size_t end = text.find(", stream", launch), begin = text.rfind('{', end);
  return launch == std::string::npos ? "" : text.substr(begin, end - begin);
}

TEST(EmittedBlocks, DifferWhereArchitecturesDo) {
  // A kernel whose pixels have nothing in common, of more than 64 registers: blocks of 128 threads fill a Hopper best, of
  // 256 a Turing, which has half as many warps.
  EXPECT_EQ(emitted_block("spline", "out2_kernel", "sm_90"), "{32, 4, 1}");
  EXPECT_EQ(emitted_block("spline", "out2_kernel", "sm_75"), "{32, 8, 1}");
  // Strips, whose threads share rows in shared memory, are the same everywhere.
  EXPECT_EQ(emitted_block("harris", "dx_kernel", "sm_90"), "{256, 1, 1}");
  EXPECT_EQ(emitted_block("harris", "dx_kernel", "sm_86"), "{256, 1, 1}");
}

TEST(EmittedBlocks, AreTheOnlyDifferenceBetweenArchitectures) {
  for (const char* name : {"harris", "reduce_sum", "histogram", "heat2d", "pyramid"}) {
    const auto of = [&](const char* architecture) {
      kernel::Module module = lowered_for(name, machine::architecture_named(architecture));
      for (kernel::Launch* launch : kernel::launches_of(module)) {
        launch->grid->block = {1, 1, 1};
        if (launch->grid->sharing == kernel::Sharing::Work) launch->grid->threads[0] = kernel::literal(1);
      }
      return emit::emit_gpu_for_loading(module);
    };
    EXPECT_EQ(of("sm_86"), of("sm_90")) << name;
  }
}

}  // namespace
}  // namespace weft::testing_support::blocks_test
