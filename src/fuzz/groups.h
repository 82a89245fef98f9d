// Groups of a random pipeline's stages, each to be one kernel (schedule/groups.h), whether or not that pays.
#pragma once

#include <cstdint>

#include "ir/stage_ir.h"
#include "schedule/groups.h"

namespace weft::fuzz {

/// All that are legal can come, on CPUs; groups of one stage are left out. Half of those that keep rows have
/// small tiles. Of half of the kernels more is asked for: other widths, heights, batches and rooms, and single
/// stages that keep rows where they would not, or the other way round.
schedule::Grouping random_groups(const ir::Pipeline& prepared, std::uint64_t seed);

/// What is left of groups of another pipeline: without the stages that this one lacks, and without the groups,
/// tiles and kernels that are not legal here, or have no room in that memory.
schedule::Grouping legal_groups(const ir::Pipeline& prepared, const schedule::Grouping& grouping,
                                const schedule::Memory& memory = {});

}  // namespace weft::fuzz
