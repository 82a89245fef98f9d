// What a kernel takes on a CPU: its work, counted from its plan, and the time that takes.
//
//     gx stored, then hc:   in → gx | gx → hc          4 images of traffic
//     gx and hc as strips:  in → hc                    2 images; gx again in each strip's halo
#pragma once

#include "machine/cpu.h"
#include "plan/tiles.h"

namespace weft::plan {

/// What one kernel does. Halos that several tiles compute count as often.
struct CoreWork {
  double read = 0, written = 0;  ///< Bytes of memory: of each array once.
  double operations = 0, divisions = 0;
  double accesses = 0;  ///< Values loaded and stored, from wherever.
  double rows = 0;      ///< Loops along a row that are begun.
  double lines = 0;     ///< The same, of volumes: pointers to rows are found once for each plane.
  double launches = 1;
};
/// Adds the work of a core for `pixels` pixels of a stage. What neighbours share counts once.
void add_pixels(CoreWork& work, const Computed& computed, double pixels);
/// Both orders within a tile do the same work, so strips that march, whose rows stay in nearer caches, are
/// what is chosen where none is asked for.
CoreWork core_work_of(const KernelPlan& plan, const ir::Sizes& sizes);

/// Seconds.
struct CoreCost {
  double memory = 0, compute = 0;
  double total = 0;  ///< The longer, what is exposed of the shorter, and the launch.
};
CoreCost cost_of(const CoreWork& work, const machine::CpuSpeeds& cpu = machine::cpu_speeds());

CostModel cpu_costs(ir::Sizes sizes);

struct KernelCost {
  std::string result;  ///< The stage that it stores.
  CoreWork work;
  CoreCost cost;
};
std::vector<KernelCost> costs_of(const std::vector<KernelPlan>& plans, const ir::Sizes& sizes);
/// Seconds.
double total_of(const std::vector<KernelCost>& kernels);

}  // namespace weft::plan
