// The sizes of a kernel's tiles that should take least time. Static ones, which are gone through stage by stage, for every
// kernel that has tiles, where they are asked for or take less than strips; and how wide strips of warps are:
//
//     Tiling::March, of warps         1, 2, 4 or 8 pixels a lane
//     Tiling::Block, of blocks        64, 128 or 256 threads, 1 to 32 rows
#pragma once

#include <string>

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

/// What to ask for, so that the plan takes least time by the model: nothing, if it is the usual one.
struct BestTile {
  plan::Choices asked;
  std::string why;  ///< The end of a sentence, where there was a choice.
};
BestTile best_tile(Tiling tiling, const plan::Group& group, const Memory& memory,
                   const plan::CostModel& model);

}  // namespace weft::schedule
