#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/footprint.h"
#include "ir/visit.h"
#include "plan/group.h"
#include "schedule/groups.h"
#include "schedule/kernels.h"

namespace weft::schedule {
namespace {

bool always(const ir::Stage&, const ir::Stage&) { return true; }

// Operations for each byte that is not stored and loaded, from which on a core is busy while memory moves
// them, so that computing a halo twice costs more than is saved. A division or a root counts as several.
constexpr double operations_per_byte = 12;
constexpr int operations_of_division = 8;

/// Why storing a stage is faster, though it could march: a clause, or nothing.
std::optional<std::string> reason_to_store(const ir::Stage& stage) {
  const analysis::Operations operations = analysis::summarize(stage).operations;
  const auto count = operations.alu + operations_of_division * operations.sfu;
  const int bytes = 2 * size_of(stage.type);
  if (static_cast<double>(count) < operations_per_byte * bytes) return std::nullopt;
  return fmt::format("{} operations a pixel take longer than {} bytes to memory and back", count, bytes);
}

std::string not_with(const std::string& last, const std::string& why) {
  return fmt::format("; it is not computed with '{}', since {}", last, why);
}

class LargestGroups {
 public:
  LargestGroups(const ir::Pipeline& pipeline, const Memory& memory)
      : pipeline_(pipeline), memory_(memory), kernels_(pipeline, always), last_(kernels_.loops().size()) {
    for (std::size_t l = 0; l < last_.size(); ++l) last_[l] = l;
  }

  Grouping run(Tiling tiling) {
    for (const ir::StagePtr& stage : pipeline_.stages) {
      if (!kernels_.in_place(*stage))
        grouping_.why[stage->name] = why_not_in_place(pipeline_, kernels_, *stage);
    }
    if (tiling != Tiling::None) {
      for (std::size_t last = last_.size(); last-- > 0;) {
        if (last_[last] == last) march_to(last);
      }
    }
    std::unordered_map<const ir::Stage*, std::size_t> group_of;  // the index of the loop that ends it
    for (std::size_t l = 0; l < last_.size(); ++l) group_of[&kernels_.loops()[l].stage()] = last_[l];
    std::vector<std::vector<std::string>> groups(last_.size());
    for (const ir::StagePtr& stage : pipeline_.stages)
      groups[group_of.at(&kernels_.loop_of(*stage))].push_back(stage->name);
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    grouping_.groups = std::move(groups);
    return std::move(grouping_);
  }

 private:
  /// Takes what only the group of that last loop needs, and can march with it, from there back.
  void march_to(std::size_t last) {
    const std::vector<plan::Loop>& loops = kernels_.loops();
    std::vector<bool> group(loops.size(), false);
    group[last] = true;
    for (std::size_t l = last; l-- > 0;) {
      const ir::Stage& stage = loops[l].stage();
      if (last_[l] != l || ir::is_output(pipeline_, stage) || !kernels_.read_only_in(group, stage)) continue;
      std::vector<plan::Loop> members{loops[l]};
      for (std::size_t m = l + 1; m <= last; ++m) {
        if (group[m]) members.push_back(loops[m]);
      }
      const auto refuse = [&](const std::string& why) {
        grouping_.why[stage.name] += not_with(loops[last].stage().name, why);
      };
      if (const plan::GroupOrWhy way = plan::group_of(members, memory_); !way.group) {
        refuse(way.why);
      } else if (const auto why = reason_to_store(stage)) {
        refuse(*why);
      } else {
        group[l] = true;
        last_[l] = last;
      }
    }
  }

  const ir::Pipeline& pipeline_;
  const Memory memory_;
  const Kernels kernels_;
  std::vector<std::size_t> last_;  // by loop, the last of its group
  Grouping grouping_;
};

/// The group of each stage: a number.
using GroupOf = std::unordered_map<const ir::Stage*, std::size_t>;

/// Those of the partition, and for stages that it does not know that of their readers, if they have one.
GroupOf group_of_stages(const ir::Pipeline& pipeline, const hipacc::Partition& partition,
                        const Kernels& kernels) {
  std::unordered_map<std::string, std::size_t> named;
  for (std::size_t g = 0; g < partition.groups.size(); ++g) {
    for (const hipacc::GroupMember& member : partition.groups[g].members) named[member.stage] = g;
  }
  std::size_t next = partition.groups.size();
  GroupOf group_of;
  for (auto stage = pipeline.stages.rbegin(); stage != pipeline.stages.rend(); ++stage) {  // readers first
    const auto known = named.find((*stage)->name);
    const auto& readers = kernels.uses(**stage).consumers;
    const bool is_of_one =
        !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](const ir::Stage* r) {
          return group_of.at(r) == group_of.at(readers[0]);
        });
    group_of[stage->get()] = known != named.end() ? known->second
                             : is_of_one          ? group_of.at(readers[0])
                                                  : next++;
  }
  return group_of;
}

}  // namespace

Grouping largest_groups(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory) {
  return LargestGroups(pipeline, memory).run(tiling);
}

Grouping groups_of_partition(const ir::Pipeline& pipeline, const hipacc::Partition& partition, Tiling tiling,
                             const Memory& memory) {
  const GroupOf group_of = group_of_stages(pipeline, partition, Kernels(pipeline, always));
  const auto together = [&](const ir::Stage& a, const ir::Stage& b) {
    return group_of.at(&a) == group_of.at(&b);
  };
  const Kernels in_place(pipeline, together);
  std::map<std::size_t, std::vector<const ir::Stage*>> groups;
  for (const ir::StagePtr& stage : pipeline.stages) groups[group_of.at(stage.get())].push_back(stage.get());
  Grouping grouping;
  for (const auto& [number, members] : groups) {
    std::vector<std::string> names;
    for (const ir::Stage* member : members) names.push_back(member->name);
    const ir::Stage& last = *members.back();
    if (number < partition.groups.size() && members.size() == 1)
      grouping.why[last.name] = partition.groups[number].why;
    const ScheduleOrWhy whole = schedule_of_groups(pipeline, {{names}, {}}, tiling, memory);
    if (whole.schedule) {
      grouping.groups.push_back(std::move(names));
      continue;
    }
    for (const ir::Stage* loop : members) {
      if (in_place.in_place(*loop)) continue;
      auto& group = grouping.groups.emplace_back();
      for (const ir::Stage* member : members) {
        if (&in_place.loop_of(*member) == loop) group.push_back(member->name);
      }
      if (loop != &last)
        grouping.why[loop->name] =
            why_not_in_place(pipeline, in_place, *loop) + not_with(last.name, whole.why);
    }
  }
  return grouping;
}

}  // namespace weft::schedule
