#include "lower/lower.h"

#include <map>

#include "ir/verify.h"
#include "ir/visit.h"
#include "kernel/build.h"
#include "kernel/drop_unused.h"
#include "kernel/hoist_invariants.h"
#include "kernel/narrow_indices.h"
#include "kernel/verify.h"
#include "kernel/wrap_overflow.h"
#include "lower/layout.h"
#include "lower/lower_evolve.h"
#include "lower/lower_marching.h"
#include "lower/lower_marching_grid.h"
#include "lower/lower_reduce.h"
#include "lower/lower_scatter.h"
#include "lower/lower_stage.h"
#include "rewrite/inline_points.h"
#include "target/choose_blocks.h"

namespace weft::lower {
namespace {

kernel::Module frame_of(const ir::Pipeline& pipeline, const schedule::Schedule& schedule,
                        const Layout& layout) {
  kernel::Module module;
  module.name = pipeline.name;
  module.strict = pipeline.strict;
  const auto add = [&](const ir::StagePtr& stage, kernel::Array::Role role) {
    declare_array(layout.arrays.at(stage.get()), role, layout, module);
  };
  for (const auto& input : pipeline.inputs) {
    for (const std::string& size : layout.sizes.at(input->name)) module.sizes.push_back({size, Scalar::I64});
    add(input, kernel::Array::Role::Input);
  }
  for (const auto& param : pipeline.params) {
    module.params.push_back({layout.params.at(param->name), param->initial.type.scalar});
  }
  for (const auto& output : pipeline.outputs) add(output, kernel::Array::Role::Output);
  for (const auto& stage : pipeline.stages) {
    if (!ir::is_output(pipeline, *stage) && schedule.of(stage->name).stored)
      add(stage, kernel::Array::Role::Intermediate);
  }
  return module;
}

}  // namespace

kernel::Module lower(const ir::Pipeline& prepared, const schedule::Schedule& schedule,
                     const target::Target& target) {
  const target::Processor processor = target.processor;
  // 1. Stages that the schedule computes in place disappear into their consumers.
  const rewrite::Inlined inlined = rewrite::inline_points(
      prepared, [&](const ir::Stage& stage) { return schedule.of(stage.name).in_place(); });
  ir::verify(inlined.pipeline, "inline_points");
  // 2. Names, strides and the arguments that all functions share.
  Layout layout = layout_of(inlined.pipeline);
  kernel::Module module = frame_of(inlined.pipeline, schedule, layout);
  module.comment = to_text(schedule);
  // 3. Each stored stage becomes functions over rows or parts, and launches of them; with those whose rows it
  // needs, functions over strips.
  std::map<std::string, std::vector<const ir::Stage*>> in_rows;  // by the stage that needs them
  for (const ir::StagePtr& stage : inlined.pipeline.stages) {
    const schedule::StagePlan& plan = schedule.of(stage->name);
    if (plan.in_rows) {
      in_rows[plan.into].push_back(stage.get());
      continue;
    }
    if (auto group = in_rows.find(stage->name); group != in_rows.end()) {
      group->second.push_back(stage.get());
      const GroupContext context{group->second, inlined.names, plan.tile, layout, module};
      if (processor == target::Processor::Gpu)
        lower_marching_grid(context);
      else
        lower_marching(context);
      continue;
    }
    const StageContext context{processor, *stage, inlined.names, layout, module};
    if (std::holds_alternative<ir::Reduce>(stage->definition))
      lower_reduce(context);
    else if (std::holds_alternative<ir::Scatter>(stage->definition))
      lower_scatter(context);
    else if (std::holds_alternative<ir::Evolve>(stage->definition))
      lower_evolve(context, inlined.pipeline);
    else
      module.steps.push_back(lower_stage(context));
  }
  kernel::verify(module, "lower_stage");
  // 4. GPUs compute with indices of 32 bits, as far as they can.
  if (processor == target::Processor::Gpu) {
    kernel::narrow_indices(module);
    kernel::verify(module, "narrow_indices");
  }
  // 5. Nor may signed integers overflow on them.
  if (processor == target::Processor::Gpu) {
    kernel::wrap_overflow(module);
    kernel::verify(module, "wrap_overflow");
  }
  // 6. Values that nothing reads go.
  for (kernel::Function& function : module.functions) kernel::drop_unused(function);
  kernel::verify(module, "drop_unused");
  // 7. What is the same for a whole row is computed before it.
  for (kernel::Function& function : module.functions) kernel::hoist_invariants(function, layout.names);
  kernel::verify(module, "hoist_invariants");
  // 8. Kernels are known by now, and with them what a block takes of a multiprocessor.
  if (processor == target::Processor::Gpu) target::choose_blocks(module, target.architecture);
  return module;
}

}  // namespace weft::lower
