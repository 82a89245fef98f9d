// Groups of stages that are one kernel each, as a value: who makes them, a search or a user's file, does not
// matter to what makes a schedule of them (decision 0030).
//
//     {{"dx", "dy", "mag"}}      mag's kernel computes the gradients, too; any other stage is its own
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "plan/tiles.h"
#include "rewrite/prepare.h"
#include "schedule/hipacc/partition.h"
#include "schedule/schedule.h"

namespace weft::schedule {

/// Names of stages. A stage that is in no group is one by itself.
using Groups = std::vector<std::vector<std::string>>;

/// Groups, and what is known of stages that they leave in memory.
struct Grouping {
  Groups groups;
  std::map<std::string, std::string> why;  ///< By stage: a sentence for the schedule, if it is stored.
  std::string search{};                    ///< How much was searched, if anything: a clause.
  Tiles tiles{};                           ///< Of groups that have to march so.
  std::map<std::string, plan::Choices> kernels{};  ///< What else is asked for, by the stage that is stored.
  /// The windows of the definition that became stages of the pipeline that the groups are of.
  rewrite::Preparation preparation = rewrite::Preparation::Usual;
};

struct ScheduleOrWhy {
  std::optional<Schedule> schedule;
  std::string why;  ///< A clause that names the stages.
};

/// The schedule in which each group is one kernel: its last stage is stored, as are the others that something else needs; what
/// is left is computed in place where that stage's loop reads it at the current pixel alone; else all march
/// (plan/march.h), if the tiling has such kernels and the memory room for their rows. Or why there is none: what the groups
/// say makes no sense, two of them need each other, or a group cannot march.
ScheduleOrWhy schedule_of_groups(const ir::Pipeline& pipeline, const Grouping& grouping, Tiling tiling,
                                 const Memory& memory = {});

/// The groups of a schedule, all stages among them, by their last stages; within one in the order of the
/// pipeline.
Groups groups_of(const Schedule& schedule);
/// Those, the tiles that were asked for, and the pipeline that it is of.
Grouping grouping_of(const Schedule& schedule);

// ---- what makes groups

/// As large as pays: all that can be in place is, and if there are kernels that march, a stage that only one
/// of them needs joins it, unless its arithmetic takes longer than memory would.
Grouping largest_groups(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory = {});

/// Those of least cost, by a model (plan/core_costs.h, plan/block_costs.h), among all that can be
/// (group_search.h).
Grouping cheapest_groups(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory,
                         const plan::CostModel& model);
/// So many of the cheapest, the cheapest first; fewer if there are no more.
std::vector<Grouping> cheapest_groupings(const ir::Pipeline& pipeline, Tiling tiling, const Memory& memory,
                                         const plan::CostModel& model, int count);

/// The tiles of kernels that take several steps of an evolution.
enum class StepTiles {
  Any,      ///< Whichever should take least time, or single steps.
  Overlap,  ///< Those that march, where an evolution can be in them.
  Split,    ///< plan/split_tiles.h, likewise.
};
/// With the number of steps that one kernel takes of each evolution, and its tiles.
Grouping with_steps(const ir::Pipeline& pipeline, Grouping grouping, const Memory& memory,
                    const plan::CostModel& model, StepTiles tiles = StepTiles::Any);

/// With runs of small kernels that one block computes in turn instead, where that should take less time: on GPUs.
Grouping with_turns(const ir::Pipeline& pipeline, Grouping grouping, Tiling tiling, const Memory& memory,
                    const plan::CostModel& model);

/// Those of a partition of the pipeline's stages, or of its definition's: stages that it does not know are in
/// the group of what reads them. What is in place stays so where a group cannot be one kernel; its other
/// stages are stored, and say why.
Grouping groups_of_partition(const ir::Pipeline& pipeline, const hipacc::Partition& partition, Tiling tiling,
                             const Memory& memory = {});

/// {"groups": [["dx", "dy", "mag"], …], "tiles": {"mag": {"width": 256, "height": 64}, …}}, or what `weft
/// explain --json` prints, which holds that as "schedule". Tiles may be left out, and have the "traversal"
/// "static" instead of "march"; "kernels" say more of a kernel (plan/json.h). Throws weft::Error.
Grouping grouping_from_json(const std::string& text);
std::string to_json(const Groups& groups);
std::string to_json(const Grouping& grouping);
/// Groups and kernels, whole: what grouping_from_json makes the same schedule of, for the same processor.
std::string to_json(const Schedule& schedule);

}  // namespace weft::schedule
