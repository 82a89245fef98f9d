#include "schedule/group_costs.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
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
  if (march.in_parts) {
    const std::int64_t row = std::max<std::int64_t>(result.extent[0], 1);
    const std::int64_t whole = std::max<std::int64_t>(part_pixels / row, 1) * march.step[1];
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

/// The pixels that a loop computes at a time where it reads a coarser image.
std::int64_t phases_of(const Loop& loop) {
  std::int64_t phases = 1;
  for (const ir::Read* read : loop.reads.reads) {
    if (!read->source->box.empty()) phases = std::max(phases, analysis::footprint(*read).front().divisor);
  }
  return phases;
}

/// So many pixels as would take as long, were all in whole vectors. At both ends of a row, those that make up
/// no whole group of phases are computed one by one; and compilers interleave phases in vectors only if they
/// have a power of two of lanes in all, or lanes lie apart.
double pixels_of(const Loop& loop, const Covered& all, bool lanes_apart = false) {
  const std::int64_t phases = phases_of(loop);
  const auto lanes = static_cast<std::uint64_t>(phases * loop.reads.stage->type.lanes);
  const double one_by_one = static_cast<double>(phases - 1) * all.rows * (machine::vector_values - 1);
  const bool is_even = phases == 1 || lanes_apart || std::has_single_bit(lanes);
  return one_by_one + all.pixels * (is_even ? 1 : machine::uneven_phases);
}

/// The share of strips that copy the rows of images: those at their ends. All do where lanes lie apart.
double copying_strips(const Strips& strips, bool lanes_apart) {
  const double inner = std::max(strips.columns - 2, 0.0) * std::max(strips.bands - 2, 0.0);
  return lanes_apart ? 1 : 1 - inner / (strips.columns * strips.bands);
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
    const Covered all{pixels_of(box), rows_of(box)};
    const double one_by_one = border_columns(members[0]) * all.rows;
    add_loop(work, members[0].operations, accesses_of(members[0]),
             pixels_of(members[0], all) + one_by_one * (machine::vector_values - 1));
    work.rows += all.rows;
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
    if (r.is_member) continue;
    const Covered image = covered(r.source());
    const int lanes = r.source().type.lanes;
    work.accesses += image.pixels * 2 * lanes * copying_strips(strips, march.lanes_apart && lanes > 1);
    work.rows += image.rows;
  }
  for (const Loop& m : members) {
    add_loop(work, m.operations, accesses_of(m, values),
             pixels_of(m, covered(*m.reads.stage), march.lanes_apart));
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
  const double longer = std::max(cost.memory, cost.compute), shorter = std::min(cost.memory, cost.compute);
  // The less there is of one, the easier it passes during the other.
  const double exposed = longer > 0 ? cpu.exposed.value * shorter * shorter / longer : 0;
  cost.total = longer + exposed + cpu.kernel.value;
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
