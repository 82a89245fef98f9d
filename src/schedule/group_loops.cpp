#include "schedule/group_loops.h"

#include <algorithm>
#include <map>

namespace weft::schedule {
namespace {

constexpr std::int64_t nominal_extent = 2048, largest_extent = std::int64_t{1} << 30;

std::int64_t parts(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

}  // namespace

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

std::vector<StageReads> reads_of(const std::vector<Loop>& members) {
  std::vector<StageReads> reads;
  for (const Loop& m : members) reads.push_back(m.reads);
  return reads;
}

MarchOrWhy march_of(const std::vector<Loop>& members, const Kernels& kernels, const Memory& memory) {
  if (members.size() == 1) return {March{}, ""};
  return kernels.march(reads_of(members), memory);
}

std::set<const ir::Stage*> values_of(const std::vector<Loop>& members, const March& march) {
  std::set<const ir::Stage*> values;
  for (const Loop& m : members) {
    if (m.can_be_value && &m != &members.back()) values.insert(m.reads.stage);
  }
  return values_of_passes(reads_of(members), march, values);
}

double accesses_of(const Loop& loop, const std::set<const ir::Stage*>& values) {
  auto accesses = static_cast<double>(loop.operations.loads + 1) * loop.reads.stage->type.lanes;
  if (values.count(loop.reads.stage)) accesses -= loop.reads.stage->type.lanes;
  for (const ir::Stage* value : values) {
    const bool is_read = std::any_of(loop.reads.reads.begin(), loop.reads.reads.end(),
                                     [&](const ir::Read* r) { return r->source.get() == value; });
    if (is_read) accesses -= value->type.lanes;
  }
  return accesses;
}

Traffic traffic_of(const std::vector<Loop>& members, const ir::Sizes& sizes) {
  std::set<const ir::Stage*> inside, read;
  for (const Loop& m : members) inside.insert(m.reads.stage);
  for (const Loop& m : members) {
    for (const ir::Read* r : m.reads.reads) {
      if (!inside.count(r->source.get())) read.insert(r->source.get());
    }
  }
  const auto bytes = [&](const ir::Stage& s) { return pixels_of(box_of(s.box, sizes)) * size_of(s.type); };
  Traffic traffic;
  for (const ir::Stage* image : read) traffic.read += bytes(*image);
  traffic.written = bytes(*members.back().reads.stage);
  return traffic;
}

ir::Sizes nominal_sizes(const ir::Pipeline& pipeline) {
  ir::Sizes sizes;
  for (const ir::StagePtr& input : pipeline.inputs)
    sizes[input->name] = std::vector<std::int64_t>(input->box.size(), nominal_extent);
  return sizes;
}

ir::ConcreteBox box_of(const ir::Box& ranges, const ir::Sizes& sizes) {
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

double rows_of(const ir::ConcreteBox& box) {
  return box.extent.empty() ? 1
                            : pixels_of(box) / static_cast<double>(std::max<std::int64_t>(box.extent[0], 1));
}

Strips strips_of(const ir::ConcreteBox& result, std::int64_t width, std::int64_t height) {
  return {static_cast<double>(parts(result.extent[0], width)),
          static_cast<double>(parts(result.extent[1], height))};
}

Covered covered_by(const Strips& strips, const ir::ConcreteBox& box, const Window& window) {
  const auto along = [](std::int64_t extent, double parts, const Reach& reach) {
    const auto more = static_cast<double>(reach.extent() - 1);
    return static_cast<double>(extent) + more * parts;
  };
  const double rows = along(box.extent[1], strips.bands, window[1]);
  return {along(box.extent[0], strips.columns, window[0]) * rows, rows * strips.columns};
}

}  // namespace weft::schedule
