#include "schedule/stage_graph.h"

#include <algorithm>
#include <unordered_map>

#include "ir/visit.h"

namespace weft::schedule {

using analysis::Pattern;

const ImageRead* Vertex::read_of(int producer) const {
  const auto found =
      std::find_if(reads.begin(), reads.end(), [&](const ImageRead& r) { return r.producer == producer; });
  return found == reads.end() ? nullptr : &*found;
}

int Vertex::images_read() const {
  return static_cast<int>(
      std::count_if(reads.begin(), reads.end(), [](const ImageRead& r) { return !r.is_scalar; }));
}

Window Vertex::window() const {
  Window all(box.size());
  for (const ImageRead& read : reads) {
    if (read.window.size() == all.size()) all = hull(all, read.window);
  }
  return all;
}

std::vector<int> StageGraph::consumers(int vertex) const {
  std::vector<int> result;
  for (const Edge& edge : edges) {
    if (edge.from == vertex) result.push_back(edge.to);
  }
  return result;
}

std::string StageGraph::names(const std::vector<int>& members) const {
  std::string text;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) text += i + 1 == members.size() ? " and " : ", ";
    text += "'" + vertices[members[i]].name + "'";
  }
  return text;
}

namespace {

/// All reads of `source` by `stage`. An evolution reads its sources in steps, so it has no footprint.
ImageRead read_of(const ir::Stage& stage, const ir::StagePtr& source) {
  ImageRead read;
  read.image = source->name, read.type = source->type, read.is_scalar = source->rank() == 0;
  analysis::Footprint footprint;
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& one = std::get<ir::Read>(e->op);
    if (one.source != source) continue;
    const analysis::Footprint here = analysis::footprint(one);
    footprint = footprint.empty() ? here : analysis::merged(footprint, here);
    read.of_a_crop |= one.border && one.region != source->box;
  }
  read.pattern = analysis::pattern(footprint);
  read.window = window_of(footprint).value_or(Window{});
  return read;
}

}  // namespace

StageGraph graph_of(const ir::Pipeline& pipeline) {
  StageGraph graph;
  std::unordered_map<const ir::Stage*, int> index;
  for (const ir::StagePtr& stage : pipeline.stages) {
    const int to = static_cast<int>(graph.vertices.size());
    const analysis::StageSummary summary = analysis::summarize(*stage);
    Vertex vertex;
    vertex.name = stage->name, vertex.pattern = summary.pattern, vertex.operations = summary.operations;
    vertex.box = stage->box, vertex.type = stage->type;
    for (const ir::StagePtr& source : ir::sources(*stage)) {
      vertex.reads.push_back(read_of(*stage, source));
      if (const auto producer = index.find(source.get()); producer != index.end()) {
        vertex.reads.back().producer = producer->second;
        graph.edges.push_back({producer->second, to});
      }
    }
    vertex.is_output = ir::is_output(pipeline, *stage);
    graph.vertices.push_back(std::move(vertex));
    index[stage.get()] = to;
  }
  return graph;
}

bool contains(const std::vector<int>& members, int vertex) {
  return std::binary_search(members.begin(), members.end(), vertex);
}

}  // namespace weft::schedule
