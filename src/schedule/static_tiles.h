// Tiles that are gone through stage by stage, where they are asked for, for every kernel that has tiles.
//
//     Tiling::Block, of blocks of a GPU's threads     64, 128 or 256 threads, 1 to 32 rows: what should take least time
#pragma once

#include "plan/group.h"
#include "plan/planner.h"
#include "plan/tiles.h"
#include "schedule/schedule.h"

namespace weft::schedule {

/// The plan of a group in tiles of that kind; in the usual ones where any will do, or it has none of the kind. Then it
/// comes with the reason.
plan::PlanOrWhy plan_in(Tiling tiling, const plan::Group& group, const Memory& memory);

/// What a group should take by the model, as far as is known before sizes are searched.
double cost_in(Tiling tiling, const plan::Group& group, const Memory& memory, const plan::CostModel& model);

/// What to ask for, so that the plan takes least time by the model: nothing, if it is not static.
struct StaticTile {
  plan::Choices asked;
  double saved = 0;  ///< Of the time of strips, where there is a choice.
};
StaticTile best_static_tile(Tiling tiling, const plan::Group& group, const Memory& memory,
                            const plan::CostModel& model);

}  // namespace weft::schedule
