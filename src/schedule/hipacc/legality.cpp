#include "schedule/hipacc/legality.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/print.h"

namespace weft::schedule::hipacc {

using analysis::Pattern;

namespace {

Objection because(Obstacle obstacle, std::string why) { return {obstacle, std::move(why)}; }

std::optional<Objection> disconnected(const StageGraph& graph, const std::vector<int>& members) {
  std::set<int> reached = {members[0]};
  for (bool grows = true; grows;) {
    grows = false;
    for (const Edge& edge : graph.edges) {
      if (!contains(members, edge.from) || !contains(members, edge.to)) continue;
      if (reached.count(edge.from) + reached.count(edge.to) != 1) continue;
      reached.insert({edge.from, edge.to});
      grows = true;
    }
  }
  if (reached.size() == members.size()) return std::nullopt;
  std::vector<int> part(reached.begin(), reached.end());
  return because(Obstacle::Disconnected, "no other of them reads or is read by " + graph.names(part));
}

std::optional<Objection> wrong_kind(const StageGraph& graph, const std::vector<int>& members) {
  for (int member : members) {
    const std::string& name = graph.vertices[member].name;
    switch (graph.vertices[member].pattern) {
      case Pattern::Global: return because(Obstacle::Kind, fmt::format("'{}' is a reduction", name));
      case Pattern::Scatter: return because(Obstacle::Kind, fmt::format("'{}' is scattered into", name));
      case Pattern::Time: return because(Obstacle::Kind, fmt::format("'{}' changes step by step", name));
      default: break;
    }
  }
  return std::nullopt;
}

/// Eq. 3.3, for one edge: a thread of either stage has the same pixel.
std::optional<Objection> wrong_header(const Vertex& producer, const Vertex& consumer, const ImageRead& read) {
  const auto header = [](std::string why) { return because(Obstacle::Header, std::move(why)); };
  if (producer.box != consumer.box) {
    return header(fmt::format("'{}' has the box {}, '{}' has {}", producer.name, ir::to_string(producer.box),
                              consumer.name, ir::to_string(consumer.box)));
  }
  const std::string who = fmt::format("'{}' reads '{}'", consumer.name, producer.name);
  if (read.pattern == Pattern::Scaled) return header(who + " at other coordinates than its own");
  if (read.pattern == Pattern::Gather) return header(who + " at computed places");
  if (read.of_a_crop) return header(who + " in a crop that has a border of its own");
  return std::nullopt;
}

std::optional<Objection> wrong_header(const StageGraph& graph, const std::vector<int>& members) {
  for (const Edge& edge : graph.edges) {
    if (!contains(members, edge.from) || !contains(members, edge.to)) continue;
    const Vertex& consumer = graph.vertices[edge.to];
    if (auto found = wrong_header(graph.vertices[edge.from], consumer, *consumer.read_of(edge.from)))
      return found;
  }
  return std::nullopt;
}

/// Fig. 3.2c. Every member reaches, inside, one that nobody inside reads; that one is needed outside. So only
/// one may be needed there, and then no path leaves the members and comes back.
std::optional<Objection> needed_outside(const StageGraph& graph, const std::vector<int>& members) {
  for (int member : members) {
    std::vector<int> outside;
    bool inside = false;
    for (int consumer : graph.consumers(member)) {
      if (contains(members, consumer))
        inside = true;
      else
        outside.push_back(consumer);
    }
    const std::string& name = graph.vertices[member].name;
    if (inside && graph.vertices[member].is_output)
      return because(Obstacle::Output, fmt::format("'{}' is an output, too", name));
    if (inside && !outside.empty()) {
      const char* verb = outside.size() > 1 ? "read" : "reads";
      return because(Obstacle::Output, fmt::format("{} {} '{}', too", graph.names(outside), verb, name));
    }
  }
  std::vector<int> results;
  for (int member : members) {
    const auto consumers = graph.consumers(member);
    if (std::none_of(consumers.begin(), consumers.end(), [&](int c) { return contains(members, c); }))
      results.push_back(member);
  }
  if (results.size() == 1) return std::nullopt;
  return because(Obstacle::Output, fmt::format("{} would all be results", graph.names(results)));
}

/// The images that a stage reads and no member computes.
std::set<std::string> images_outside(const Vertex& vertex, const std::vector<int>& members) {
  std::set<std::string> images;
  for (const ImageRead& read : vertex.reads) {
    if (!read.is_scalar && (read.producer < 0 || !contains(members, read.producer)))
      images.insert(read.image);
  }
  return images;
}

/// Fig. 3.2b and 3.2d: all may read what the source stage reads, and nothing else. The thesis has one source;
/// where there are several that read the same, as the two gradients of a Sobel filter do, each of them is it.
std::optional<Objection> other_inputs(const StageGraph& graph, const std::vector<int>& members) {
  std::set<std::string> all;
  for (int member : members) all.merge(images_outside(graph.vertices[member], members));
  const Vertex* source = nullptr;
  std::size_t most = 0;
  for (int member : members) {
    const Vertex& vertex = graph.vertices[member];
    const bool is_source = std::none_of(vertex.reads.begin(), vertex.reads.end(), [&](const ImageRead& r) {
      return r.producer >= 0 && contains(members, r.producer);
    });
    const std::size_t count = images_outside(vertex, members).size();
    if (is_source && (!source || count > most)) source = &vertex, most = count;
  }
  if (most == all.size()) return std::nullopt;
  const auto known = images_outside(*source, members);
  for (int member : members) {
    std::vector<std::string> foreign;
    for (const std::string& image : images_outside(graph.vertices[member], members)) {
      if (!known.contains(image)) foreign.push_back("'" + image + "'");
    }
    if (foreign.empty()) continue;
    return because(Obstacle::Input,
                   fmt::format("'{}' reads {}, which '{}' does not read", graph.vertices[member].name,
                               fmt::join(foreign, " and "), source->name));
  }
  throw InternalError("an image is read outside, and by nobody");
}

std::optional<Objection> needs_too_much(const StageGraph& graph, const std::vector<int>& members,
                                        const FusionLimits& limits) {
  const auto occupancy = [&](const Needs& needs) {
    return machine::occupancy(*limits.architecture, needs.of(limits.block)).fraction();
  };
  std::int64_t most_shared = 0;
  double best_occupancy = 0;
  for (int member : members) {
    const Needs needs = needs_of(graph, {member}, limits.block);
    most_shared = std::max(most_shared, needs.shared_bytes());
    if (limits.architecture) best_occupancy = std::max(best_occupancy, occupancy(needs));
  }
  const Needs fused = needs_of(graph, members, limits.block);
  const auto shared = static_cast<double>(fused.shared_bytes_of_each());
  if (shared > limits.shared_growth * static_cast<double>(most_shared)) {
    return because(
        Obstacle::Resources,
        fmt::format("{} tiles in shared memory are {:.2f} times what one stage has; {:g} are allowed",
                    fused.tiles.size(), shared / static_cast<double>(most_shared), limits.shared_growth));
  }
  if (limits.architecture && occupancy(fused) < limits.occupancy_kept * best_occupancy) {
    return because(Obstacle::Resources, fmt::format("occupancy would fall from {:.0f} % to {:.0f} %",
                                                    100 * best_occupancy, 100 * occupancy(fused)));
  }
  return std::nullopt;
}

}  // namespace

std::string name_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::Disconnected: return "disconnected";
    case Obstacle::Kind: return "kind";
    case Obstacle::Header: return "header";
    case Obstacle::Output: return "external output";
    case Obstacle::Input: return "external input";
    case Obstacle::Resources: return "resources";
  }
  throw InternalError("an obstacle without a name");
}

std::optional<Objection> objection(const StageGraph& graph, const std::vector<int>& members,
                                   const FusionLimits& limits) {
  if (members.size() < 2) return std::nullopt;
  if (auto found = wrong_kind(graph, members)) return found;
  if (auto found = disconnected(graph, members)) return found;
  if (auto found = wrong_header(graph, members)) return found;
  if (auto found = needed_outside(graph, members)) return found;
  if (auto found = other_inputs(graph, members)) return found;
  return needs_too_much(graph, members, limits);
}

}  // namespace weft::schedule::hipacc
