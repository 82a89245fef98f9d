#include "schedule/group_costs.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <utility>

#include "schedule/groups.h"

namespace weft::schedule {
namespace {

/// Tiles that were asked for, or strips as wide as their rows fit a cache and as high as leaves enough of
/// them; those of a reduction are whole parts of it.
Strips march_strips(const ir::ConcreteBox& result, const March& march, const std::optional<Tile>& tile) {
  if (tile) return strips_of(result, tile->width, tile->height);
  const int width = strip_width(march);
  const auto columns = static_cast<std::int64_t>(strips_of(result, width, 1).columns);
  const std::int64_t even = result.extent[1] * columns / enough_strips / least_height * least_height;
  std::int64_t height = std::clamp<std::int64_t>(even, least_height, most_height);
  if (march.columns) {
    const std::int64_t row = std::max<std::int64_t>(result.extent[0], 1);
    const std::int64_t whole = std::max<std::int64_t>(*march.columns / row, 1) * march.step[1];
    height = (height + whole - 1) / whole * whole;
  }
  return strips_of(result, width, height);
}

/// Columns at both ends of a row whose windows leave the image: their pixels find their way back one by one,
/// not in vectors. Rows that march have copies beyond their ends instead.
double border_columns(const Loop& loop) {
  Reach reach;
  for (const ir::Read* read : loop.reads.reads) {
    if (!read->border || read->source->box.empty()) continue;
    const std::optional<Window> window = window_of(analysis::footprint(*read));
    if (window) reach = hull({reach}, {window->front()}).front();
  }
  return static_cast<double>(reach.extent() - 1);
}

/// Columns at both ends of a row that reads a coarser image: those that make up no whole group of phases are
/// computed one by one, too.
double phase_columns(const Loop& loop) {
  std::int64_t phases = 1;
  for (const ir::Read* read : loop.reads.reads) {
    if (!read->source->box.empty()) phases = std::max(phases, analysis::footprint(*read).front().divisor);
  }
  return static_cast<double>(phases - 1);
}

void add_loop(GroupWork& work, const analysis::Operations& operations, double accesses, double pixels) {
  work.operations += pixels * static_cast<double>(operations.alu);
  work.divisions += pixels * static_cast<double>(operations.sfu);
  work.accesses += pixels * accesses;
}

}  // namespace

GroupWork work_of(const std::vector<Loop>& members, const March& march, const ir::Sizes& sizes,
                  const std::optional<Tile>& tile) {
  GroupWork work;
  const Traffic traffic = traffic_of(members, sizes);
  work.read = traffic.read, work.written = traffic.written;
  const ir::ConcreteBox box = box_of(members.back().reads.stage->domain(), sizes);
  if (members.size() == 1) {
    const double one_by_one = (border_columns(members[0]) + phase_columns(members[0])) * rows_of(box);
    add_loop(work, members[0].operations, accesses_of(members[0]),
             pixels_of(box) + one_by_one * (machine::vector_values - 1));
    work.rows += rows_of(box);
    return work;
  }
  const std::set<const ir::Stage*> values = values_of(members, march);
  const March kept = without(march, values);
  const Strips strips = march_strips(box, kept, tile);
  const auto covered = [&](const ir::Stage& stage) {
    const RollingRows* rows = march.of(stage);
    return covered_by(strips, box_of(stage.domain(), sizes), rows ? rows->window : Window(2));
  };
  for (const RollingRows& r : kept.rolling) {
    if (r.is_member) continue;  // rows of images are copied
    const Covered copied = covered(r.source());
    work.accesses += copied.pixels * 2 * r.source().type.lanes;
    work.rows += copied.rows;
  }
  for (const Loop& m : members) {
    const Covered all = covered(*m.reads.stage);
    const double one_by_one = phase_columns(m) * all.rows;
    add_loop(work, m.operations, accesses_of(m, values),
             all.pixels + one_by_one * (machine::vector_values - 1));
  }
  for (const Pass& pass : passes_of(reads_of(members), march, values))
    work.rows += covered(*pass.front()).rows;
  return work;
}

GroupCost cost_of(const GroupWork& work, const machine::CpuSpeeds& cpu) {
  GroupCost cost;
  cost.memory = (work.read + work.written) / cpu.bytes.value;
  cost.compute = std::max(work.operations / cpu.operations.value, work.accesses / cpu.accesses.value) +
                 work.divisions / cpu.divisions.value + work.rows * cpu.row.value / cpu.cores;
  cost.total = std::max(cost.memory, cost.compute) +
               (1 - cpu.hidden.value) * std::min(cost.memory, cost.compute) + cpu.kernel.value;
  return cost;
}

CostModel cpu_costs(ir::Sizes sizes) {
  return [sizes = std::move(sizes)](const std::vector<Loop>& members, const March& march) {
    return cost_of(work_of(members, march, sizes)).total;
  };
}

std::vector<KernelCost> costs_of(const ir::Pipeline& pipeline, const Schedule& schedule,
                                 const ir::Sizes& sizes) {
  const Groups groups = groups_of(schedule);
  std::map<std::string, std::size_t> group_of;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::string& stage : groups[g]) group_of[stage] = g;
  }
  const Kernels kernels(pipeline, [&](const ir::Stage& stage, const ir::Stage& reader) {
    return group_of.at(stage.name) == group_of.at(reader.name);
  });
  std::vector<std::vector<Loop>> members(groups.size());
  for (Loop& loop : loops_of(pipeline, kernels))
    members[group_of.at(loop.reads.stage->name)].push_back(std::move(loop));
  std::vector<KernelCost> costs;
  for (const std::vector<Loop>& of_group : members) {
    const MarchOrWhy found = march_of(of_group, kernels);
    if (!found.march) throw InternalError("a group that cannot march: " + found.why);
    const std::string& result = of_group.back().reads.stage->name;
    const GroupWork work = work_of(of_group, *found.march, sizes, schedule.of(result).tile);
    costs.push_back({result, work, cost_of(work)});
  }
  return costs;
}

double total_of(const std::vector<KernelCost>& kernels) {
  double seconds = 0;
  for (const KernelCost& kernel : kernels) seconds += kernel.cost.total;
  return seconds;
}

}  // namespace weft::schedule
