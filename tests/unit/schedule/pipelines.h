// Graphs of stages that tests of fusion speak of by name.
#pragma once

#include <weft/weft.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/choices.h"
#include "plan/march.h"
#include "schedule/stage_graph.h"

namespace weft::schedule {

using namespace plan;
using plan::Traversal;

inline StageGraph graph_of(const Outputs& outputs) { return graph_of(Pipeline("test", outputs).ir()); }

inline StageGraph graph_of_application(const std::string& name, const Settings& settings = {}) {
  return graph_of(build(applications().at(name), settings).pipeline.ir());
}

/// The vertices of these names, ascending.
inline std::vector<int> members(const StageGraph& graph, const std::vector<std::string>& names) {
  std::vector<int> result;
  for (int v = 0; v < static_cast<int>(graph.vertices.size()); ++v) {
    if (std::find(names.begin(), names.end(), graph.vertices[v].name) != names.end()) result.push_back(v);
  }
  return result;
}

/// All of its stages as members of a group.
inline std::vector<StageReads> reads_of_stages(const ir::Pipeline& pipeline) {
  std::vector<StageReads> members;
  for (const ir::StagePtr& stage : pipeline.stages) members.push_back(reads_of(*stage));
  return members;
}

inline Mask binomial() { return Mask{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}} / 16.f; }

}  // namespace weft::schedule
