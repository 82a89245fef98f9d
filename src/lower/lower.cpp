#include "lower/lower.h"

#include <weft/error.h>

#include <set>

#include "ir/verify.h"
#include "ir/visit.h"
#include "kernel/build.h"
#include "kernel/drop_borders.h"
#include "kernel/drop_unused.h"
#include "kernel/factors.h"
#include "kernel/hoist_invariants.h"
#include "kernel/insert_barriers.h"
#include "kernel/join_alike.h"
#include "kernel/narrow_arithmetic.h"
#include "kernel/narrow_indices.h"
#include "kernel/neighbours.h"
#include "kernel/reciprocals.h"
#include "kernel/roll_passes.h"
#include "kernel/share_loads.h"
#include "kernel/share_places.h"
#include "kernel/split_borders.h"
#include "kernel/verify.h"
#include "kernel/wrap_overflow.h"
#include "lower/layout.h"
#include "lower/lower_evolve.h"
#include "lower/lower_in_turn.h"
#include "lower/lower_reduce.h"
#include "lower/lower_scatter.h"
#include "lower/lower_stage.h"
#include "rewrite/inline_points.h"
#include "target/choose_blocks.h"

namespace weft::lower {
namespace {

/// Stages that kernels store.
std::set<std::string> stored_by(const std::vector<plan::KernelPlan>& plans) {
  std::set<std::string> stored;
  for (const plan::KernelPlan& plan : plans) {
    for (const plan::ImageUse& image : plan.written) stored.insert(image.stage);
  }
  return stored;
}

/// What stages that may not be empty need, each once.
std::vector<kernel::Needed> needed_by(const ir::Pipeline& pipeline, const Layout& layout) {
  std::vector<kernel::Needed> needed;
  const auto add = [&](const ir::Affine& extent, std::int64_t least) {
    const Expr lowered = lower_affine(extent, layout, {}, {});
    const bool is_known = std::any_of(needed.begin(), needed.end(), [&](const kernel::Needed& n) {
      return n.least == least && kernel::same(n.extent, lowered);
    });
    if (!is_known && !extent.is_constant()) needed.push_back({lowered, least});
  };
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (!stage->need) continue;
    for (const ir::Affine& extent : stage->need->extents) add(extent, stage->need->least);
    if (!stage->need->extents.empty()) continue;
    for (const ir::Range& range : stage->box) add(range.extent, 1);
  }
  return needed;
}

kernel::Module frame_of(const ir::Pipeline& pipeline, const std::set<std::string>& stored,
                        const Layout& layout) {
  kernel::Module module;
  module.name = pipeline.name;
  module.strict = pipeline.strict;
  const auto add = [&](const ir::StagePtr& stage, kernel::Array::Role role) {
    declare_array(layout.arrays.at(stage.get()), role, layout, module);
  };
  for (const auto& input : pipeline.inputs) {
    for (const kernel::Symbol& size : layout.sizes.at(input->name))
      module.sizes.push_back({size, Scalar::I64});
    add(input, kernel::Array::Role::Input);
  }
  for (const auto& param : pipeline.params) {
    module.params.push_back({layout.params.at(param->name), param->initial.type.scalar});
  }
  for (const auto& output : pipeline.outputs) add(output, kernel::Array::Role::Output);
  for (const auto& stage : pipeline.stages) {
    if (!ir::is_output(pipeline, *stage) && stored.count(stage->name) > 0)
      add(stage, kernel::Array::Role::Intermediate);
  }
  return module;
}

/// The stages of a kernel that have pixels, in the order of the pipeline.
std::vector<const ir::Stage*> members_of(const plan::KernelPlan& plan, const ir::Pipeline& pipeline) {
  std::set<std::string> names;
  for (const plan::Pass& pass : plan.passes) names.insert(pass.begin(), pass.end());
  std::vector<const ir::Stage*> members;
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (names.count(stage->name)) members.push_back(stage.get());
  }
  return members;
}

void lower_kernel(const KernelContext& context, const ir::Pipeline& pipeline) {
  const auto& definition = context.stage().definition;
  if (std::holds_alternative<ir::Reduce>(definition))
    lower_reduce(context);
  else if (context.plan.scatter)
    lower_scatter(context);
  else if (std::holds_alternative<ir::Evolve>(definition))
    lower_evolve(context, pipeline);
  else if (context.plan.is_in_turn())
    context.module.steps.push_back(lower_in_turn(context));
  else
    context.module.steps.push_back(lower_stage(context));
}

}  // namespace

