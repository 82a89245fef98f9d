#include "analysis/check.h"

#include <unordered_set>

#include "analysis/check_parts.h"
#include "ir/visit.h"

namespace weft::analysis {

void check(const ir::Pipeline& pipeline) {
  IntegerSets sets;
  const auto check_one = [&](const ir::Stage& stage) {
    check_cases(pipeline, stage, sets);
    check_reads(pipeline, stage, sets);
  };
  std::unordered_set<const ir::Stage*> checked;  // several stages share the updates of an evolution
  for (const ir::StagePtr& stage : pipeline.stages) {
    for (const ir::StagePtr& update : ir::updates(*stage)) {
      if (checked.insert(update.get()).second) check_one(*update);
    }
    check_one(*stage);
  }
}

}  // namespace weft::analysis
