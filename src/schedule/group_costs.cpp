#include "schedule/group_costs.h"

#include <algorithm>
#include <set>

#include "analysis/operations.h"

namespace weft::schedule {
namespace {

constexpr std::int64_t nominal_extent = 2048;

double pixels_of(const ir::Stage& stage, const ir::Sizes& sizes) {
  double pixels = 1;
  for (const std::int64_t extent : ir::evaluate(stage, sizes).extent) pixels *= static_cast<double>(extent);
  return pixels;
}

/// How much more of a stage is computed than its readers' strips have pixels.
double overlap(const RollingRows& rows, int width, int height) {
  const auto along = [](const Reach& reach, int extent) {
    return static_cast<double>(extent + reach.extent() - 1) / extent;
  };
  return along(rows.x(), width) * along(rows.y(), height);
}

}  // namespace

ir::Sizes nominal_sizes(const ir::Pipeline& pipeline) {
  ir::Sizes sizes;
  for (const ir::StagePtr& input : pipeline.inputs)
    sizes[input->name] = std::vector<std::int64_t>(input->box.size(), nominal_extent);
  return sizes;
}

double operations_of(const ir::Stage& stage, const CpuModel& model) {
  const analysis::Operations o = analysis::operations(stage);
  const double accesses = static_cast<double>(o.loads + 1) * stage.type.lanes;
  return static_cast<double>(o.alu) + static_cast<double>(o.sfu) * model.operations_of_division +
         accesses / model.accesses_per_operation;
}

GroupCost cost_of(const std::vector<StageReads>& members, const March& march,
                  const std::map<const ir::Stage*, double>& operations, const ir::Sizes& sizes,
                  const CpuModel& model) {
  const ir::Stage& result = *members.back().stage;
  const int width = strip_width(march);
  GroupCost cost;
  std::set<const ir::Stage*> moved{&result}, inside;
  for (const StageReads& m : members) inside.insert(m.stage);
  for (const StageReads& m : members) {
    for (const ir::Read* read : m.reads) {
      if (!inside.count(read->source.get())) moved.insert(read->source.get());
    }
    const RollingRows* rows = march.of(*m.stage);
    const double again = rows ? overlap(*rows, width, model.strip_rows) : 1;
    cost.compute += pixels_of(*m.stage, sizes) * operations.at(m.stage) * again;
  }
  if (members.size() > 1) {  // images are copied into kept rows
    for (const RollingRows& r : march.rolling) {
      if (r.is_member) continue;
      cost.compute += pixels_of(r.source(), sizes) * 2 * r.source().type.lanes /
                      model.accesses_per_operation * overlap(r, width, model.strip_rows);
    }
  }
  cost.compute /= model.operations_per_byte;
  for (const ir::Stage* image : moved) cost.memory += pixels_of(*image, sizes) * size_of(image->type);
  cost.total = std::max(cost.memory, cost.compute) + model.not_hidden * std::min(cost.memory, cost.compute) +
               model.launch;
  return cost;
}

}  // namespace weft::schedule
