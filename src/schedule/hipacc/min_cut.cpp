// Boost.Graph has this algorithm, but leaves to the order of a heap which of several vertices that are joined
// equally tightly is next. In graphs of stages most edges weigh epsilon, so that order would decide which of
// several minimum cuts is made; and what `weft explain` says would depend on the library's version.
#include "schedule/hipacc/min_cut.h"

#include <weft/error.h>

#include <algorithm>

namespace weft::schedule::hipacc {
namespace {

/// Vertices that were merged, in ascending order.
using Merged = std::vector<int>;
using Matrix = std::vector<std::vector<double>>;  // symmetric; by first vertices

/// What is left of the graph; `merged` ascend by their first vertices.
struct Contracted {
  std::vector<Merged> merged;
  Matrix weights;
};

struct Phase {
  std::size_t last = 0, before = 0;  // positions in `merged`
  double weight = 0;                 // between the last and all others
};

Phase phase_of(const Contracted& graph) {
  const std::size_t count = graph.merged.size();
  std::vector<double> tightness(count, 0);
  std::vector<bool> seen(count, false);
  Phase phase;
  for (std::size_t step = 0; step < count; ++step) {
    std::size_t next = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!seen[i] && (next == count || tightness[i] > tightness[next])) next = i;
    }
    seen[next] = true;
    phase = {next, phase.last, tightness[next]};
    for (std::size_t i = 0; i < count; ++i) {
      tightness[i] += graph.weights[graph.merged[next].front()][graph.merged[i].front()];
    }
  }
  return phase;
}

void merge(Contracted& graph, std::size_t a, std::size_t b) {
  const auto [low, high] = std::minmax(a, b);
  const int kept = graph.merged[low].front(), gone = graph.merged[high].front();
  for (const Merged& other : graph.merged) {
    const int o = other.front();
    if (o == kept || o == gone) continue;
    graph.weights[kept][o] += graph.weights[gone][o];
    graph.weights[o][kept] = graph.weights[kept][o];
  }
  Merged& into = graph.merged[low];
  into.insert(into.end(), graph.merged[high].begin(), graph.merged[high].end());
  std::sort(into.begin(), into.end());
  graph.merged.erase(graph.merged.begin() + static_cast<std::ptrdiff_t>(high));
}

}  // namespace

MinCut min_cut(int vertices, const std::vector<WeightedEdge>& edges) {
  if (vertices < 2) throw InternalError("a cut of fewer than two vertices");
  const auto count = static_cast<std::size_t>(vertices);
  Contracted graph{{}, Matrix(count, std::vector<double>(count, 0))};
  for (int v = 0; v < vertices; ++v) graph.merged.push_back({v});
  for (const WeightedEdge& e : edges) {
    graph.weights[e.a][e.b] += e.weight;
    graph.weights[e.b][e.a] += e.weight;
  }
  MinCut best;
  while (graph.merged.size() > 1) {
    const Phase phase = phase_of(graph);
    if (best.phases == 0 || phase.weight < best.weight)
      best.side = graph.merged[phase.last], best.weight = phase.weight;
    best.phases += 1;
    merge(graph, phase.before, phase.last);
  }
  return best;
}

}  // namespace weft::schedule::hipacc
