// What a group of stages costs a CPU: the work of its kernel, counted, and the time that takes.
//
//     gx stored, then hc:   in → gx | gx → hc          4 images of traffic
//     gx and hc as strips:  in → hc                    2 images; gx again in each strip's halo
#pragma once

#include <string>
#include <vector>

#include "machine/cpu.h"
#include "schedule/group_loops.h"
#include "schedule/schedule.h"

namespace weft::schedule {

/// What one kernel does. Halos that several strips compute count as often.
struct GroupWork {
  double read = 0, written = 0;  ///< Bytes of memory: of each array once.
  double operations = 0, divisions = 0;
  double accesses = 0;  ///< Values loaded and stored, from wherever.
  double rows = 0;      ///< Loops along a row that are begun.
};
/// Of one loop, or of several that march so; in tiles of that size, or in those that follow from their rows.
/// Both orders within a tile do the same work, so strips that march, whose rows stay in nearer caches, are
/// what is chosen where none is asked for.
GroupWork work_of(const std::vector<Loop>& members, const March& march, const ir::Sizes& sizes,
                  const std::optional<Tile>& tile = {});

/// Seconds.
struct GroupCost {
  double memory = 0, compute = 0;
  double total = 0;  ///< The longer, what is exposed of the shorter, and the launch.
};
GroupCost cost_of(const GroupWork& work, const machine::CpuSpeeds& cpu = machine::cpu_speeds());

CostModel cpu_costs(ir::Sizes sizes);

struct KernelCost {
  std::string result;  ///< The stage that it stores.
  GroupWork work;
  GroupCost cost;
};
/// Of all kernels of a schedule for that pipeline on a CPU.
std::vector<KernelCost> costs_of(const ir::Pipeline& pipeline, const Schedule& schedule,
                                 const ir::Sizes& sizes);
/// Seconds.
double total_of(const std::vector<KernelCost>& kernels);

}  // namespace weft::schedule
