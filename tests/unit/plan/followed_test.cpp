// Kernels are what their plans say, which is what models were told: the memory that they read, write and keep, their
// tiles, barriers and launches; and plans that are asked for again are the same. For every application, on CPUs and GPUs.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "compile/scheduling.h"
#include "follow.h"
#include "host/plan.h"
#include "ir/identifiers.h"
#include "ir/print.h"
#include "kernel/build.h"
#include "kernel/registers.h"
#include "kernel/visit.h"
#include "lower/lower.h"
#include "plan/barriers.h"
#include "tests/support/combinations.h"
#include "tests/support/symbols.h"
#include "tools/arguments.h"

namespace weft::plan {
namespace {

using kernel::For;
using kernel::LoopKind;

std::vector<For> loops_of(const kernel::Function& function, LoopKind kind) {
  std::vector<For> loops;
  kernel::visit_statements(function.body, [&](const kernel::Stmt& s) {
    if (const auto* loop = std::get_if<For>(&s.op); loop && loop->kind == kind) loops.push_back(*loop);
  });
  return loops;
}

int barriers_in(const kernel::Function& function) {
  int count = 0;
  kernel::visit_statements(
      function.body, [&](const kernel::Stmt& s) { count += std::holds_alternative<kernel::Barrier>(s.op); });
  return count;
}

/// Of the local arrays that rows are kept in.
std::int64_t bytes_of_rows(const kernel::Function& function) {
  std::int64_t bytes = 0;
  kernel::visit_statements(function.body, [&](const kernel::Stmt& s) {
    const auto* array = std::get_if<kernel::LocalArray>(&s.op);
    if (array && array->name.spelling().find("_rows") != std::string::npos)
      bytes += std::int64_t{array->count} * size_of(array->type);
  });
  return bytes;
}

std::int64_t step_of(const For& loop) { return kernel::literal_value(loop.step).value_or(0); }

constexpr std::array processors = {target::Processor::Cpu, target::Processor::Gpu};

/// What Weft chooses for an application, found once for all tests of this process.
const compile::Scheduled& chosen_for(const std::string& application, target::Processor processor) {
  static std::map<std::pair<std::string, target::Processor>, compile::Scheduled> known;
  const auto found = known.find({application, processor});
  if (found != known.end()) return found->second;
  const ir::Pipeline definition = build(applications().at(application)).pipeline.ir();
  return known.emplace(std::pair(application, processor), compile::scheduled(definition, processor))
      .first->second;
}

/// All that are not refused by their definition; in instrumented builds, which take ten times as long, every second one.
std::vector<std::string> names_of_applications() {
  const std::vector<const Application*> all = tools::select_applications("all");
  std::vector<std::string> names;
  for (std::size_t a = 0; a < all.size(); a += testing_support::instrumented ? 2 : 1)
    names.push_back(all[a]->name);
  return names;
}

class Following : public testing::TestWithParam<std::string> {
 protected:
  void expect_images(const KernelPlan& plan, const kernel::Module& module, const kernel::Symbol& function) {
    const kernel::Uses uses = kernel::uses_of(module, function);
    std::set<std::string> images, arrays, written;
    for (const ImageUse& image : plan.images) images.insert(ir::safe_identifier(image.stage));
    for (const kernel::Array& array : module.arrays) {
      const bool is_result = uses.writes.count(array.name) > 0;
      if (uses.reads.count(array.name) && !is_result) arrays.insert(array.name.spelling());
      if (is_result) written.insert(array.name.spelling());
    }
    if (host::launch_of(module, kernel::function_named(module, function))
            .grid.value_or(kernel::Grid{})
            .layers > 1)
      EXPECT_TRUE(std::includes(arrays.begin(), arrays.end(), images.begin(), images.end())) << function;
    else
      EXPECT_EQ(arrays, images) << function;
    for (const ImageUse& image : plan.written)
      EXPECT_TRUE(plan.parts || written.count(ir::safe_identifier(image.stage))) << function;
  }

  /// Code for tiles that lie inside, and for others.
  void expect_static_tiles(const KernelPlan& plan, const kernel::Function& function) {
    const std::vector<For> warps = loops_of(function, LoopKind::Warps);
    EXPECT_EQ(warps.size(), plan.is_of_warps() && !plan.is_of_lanes() ? 1u : 0u) << function.name;
    const std::vector<bool> before = barriers_before(turns_of(plan));
    const auto barriers = std::count(before.begin(), before.end(), true);
    EXPECT_LE(barriers_in(function), plan.is_of_lanes() ? 0 : 2 * barriers) << function.name;
    EXPECT_GE(barriers_in(function), plan.is_of_lanes() ? 0 : 2 * (barriers - 1)) << function.name;
  }

  /// A core goes down a tile by as many rows as its passes compute at a time.
  void expect_rows_of_passes(const KernelPlan& plan, const kernel::Function& function) {
    if (plan.rows_of_pass() == 1) return;
    const std::vector<For> serial = loops_of(function, LoopKind::Serial);
    const auto batch = std::find_if(serial.begin(), serial.end(),
                                    [](const For& l) { return l.variable.spelling() == "batch"; });
    ASSERT_NE(batch, serial.end()) << function.name;
    EXPECT_EQ(step_of(*batch), plan.rows_of_pass()) << function.name;
  }

