#include "rewrite/never_empty.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/ranges.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {
namespace {

using NeedPtr = std::shared_ptr<const ir::Need>;

/// What stages with a need say of extents.
class NeededExtents {
 public:
  explicit NeededExtents(const ir::Pipeline& pipeline) {
    for (const ir::StagePtr& stage : pipeline.stages) {
      if (!stage->need) continue;
      for (const ir::Range& range : stage->box) known_.emplace_back(range.extent, stage->need);
    }
  }

  /// The need that a stage has, or takes over; null if it may be empty, or cannot be whatever is needed.
  NeedPtr need_of(const ir::Stage& stage) const {
    if (stage.need || !std::holds_alternative<ir::Pure>(stage.definition)) return stage.need;
    NeedPtr need;
    for (const ir::Range& range : stage.box) {
      if (analysis::surely_not_negative(range.extent - 1)) continue;
      const auto found = std::find_if(known_.begin(), known_.end(),
                                      [&](const auto& known) { return known.first == range.extent; });
      if (found == known_.end()) return nullptr;
      need = found->second;
    }
    return need;
  }

 private:
  std::vector<std::pair<ir::Affine, NeedPtr>> known_;
};

}  // namespace

ir::Pipeline never_empty(const ir::Pipeline& pipeline) {
  const NeededExtents extents(pipeline);
  const bool changes =
      std::any_of(pipeline.stages.begin(), pipeline.stages.end(),
                  [&](const ir::StagePtr& stage) { return extents.need_of(*stage) != stage->need; });
  if (!changes) return pipeline;
  return with_needs(pipeline, [&](const ir::Stage& stage) { return extents.need_of(stage); });
}

}  // namespace weft::rewrite