kernel::Module lower(const ir::Pipeline& prepared, const std::vector<plan::KernelPlan>& plans,
                     const target::Target& target, const std::string& comment) {
  const bool on_gpu = target.processor == target::Processor::Gpu;
  std::set<std::string> values;
  for (const plan::KernelPlan& plan : plans) {
    if (plan.is_of_blocks() != on_gpu)
      throw InternalError("the plan of '" + plan.result + "' is for another processor");
    values.insert(plan.values.begin(), plan.values.end());
  }
  // 1. Values disappear into what reads them.
  const rewrite::Inlined inlined =
      rewrite::inline_points(prepared, [&](const ir::Stage& stage) { return values.count(stage.name) > 0; });
  ir::verify(inlined.pipeline, "inline_points");
  // 2. Names, strides and the arguments that all functions share.
  Layout layout = layout_of(inlined.pipeline);
  kernel::Module module = frame_of(inlined.pipeline, stored_by(plans), layout);
  module.comment = comment;
  module.needed = needed_by(prepared, layout);  // values, too
  // 3. Each kernel becomes functions and launches, as its plan says.
  for (const plan::KernelPlan& plan : plans) {
    if (plan.evolves_with.empty())
      lower_kernel(
          {plan, members_of(plan, inlined.pipeline), inlined.names, layout, module, target.architecture},
          inlined.pipeline);
  }
  kernel::verify(module, "lower_stage");
  // 4. What is surely inside needs no border.
  for (kernel::Function& function : module.functions) kernel::drop_borders(function);
  kernel::verify(module, "drop_borders");
  // 5. The threads of a block wait for each other.
  if (on_gpu) {
    for (kernel::Function& function : module.functions) kernel::insert_barriers(function);
    kernel::verify(module, "insert_barriers");
  }
  // 6. Of addresses near each other GPUs compute one.
  if (on_gpu) {
    for (kernel::Function& function : module.functions) kernel::share_places(function, module, layout.names);
    kernel::verify(module, "share_places");
  }
  // 7. GPUs compute with indices of 32 bits, as far as they can.
  if (on_gpu) {
    kernel::narrow_indices(module);
    kernel::verify(module, "narrow_indices");
  }
  // 8. Nor may signed integers overflow on them.
  if (on_gpu) {
    kernel::wrap_overflow(module);
    kernel::verify(module, "wrap_overflow");
  }
  // 9. Nobody divides twice by the same.
  if (!module.strict) {
    for (kernel::Function& function : module.functions) kernel::share_reciprocals(function, layout.names);
    kernel::verify(module, "reciprocals");
  }
  // 10. CPUs put vectors of lanes together once, and compute with small integers, as far as they can.
  if (!on_gpu) {
    for (kernel::Function& function : module.functions) kernel::share_spread_loads(function, layout.names);
    kernel::verify(module, "share_spread_loads");
    for (kernel::Function& function : module.functions) kernel::narrow_arithmetic(function);
    kernel::verify(module, "narrow_arithmetic");
  }
  // 11. Values that nothing reads go.
  for (kernel::Function& function : module.functions) kernel::drop_unused(function);
  kernel::verify(module, "drop_unused");
  // 12. What is the same for a whole row is computed before it.
  for (kernel::Function& function : module.functions) kernel::hoist_invariants(function, layout.names);
  kernel::verify(module, "hoist_invariants");
  // 13. CPUs meet borders at the ends of rows alone.
  if (!on_gpu) {
    for (kernel::Function& function : module.functions) kernel::split_borders(function, layout.names);
    kernel::verify(module, "split_borders");
  }
  // 14. Compilers of C++ are kept from what costs more: loads for neighbours in a row, and shifts for products.
  if (!on_gpu) {
    kernel::find_neighbours(module, layout.names);
    kernel::verify(module, "find_neighbours");
    for (kernel::Function& function : module.functions) kernel::hide_factors(function, layout.names);
    kernel::verify(module, "hide_factors");
  }
  // 15. Passes that are alike become loops.
  if (!on_gpu) {
    for (kernel::Function& function : module.functions) kernel::roll_passes(function, layout.names);
    kernel::verify(module, "roll_passes");
  }
  // 16. So do kernels, of layers of blocks.
  if (on_gpu) {
    kernel::join_alike(module, layout.names);
    kernel::verify(module, "join_alike");
  }
  // 17. Kernels are known by now, and with them what a block takes of a multiprocessor.
  if (on_gpu) target::choose_blocks(module, target.architecture);
  return module;
}

}  // namespace weft::lower
