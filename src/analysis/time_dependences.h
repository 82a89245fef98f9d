// What the updates of an evolution need of one another across time, by one clock: a time step is as many ticks as there
// are levels, updates that need nothing of one another in a step share a level, and every dependence takes at least one
// tick.
//
//     ey, ex read hz one step back; hz reads ey and ex of this step     2 levels: ey and ex at 0, hz at 1
//     hz needs ey(x, y + 1) of 1 tick before, ey needs hz(x, y - 1) of 1 tick before
//
// Besides values there is memory: what overwrites a value comes after all that read it.
#pragma once

#include <string>
#include <vector>

#include "analysis/window.h"
#include "ir/stage_ir.h"

namespace weft::analysis {

/// The sink at (tick, x) comes after the source at (tick - ticks, x + o), for every o in the window.
struct TimeDependence {
  std::size_t source, sink;  ///< Fields, whose updates they are.
  int ticks;                 ///< 0 only where an update overwrites the pixel that it reads itself.
  Window offsets;
  bool is_of_memory = false;  ///< The sink overwrites what the source reads.
};

struct TimeDependences {
  int levels = 1;           ///< Ticks in a step.
  std::vector<int> level;   ///< By field: its update is at tick levels * step + level.
  std::vector<int> arrays;  ///< By field: they take turns.
  std::vector<bool> wraps;  ///< Per dimension: reads go round, by the border `repeat`.
  std::vector<TimeDependence> all;
  std::string why;  ///< If nothing can be said: a clause.
};

/// Where borders find pixels that lie elsewhere, windows hold these, too: `mirror` finds x + 1 for x - 2.
TimeDependences time_dependences(const ir::Evolution& evolution);

}  // namespace weft::analysis
