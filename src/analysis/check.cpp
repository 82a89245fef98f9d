#include "analysis/check.h"

#include "analysis/check_parts.h"

namespace weft::analysis {

void check(const ir::Pipeline& pipeline) {
  IntegerSets sets;
  for (const ir::StagePtr& stage : pipeline.stages) {
    check_cases(pipeline, *stage, sets);
    check_reads(pipeline, *stage, sets);
  }
}

}  // namespace weft::analysis
