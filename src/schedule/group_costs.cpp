#include "schedule/group_costs.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <set>

#include "schedule/groups.h"

namespace weft::schedule {
namespace {

constexpr std::int64_t nominal_extent = 2048, largest_extent = std::int64_t{1} << 30;

/// Sizes that nothing was said about may not suit the pipeline.
ir::ConcreteBox concrete(const ir::Box& ranges, const ir::Sizes& sizes) {
  ir::ConcreteBox box;
  for (const ir::Range& range : ranges)
    box.extent.push_back(std::clamp<std::int64_t>(ir::evaluate(range.extent, sizes), 0, largest_extent));
  return box;
}

double pixels_of(const ir::ConcreteBox& box) {
  double pixels = 1;
  for (const std::int64_t extent : box.extent) pixels *= static_cast<double>(extent);
  return pixels;
}
double bytes_of(const ir::Stage& stage, const ir::Sizes& sizes) {
  return pixels_of(concrete(stage.box, sizes)) * size_of(stage.type);
}

/// Rows of an image of that size.
double rows_of(const ir::ConcreteBox& box) {
  return box.extent.empty() ? 1
                            : pixels_of(box) / static_cast<double>(std::max<std::int64_t>(box.extent[0], 1));
}

/// How the result is divided.
struct Strips {
  double columns = 1, bands = 1;  ///< Strips side by side, and one below the other.
};

Strips strips_of(const ir::ConcreteBox& result, const March& march) {
  const auto parts = [](std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; };
  const std::int64_t columns = parts(result.extent[0], strip_width(march));
  const std::int64_t even = result.extent[1] * columns / enough_strips / least_height * least_height;
  std::int64_t height = std::clamp<std::int64_t>(even, least_height, most_height);
  if (march.columns) {
    const std::int64_t width = std::max<std::int64_t>(result.extent[0], 1);
    const std::int64_t whole = std::max<std::int64_t>(*march.columns / width, 1) * march.step[1];
    height = parts(height, whole) * whole;
  }
  return {static_cast<double>(columns), static_cast<double>(parts(result.extent[1], height))};
}

/// What all strips compute, or copy, of one source.
struct Covered {
  double pixels = 0, rows = 0;
};

Covered covered_by(const Strips& strips, const ir::ConcreteBox& box, const Window& window) {
  const auto along = [](std::int64_t extent, double parts, const Reach& reach) {
    const auto more = static_cast<double>(reach.extent() - 1);
    return static_cast<double>(extent) + more * parts;
  };
  const double rows = along(box.extent[1], strips.bands, window[1]);
  return {along(box.extent[0], strips.columns, window[0]) * rows, rows * strips.columns};
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

std::vector<StageReads> reads_of(const std::vector<Loop>& members) {
  std::vector<StageReads> reads;
  for (const Loop& m : members) reads.push_back(m.reads);
  return reads;
}

/// Loads and stores of a pixel by a loop, of values.
double accesses_of(const Loop& loop) {
  return static_cast<double>(loop.operations.loads + 1) * loop.reads.stage->type.lanes;
}

void add_memory(GroupWork& work, const std::vector<Loop>& members, const ir::Sizes& sizes) {
  std::set<const ir::Stage*> inside, read;
  for (const Loop& m : members) inside.insert(m.reads.stage);
  for (const Loop& m : members) {
    for (const ir::Read* r : m.reads.reads) {
      if (!inside.count(r->source.get())) read.insert(r->source.get());
    }
  }
  for (const ir::Stage* image : read) work.read += bytes_of(*image, sizes);
  work.written += bytes_of(*members.back().reads.stage, sizes);
}

void add_loop(GroupWork& work, const analysis::Operations& operations, double accesses, double pixels) {
  work.operations += pixels * static_cast<double>(operations.alu);
  work.divisions += pixels * static_cast<double>(operations.sfu);
  work.accesses += pixels * accesses;
}

}  // namespace

ir::Sizes nominal_sizes(const ir::Pipeline& pipeline) {
  ir::Sizes sizes;
  for (const ir::StagePtr& input : pipeline.inputs)
    sizes[input->name] = std::vector<std::int64_t>(input->box.size(), nominal_extent);
  return sizes;
}

std::vector<Loop> loops_of(const ir::Pipeline& pipeline, const Kernels& kernels) {
  std::vector<Loop> loops;
  std::map<const ir::Stage*, std::size_t> number;
  for (const StageReads& reads : kernels.loops()) {
    const ir::Stage& stage = *reads.stage;
    const bool can_be_value = std::holds_alternative<ir::Pure>(stage.definition) &&
                              !always_stored(pipeline, stage) && can_be_in_place(stage, kernels.uses(stage));
    number[&stage] = loops.size();
    loops.push_back({reads, {}, can_be_value});
  }
  for (const ir::StagePtr& stage : pipeline.stages) {
    const analysis::Operations own = analysis::operations(*stage);
    analysis::Operations& all = loops[number.at(&kernels.loop_of(*stage))].operations;
    all.alu += own.alu, all.sfu += own.sfu, all.loads += own.loads;
    // What is in place is read at one pixel, by each of its readers.
    if (kernels.in_place(*stage))
      all.loads -= static_cast<std::int64_t>(kernels.uses(*stage).consumers.size());
  }
  return loops;
}

MarchOrWhy march_of(const std::vector<Loop>& members) {
  if (members.size() == 1) return {March{}, ""};
  return march_of(reads_of(members));
}

GroupWork work_of(const std::vector<Loop>& members, const March& march, const ir::Sizes& sizes) {
  GroupWork work;
  add_memory(work, members, sizes);
  const ir::ConcreteBox box = concrete(members.back().reads.stage->domain(), sizes);
  if (members.size() == 1) {
    const double one_by_one = (border_columns(members[0]) + phase_columns(members[0])) * rows_of(box);
    add_loop(work, members[0].operations, accesses_of(members[0]),
             pixels_of(box) + one_by_one * (machine::vector_values - 1));
    work.rows += rows_of(box);
    return work;
  }
  const std::vector<StageReads> reads = reads_of(members);
  std::set<const ir::Stage*> values;
  for (const Loop& m : members) {
    if (m.can_be_value && &m != &members.back()) values.insert(m.reads.stage);
  }
  values = values_of_passes(reads, march, values);
  March kept = march;
  std::erase_if(kept.rolling, [&](const RollingRows& r) { return values.count(&r.source()) > 0; });
  const Strips strips = strips_of(box, kept);
  const auto covered = [&](const ir::Stage& stage) {
    const RollingRows* rows = march.of(stage);
    return covered_by(strips, concrete(stage.domain(), sizes), rows ? rows->window : Window(2));
  };
  for (const RollingRows& r : kept.rolling) {
    if (r.is_member) continue;  // rows of images are copied
    const Covered copied = covered(r.source());
    work.accesses += copied.pixels * 2 * r.source().type.lanes;
    work.rows += copied.rows;
  }
  for (const Loop& m : members) {
    double accesses = accesses_of(m);
    if (values.count(m.reads.stage)) accesses -= m.reads.stage->type.lanes;
    for (const ir::Stage* value : values) {
      const bool is_read = std::any_of(m.reads.reads.begin(), m.reads.reads.end(),
                                       [&](const ir::Read* r) { return r->source.get() == value; });
      if (is_read) accesses -= value->type.lanes;
    }
    const Covered all = covered(*m.reads.stage);
    const double one_by_one = phase_columns(m) * all.rows;
    add_loop(work, m.operations, accesses, all.pixels + one_by_one * (machine::vector_values - 1));
  }
  for (const Pass& pass : passes_of(reads, march, values)) work.rows += covered(*pass.front()).rows;
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
    const MarchOrWhy found = march_of(of_group);
    if (!found.march) throw InternalError("a group that cannot march: " + found.why);
    const GroupWork work = work_of(of_group, *found.march, sizes);
    costs.push_back({of_group.back().reads.stage->name, work, cost_of(work)});
  }
  return costs;
}

double total_of(const std::vector<KernelCost>& kernels) {
  double seconds = 0;
  for (const KernelCost& kernel : kernels) seconds += kernel.cost.total;
  return seconds;
}

}  // namespace weft::schedule