  void expect_tiles(const KernelPlan& plan, const kernel::Function& function) {
    EXPECT_EQ(bytes_of_rows(function) +
                  (plan.parts && plan.is_of_blocks() ? bytes_of_accumulators(*plan.parts) : 0),
              plan.kept_bytes())
        << function.name;
    if (!plan.is_of_blocks()) return expect_rows_of_passes(plan, function);
    EXPECT_EQ(kernel::shared_bytes(function), plan.shared_bytes()) << function.name;
    const std::vector<For> across = loops_of(function, LoopKind::BlocksX);
    ASSERT_EQ(across.size(), 1u) << function.name;
    EXPECT_EQ(step_of(across[0]), plan.width()) << function.name;
    if (plan.is_static()) return expect_static_tiles(plan, function);
    const std::vector<For> marches =
        loops_of(function, plan.moves_rows() ? LoopKind::Rolled : LoopKind::Serial);
    const int step = plan.is_of_lanes() ? plan.step[1] : 1;  // lanes count steps
    const int rows = plan.level(LevelKind::Batch)->extent.back().fixed() / step;
    const std::string variable = rows > 1 ? "batch" : plan.lines() > 1 ? "z" : step > 1 ? "step" : "y";
    const auto batch = std::find_if(marches.begin(), marches.end(), [&](const For& l) {
      return l.variable.spelling().starts_with(variable);
    });
    ASSERT_NE(batch, marches.end()) << function.name;
    EXPECT_EQ(rows > 1 ? step_of(*batch) : 1, rows) << function.name;
    const std::vector<bool> before = barriers_before(turns_of(plan));
    if (plan.is_of_lanes())
      EXPECT_EQ(barriers_in(function), 0) << function.name;
    else if (!plan.parts)
      EXPECT_EQ(barriers_in(function), std::count(before.begin(), before.end(), true)) << function.name;
  }
};

/// Launches of a kernel that is neither an evolution nor one of its updates.
std::size_t launches_of(const KernelPlan& plan, const ir::Stage& stage) {
  if (std::holds_alternative<ir::Scatter>(stage.definition)) return plan.scatter->index() < 2 ? 1 : 2;
  return plan.parts ? 2 : 1;
}

TEST_P(Following, PlansIsWhatKernelsDo) {
  for (const auto processor : processors) {
    const compile::Scheduled& chosen = chosen_for(GetParam(), processor);
    const kernel::Module module = lower::lower(chosen.pipeline, chosen.schedule.kernels, processor);
    const std::vector<const kernel::Launch*> launches = kernel::launches_of(module);
    std::size_t next = 0;
    std::set<std::string> in_layers;  // what kernels store whose blocks have layers
    const auto follow = [&](const KernelPlan& plan, std::size_t count) {
      ASSERT_LE(next + count, launches.size());
      if (launches[next]->grid && launches[next]->grid->layers > 1) {
        for (const kernel::Symbol& array : kernel::uses_of(module, launches[next]->function).writes)
          in_layers.insert(array.spelling());
      }
      const kernel::Function& function = kernel::function_named(module, launches[next]->function);
      if (plan.is_tiled()) expect_tiles(plan, function);
      next += count;
    };
    for (const KernelPlan& plan : chosen.schedule.kernels) {
      const auto stage = std::find_if(chosen.pipeline.stages.begin(), chosen.pipeline.stages.end(),
                                      [&](const ir::StagePtr& s) { return s->name == plan.result; });
      if (!plan.evolves_with.empty() || in_layers.count(ir::safe_identifier(plan.result))) continue;
      if (!plan.updates.empty()) {
        next += plan.updates.size();  // what fields begin with
        for (const KernelPlan& several : plan.several) {
          const bool begins_apart = several.split && several.split->scheme == SplitScheme::Fused;
          follow(several, several.split ? launches_of(*several.split) + (begins_apart ? 1 : 0) : 1);
        }
        if (!plan.has_single_updates()) continue;
        for (const KernelPlan& update : plan.updates) follow(update, 1);
        continue;
      }
      if (std::holds_alternative<ir::Pure>((*stage)->definition))
        expect_images(plan, module, launches.at(next)->function);
      follow(plan, launches_of(plan, **stage));
    }
    EXPECT_EQ(next, launches.size()) << "launches that no plan says";
  }
}

TEST_P(Following, PlansAreTheSameWhenTheyAreAskedForAgain) {
  const ir::Pipeline definition = build(applications().at(GetParam())).pipeline.ir();
  for (const auto processor : processors) {
    const compile::Scheduled& chosen = chosen_for(GetParam(), processor);
    const Memory memory = compile::memory_of(processor);
    const std::string json = schedule::to_json(chosen.schedule);
    EXPECT_EQ(ir::to_string(compile::scheduled(definition, processor, {.groups = json}).pipeline),
              ir::to_string(chosen.pipeline));
    const auto again = follow(chosen.pipeline, json, memory);
    ASSERT_TRUE(again.schedule) << again.why;
    ASSERT_EQ(again.schedule->kernels.size(), chosen.schedule.kernels.size());
    for (std::size_t k = 0; k < chosen.schedule.kernels.size(); ++k) {
      EXPECT_TRUE(again.schedule->kernels[k] == chosen.schedule.kernels[k])
          << to_text(chosen.schedule.kernels[k]) << to_text(again.schedule->kernels[k]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Applications, Following, testing::ValuesIn(names_of_applications()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::plan
