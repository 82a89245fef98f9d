// What the stages of a pipeline read: "p: in; b: in p".
#pragma once

#include <string>

#include "ir/visit.h"

namespace weft {

inline std::string stage_sources(const ir::Pipeline& pipeline) {
  std::string text;
  for (const ir::StagePtr& stage : pipeline.stages) {
    text += (text.empty() ? "" : "; ") + stage->name + ":";
    for (const ir::StagePtr& source : ir::sources(*stage)) text += " " + source->name;
  }
  return text;
}

}  // namespace weft
