#include "plan/group.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <map>

#include "analysis/shared_values.h"
#include "ir/build.h"
#include "ir/visit.h"
#include "plan/block_strip.h"
#include "plan/core_strip.h"
#include "plan/ended_columns.h"
#include "plan/passes.h"
#include "plan/window_code.h"
#include "rewrite/flat_lanes.h"
#include "rewrite/rewrite_stages.h"

namespace weft::plan {
namespace {

std::vector<StageReads> reads_of(const std::vector<Loop>& loops) {
  std::vector<StageReads> reads;
  for (const Loop& loop : loops) reads.push_back(loop.reads);
  return reads;
}

/// The members that are no values, each with what the values that it reads read.
std::vector<StageReads> without_values(const std::vector<StageReads>& members,
                                       const std::set<const ir::Stage*>& values) {
  std::map<const ir::Stage*, StageReads> known;  // of values: producers first
  std::vector<StageReads> result;
  for (const StageReads& member : members) {
    StageReads merged{member.stage, {}, member.has_places, member.outcomes};
    for (const ir::Read* read : member.reads) {
      const auto value = known.find(read->source.get());
      if (value == known.end()) {
        merged.reads.push_back(read);
        continue;
      }
      const StageReads& of_value = value->second;
      merged.reads.insert(merged.reads.end(), of_value.reads.begin(), of_value.reads.end());
      merged.has_places |= of_value.has_places;
    }
    if (values.count(member.stage))
      known[member.stage] = std::move(merged);
    else
      result.push_back(std::move(merged));
  }
  return result;
}

std::set<const ir::Stage*> values_of(const std::vector<Loop>& loops, const March& march) {
  std::set<const ir::Stage*> candidates;
  for (const Loop& loop : loops) {
    if (loop.can_be_value && !loop.is_stored && &loop != &loops.back()) candidates.insert(loop.reads.stage);
  }
  return values_of_passes(reads_of(loops), march, std::move(candidates));
}

/// A group refers to stages, and owns none.
ir::StagePtr borrowed(const ir::Stage& stage) { return {ir::StagePtr(), &stage}; }

/// Why a tile of the result is none of the stage: a clause, or nothing.
std::optional<std::string> why_not_stored_with(const ir::Stage& result, const ir::Stage& stage) {
  if (!std::holds_alternative<ir::Pure>(stage.definition))
    return fmt::format("'{}' is stored, too, and has a kernel of its own", stage.name);
  if (!std::holds_alternative<ir::Pure>(result.definition))
    return fmt::format("'{}' is stored, and '{}' is a reduction", stage.name, result.name);
  if (stage.box != result.domain())
    return fmt::format("'{}' and '{}' are both stored, and have different boxes", stage.name, result.name);
  return std::nullopt;
}

}  // namespace

bool can_be_stored_with(const ir::Stage& result, const ir::Stage& stage) {
  return !why_not_stored_with(result, stage);
}

Loop loop_of(const ir::Stage& stage) {
  Loop loop{plan::reads_of(stage), analysis::operations(stage), analysis::shared_operations(stage)};
  loop.has_flat_lanes = rewrite::flat_lanes(stage).has_value();
  if (stage.domain().size() > 2) loop.alike = analysis::operations_alike(stage, 1);
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const bool is_median = std::holds_alternative<ir::Median>(e->op);
    const bool is_window = std::holds_alternative<ir::FoldResult>(e->op) || is_median;
    if (is_window && loop.of_windows.empty()) loop.of_windows.push_back(&stage);
    if (is_median && loop.of_medians.empty()) loop.of_medians.push_back(&stage);
  });
  return loop;
}

analysis::Operations operations_together(const Loop& loop, const analysis::Neighbours& neighbours,
                                         const CodeLimits& limits) {
  analysis::Operations operations = loop.operations;
  for (const ir::Stage* stage : loop.of_medians)
    if (has_networks(*stage, limits))
      operations.alu += analysis::operations(*stage, neighbours).alu - analysis::operations(*stage).alu;
  return operations;
}

GroupOrWhy group_of(const std::vector<Loop>& loops, const Memory& memory) {
  Group group{loops, {}, reads_of(loops), {}, {}, {}, {}};
  for (const Loop& loop : loops) {
    if (!loop.is_stored || &loop == &loops.back()) continue;
    if (auto why = why_not_stored_with(group.result(), loop.stage())) return {std::nullopt, std::move(*why)};
    group.stored.insert(&loop.stage());
    group.outcomes.push_back(ir::read(rewrite::read_at_pixel(borrowed(loop.stage()), {})));
    group.members.back().outcomes.push_back(&std::get<ir::Read>(group.outcomes.back()->op));
  }
  if (auto why = why_not_ended(group.members, memory)) return {std::nullopt, std::move(*why)};
  if (loops.size() == 1 || group.ends_columns()) {
    for (const Loop& loop : loops) group.halos.emplace_back(loop.stage().domain().size());
    return {std::move(group), ""};
  }
  MarchOrWhy found = march_of(group.members);
  if (!found.march) return {std::nullopt, std::move(found.why)};
  group.values = values_of(loops, *found.march);
  for (const Loop& loop : loops) {
    const RollingRows* rows = found.march->of(loop.stage());
    group.halos.push_back(rows ? rows->window : Window(loop.stage().domain().size()));
  }
  if (!group.values.empty()) {
    group.members = without_values(group.members, group.values);
    found = march_of(group.members);
    if (!found.march) throw InternalError("a group that cannot march without its values: " + found.why);
  }
  group.march = *std::move(found.march);
  auto why = memory.is_of_blocks() ? why_not_in_blocks(group.members, group.march, *memory.shared_bytes)
                                   : why_not_in_caches(group.march, group.result());
  if (why) return {std::nullopt, std::move(*why)};
  return {std::move(group), ""};
}

GroupOrWhy group_in_turn(std::vector<Loop> loops, const Memory& memory) {
  const std::string& last = loops.back().stage().name;
  if (!memory.is_of_blocks())
    return {std::nullopt, fmt::format("no block of threads computes what '{}' needs in turn there", last)};
  Group group;
  group.is_in_turn = true;
  for (Loop& loop : loops) {
    const ir::Stage& stage = loop.stage();
    if (!std::holds_alternative<ir::Pure>(stage.definition))
      return {std::nullopt,
              fmt::format("'{}' is no stage of pixels, which alone are computed in turn", stage.name)};
    loop.is_stored = true;
    if (&loop != &loops.back()) group.stored.insert(&stage);
    group.halos.emplace_back(stage.domain().size());
  }
  group.members = reads_of(loops);
  group.loops = std::move(loops);
  return {std::move(group), ""};
}

double operations_of(const Group& group) {
  double operations = 0;
  for (const Loop& loop : group.loops)
    operations += static_cast<double>(loop.operations.alu + 8 * loop.operations.sfu);
  return operations;
}

}  // namespace weft::plan
