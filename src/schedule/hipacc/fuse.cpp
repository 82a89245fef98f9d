#include "schedule/hipacc/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "schedule/hipacc/min_cut.h"

namespace weft::schedule::hipacc {
namespace {

using Members = std::vector<int>;  // ascending

class FusionSearch {
 public:
  FusionSearch(const StageGraph& graph, Partition& partition) : graph_(graph), partition_(partition) {
    for (const Edge& edge : graph.edges)
      partition.edges.push_back(benefit_of(graph, edge, partition.limits, partition.model));
  }

  void run() {
    std::vector<Members> groups;
    switch (partition_.fusion) {
      case Fusion::None: groups = alone(); break;
      case Fusion::Basic: groups = along_edges(); break;
      case Fusion::MinCut: groups = by_cuts(); break;
    }
    std::sort(groups.begin(), groups.end());
    for (const Members& members : groups) partition_.groups.push_back(group_of(members));
  }

 private:
  // ---- what a group is ----

  /// Of the legal and those that lose nothing: IsLegal of Algorithm 2, and the rule of section 3.4.4 that
  /// edges without a benefit count as illegal.
  std::optional<std::string> wrong_with(const Members& members) const {
    if (const auto found = objection(graph_, members, partition_.limits))
      return name_of(found->obstacle) + ": " + found->why;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      const EdgeBenefit& benefit = partition_.edges[e];
      if (is_inside(e, members) && benefit.is_loss) {
        return fmt::format("loss: '{}' in '{}' is {:g} clocks dearer", benefit.from, benefit.to,
                           -benefit.terms.benefit());
      }
    }
    return std::nullopt;
  }

  bool is_inside(std::size_t edge, const Members& members) const {
    return contains(members, graph_.edges[edge].from) && contains(members, graph_.edges[edge].to);
  }

  Group group_of(const Members& members) const {
    Group group;
    const Needs needs = needs_of(graph_, members, partition_.limits.block);
    for (std::size_t i = 0; i < members.size(); ++i)
      group.members.push_back({graph_.vertices[members[i]].name, needs.storage[i]});
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      if (!is_inside(e, members)) continue;
      group.weight += partition_.edges[e].weight;
      group.saved += partition_.edges[e].terms.benefit();
    }
    group.shared_bytes = needs.shared_bytes();
    group.registers = needs.registers;
    group.why = members.size() > 1 ? why_together(needs, members) : why_alone(members[0]);
    return group;
  }

  std::string why_together(const Needs& needs, const Members& members) const {
    std::string why;
    const auto say = [&](Storage storage, const char* what) {
      Members kept;
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (needs.storage[i] == storage) kept.push_back(members[i]);
      }
      if (!kept.empty()) why += (why.empty() ? "" : "; ") + graph_.names(kept) + " " + what;
    };
    say(Storage::Registers, "in registers");
    say(Storage::Recomputed, "recomputed");
    say(Storage::Tile, "in shared memory");
    return why;
  }

  std::string why_alone(int vertex) const {
    if (partition_.fusion == Fusion::None) return "nothing is fused";
    bool has_edges = false, has_pair = false;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      if (graph_.edges[e].from != vertex && graph_.edges[e].to != vertex) continue;
      has_edges = true;
      has_pair |= partition_.edges[e].weight > epsilon;
    }
    if (!has_edges) return "it reads no stage, and none reads it";
    if (!has_pair) return "no edge of it can be fused by itself";
    return partition_.fusion == Fusion::Basic ? "no pair of Eq. 3.15 has it" : "its edges were cut";
  }

  // ---- the searches ----

  std::vector<Members> alone() const {
    std::vector<Members> groups;
    for (int v = 0; v < static_cast<int>(graph_.vertices.size()); ++v) groups.push_back({v});
    return groups;
  }

  /// Eq. 3.15: the producer's only reader, the consumer's only image.
  bool is_linear(const Edge& edge) const {
    const Vertex& consumer = graph_.vertices[edge.to];
    return graph_.consumers(edge.from).size() == 1 && consumer.images_read() == 1 &&
           !consumer.read_of(edge.from)->is_scalar;
  }

  /// Algorithm 1. Linear pairs join to lists. One that is not legal loses its end until it is; what it loses
  /// is a list again.
  std::vector<Members> along_edges() const {
    std::vector<int> next(graph_.vertices.size(), -1);
    std::vector<bool> has_previous(graph_.vertices.size(), false);
    for (const Edge& edge : graph_.edges) {
      if (!is_linear(edge)) continue;
      next[edge.from] = edge.to;
      has_previous[edge.to] = true;
    }
    std::vector<Members> groups;
    for (int v = 0; v < static_cast<int>(graph_.vertices.size()); ++v) {
      if (has_previous[v]) continue;
      Members list;
      for (int at = v; at >= 0; at = next[at]) list.push_back(at);
      while (!list.empty()) {
        Members start = list;
        while (start.size() > 1 && wrong_with(start)) start.pop_back();
        list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(start.size()));
        groups.push_back(std::move(start));
      }
    }
    return groups;
  }

  /// Algorithm 2. Parts wait in the order in which they came to be; of two, the one without the side that the
  /// cut found is first.
  std::vector<Members> by_cuts() {
    std::vector<Members> ready;
    if (graph_.vertices.empty()) return ready;
    std::deque<Members> waiting(1);
    for (int v = 0; v < static_cast<int>(graph_.vertices.size()); ++v) waiting[0].push_back(v);
    while (!waiting.empty()) {
      const Members part = std::move(waiting.front());
      waiting.pop_front();
      const auto wrong = part.size() == 1 ? std::nullopt : wrong_with(part);
      if (!wrong) {
        ready.push_back(part);
        continue;
      }
      const auto [side, rest] = cut(part, *wrong);
      waiting.push_back(rest);
      waiting.push_back(side);
    }
    return ready;
  }

  /// The side that the cut found, and the rest.
  std::pair<Members, Members> cut(const Members& part, const std::string& why) {
    const auto position = [&](int vertex) {
      return static_cast<int>(std::lower_bound(part.begin(), part.end(), vertex) - part.begin());
    };
    std::vector<WeightedEdge> edges;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      if (!is_inside(e, part)) continue;
      edges.push_back(
          {position(graph_.edges[e].from), position(graph_.edges[e].to), partition_.edges[e].weight});
    }
    const MinCut found = min_cut(static_cast<int>(part.size()), edges);
    Cut cut{{}, {}, found.weight, why};
    Members side, rest;
    for (int i = 0; i < static_cast<int>(part.size()); ++i) {
      const bool is_side = contains(found.side, i);
      (is_side ? side : rest).push_back(part[i]);
      (is_side ? cut.side : cut.rest).push_back(graph_.vertices[part[i]].name);
    }
    partition_.cuts.push_back(std::move(cut));
    return {side, rest};
  }

  const StageGraph& graph_;
  Partition& partition_;
};

}  // namespace

Partition fuse(const StageGraph& graph, Fusion fusion, const FusionLimits& limits,
               const BenefitModel& model) {
  Partition partition;
  partition.fusion = fusion, partition.model = model, partition.limits = limits;
  FusionSearch(graph, partition).run();
  return partition;
}

Partition fuse(const ir::Pipeline& pipeline, Fusion fusion, const FusionLimits& limits,
               const BenefitModel& model) {
  return fuse(graph_of(pipeline), fusion, limits, model);
}

}  // namespace weft::schedule::hipacc
