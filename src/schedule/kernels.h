// Who reads each stage and how, and which stages are computed in place of what reads them: the others are
// the loops that there are.
//
//     dx = in(x + 1, y) - in(x - 1, y)        a loop, since mag and edges read it
//     mag = abs(dx)                           in place in edges
//     edges = select(mag > 10, dx, 0)         a loop, which reads dx twice
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/stage_ir.h"
#include "plan/group.h"
#include "schedule/schedule.h"

namespace weft::schedule {

/// How the stages of a pipeline read one stage.
struct Uses {
  std::vector<const ir::Stage*> consumers;  ///< Distinct, in the order of the pipeline.
  bool at_current_pixel_only = true;
  bool inside_a_loop = false;  ///< Over a window, so that it would be computed again for each point.
  const ir::Stage* evolution = nullptr;  ///< One that reads it in every step.

  std::string names() const;  ///< "gx, gy": of the consumers.
};

class Kernels {
 public:
  /// Whether a stage may be computed in place of what the reader reads of it.
  using MayShare = std::function<bool(const ir::Stage& stage, const ir::Stage& reader)>;
  /// Computes in place all stages that can be, as far as `may_share` goes. Refers to the pipeline's stages.
  Kernels(const ir::Pipeline& pipeline, const MayShare& may_share);

  const Uses& uses(const ir::Stage& stage) const { return uses_.at(&stage); }
  /// The stage in whose loop it is computed: itself, if it is not in place.
  const ir::Stage& loop_of(const ir::Stage& stage) const { return *loop_of_.at(&stage); }
  bool in_place(const ir::Stage& stage) const { return &loop_of(stage) != &stage; }

  /// The stages that are not in place, in the order of the pipeline, each with all that its loop reads and
  /// computes.
  const std::vector<plan::Loop>& loops() const { return loops_; }
  /// Whether all loops that read the stage are in the group, a flag for each of loops(), and some does.
  bool read_only_in(const std::vector<bool>& group, const ir::Stage& stage) const;

 private:
  void find_loops(const ir::Pipeline& pipeline);

  std::unordered_map<const ir::Stage*, Uses> uses_;
  std::unordered_map<const ir::Stage*, const ir::Stage*> loop_of_;
  std::vector<plan::Loop> loops_;
  std::unordered_map<const ir::Stage*, std::unordered_set<std::size_t>> readers_;  // indices of loops_
};

/// Why a stage needs memory of its own, whatever reads it: a clause, or nothing.
std::optional<std::string> always_stored(const ir::Pipeline& pipeline, const ir::Stage& stage);
/// Whether it has one even in a kernel with all that reads it: not if it is scattered into, as columns of that may end in
/// their reader (plan/ended_columns.h).
bool stays_stored(const ir::Pipeline& pipeline, const ir::Stage& stage);
/// Whether a stage has to be in memory: whatever reads it, or as something else than its group does.
bool is_stored(const ir::Pipeline& pipeline, const Kernels& kernels, const ir::Stage& stage,
               const std::function<bool(const ir::Stage& reader)>& is_in_group);
/// Why a stage is not in place, of Kernels in which all stages may share: a sentence.
std::string why_not_in_place(const ir::Pipeline& pipeline, const Kernels& kernels, const ir::Stage& stage);
/// Whether a stage's value can take the place of every read of it, where one loop has them all.
bool can_be_in_place(const ir::Stage& stage, const Uses& uses);

}  // namespace weft::schedule
