// What a group of stages costs a CPU: memory's time and the cores', both in bytes that memory could have
// moved.
//
//     gx stored, then hc:   in → gx | gx → hc          4 images of traffic
//     gx and hc as strips:  in → hc                    2 images; gx again in each strip's halo
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/bindings.h"
#include "schedule/marching.h"

namespace weft::schedule {

/// Ratios of the processor, not its speed. The defaults are of a server of 2023 (bench/all: 266 G additions
/// of floats, 9.8 G divisions and 25 GB copied per second, by two cores).
struct CpuModel {
  double operations_per_byte = 11;
  double operations_of_division = 27;
  double accesses_per_operation = 2;  ///< Loads and stores that caches serve in the time of an operation.
  double not_hidden = 0.7;            ///< Of the shorter of both times: cores wait, and so does memory.
  double launch = 100'000;            ///< Bytes' worth of waking the cores, and of waiting for the last.
  int strip_rows = 256;
};

struct GroupCost {
  double memory = 0, compute = 0;
  double total = 0;  ///< With what is not hidden, and the launch.
};

/// Extents of every image where nothing is known of them.
ir::Sizes nominal_sizes(const ir::Pipeline& pipeline);

/// Of one stage, or of several that march so. `operations` are those per pixel of each stage's loop, those of
/// stages computed in its place included (operations_of).
GroupCost cost_of(const std::vector<StageReads>& members, const March& march,
                  const std::map<const ir::Stage*, double>& operations, const ir::Sizes& sizes,
                  const CpuModel& model = {});

/// Of one pixel, in additions; what is read and stored counts, too.
double operations_of(const ir::Stage& stage, const CpuModel& model = {});

}  // namespace weft::schedule
