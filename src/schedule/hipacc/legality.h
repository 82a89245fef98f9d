// Which stages may be one kernel: the three constraints of the Hipacc thesis, section 3.3.2.
//
//     {sx, gx}     may
//     {dx, sx}     may not: 'sxy', outside of them, reads 'dx'
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/architecture.h"
#include "schedule/hipacc/block_needs.h"
#include "schedule/stage_graph.h"

namespace weft::schedule::hipacc {

struct FusionLimits {
  ThreadBlock block;
  /// C_occ of Eq. 3.2: a fused kernel keeps at least this part of the best occupancy of its stages.
  double occupancy_kept = 0.5;
  /// c_Mshared, in the thesis' example: how many times the most shared memory of any one of its stages a
  /// fused kernel may take.
  double shared_growth = 2;
  /// Without one, as for a CPU, there is no occupancy to keep.
  const machine::Architecture* architecture = nullptr;
};

enum class Obstacle {
  Disconnected,  ///< No edges join all members.
  Kind,          ///< A reduction, a scatter, an evolution.
  Header,        ///< Another iteration space, or pixels that are not read one to one: Eq. 3.3.
  Output,        ///< A result other than the last is needed outside: Fig. 3.2c.
  Input,         ///< An image is read that the first stages do not read: Fig. 3.2d.
  Resources,     ///< Eq. 3.2, and the growth of shared memory.
};
std::string name_of(Obstacle obstacle);

struct Objection {
  Obstacle obstacle;
  std::string why;  ///< A clause: "'sxy' reads 'dx', too".
};

/// The first that applies; nothing if the members, which ascend, may be one kernel. A stage alone always
/// may.
std::optional<Objection> objection(const StageGraph& graph, const std::vector<int>& members,
                                   const FusionLimits& limits);

}  // namespace weft::schedule::hipacc
