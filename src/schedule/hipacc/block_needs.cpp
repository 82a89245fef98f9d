#include "schedule/hipacc/block_needs.h"

#include "target/block.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weft::schedule::hipacc {

using analysis::Pattern;

namespace {

std::int64_t tile_bytes(Type type, const Window& window, const ThreadBlock& block) {
  std::int64_t pixels = 1;
  for (std::size_t d = 0; d < window.size(); ++d) {
    const std::int64_t threads = d == 0 ? block.x : d == 1 ? block.y : 1;
    pixels *= threads + window[d].extent() - 1;
  }
  return pixels * size_of(type);
}

/// An image, as members need it.
struct Demand {
  Type type;
  Window from_result;   ///< Around each pixel of the kernel's result.
  Window from_readers;  ///< Around each pixel of those that read it.
};

void add(std::map<std::string, Demand>& demands, const ImageRead& read, const Window& from_result,
         const Window& from_readers) {
  const auto [entry, is_new] = demands.try_emplace(read.image, Demand{read.type, from_result, from_readers});
  if (is_new) return;
  entry->second.from_result = hull(entry->second.from_result, from_result);
  entry->second.from_readers = hull(entry->second.from_readers, from_readers);
}

}  // namespace

std::int64_t Needs::shared_bytes() const {
  return std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0},
                         [](std::int64_t total, const TiledImage& t) { return total + t.bytes; });
}

std::int64_t Needs::shared_bytes_of_each() const {
  return std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0},
                         [](std::int64_t total, const TiledImage& t) { return total + t.bytes_of_each; });
}

machine::BlockNeeds Needs::of(const ThreadBlock& block) const {
  return {.threads = block.x * block.y, .registers = registers, .static_shared = shared_bytes()};
}

Needs needs_of(const StageGraph& graph, const std::vector<int>& members, const ThreadBlock& block) {
  Needs needs;
  needs.storage.assign(members.size(), Storage::Result);
  std::map<std::string, Demand> demands;
  int pointers = 1;  // of the result
  int kept = 0, most_at_work = 0;
  for (std::size_t i = members.size(); i-- > 0;) {  // consumers first
    const Vertex& vertex = graph.vertices[members[i]];
    const bool is_result = i + 1 == members.size();
    Demand demand{vertex.type, Window(vertex.box.size()), Window(vertex.box.size())};
    if (!is_result) {
      demand = demands.at(vertex.name);
      demands.erase(vertex.name);
      needs.storage[i] = is_one_pixel(demand.from_readers)  ? Storage::Registers
                         : vertex.pattern == Pattern::Point ? Storage::Recomputed
                                                            : Storage::Tile;
      if (needs.storage[i] != Storage::Tile) kept += target::registers_of(vertex.type);
    }
    const bool is_tile = needs.storage[i] == Storage::Tile;
    if (is_tile) {
      needs.tiles.push_back({vertex.name, tile_bytes(vertex.type, demand.from_result, block),
                             tile_bytes(vertex.type, demand.from_readers, block)});
    }
    int at_work = target::registers_of(vertex.type);
    for (const ImageRead& read : vertex.reads) {
      at_work += target::registers_of(read.type);
      if (read.is_scalar || read.window.empty()) continue;
      // Whoever reads a recomputed stage reads its sources instead; what is in a tile is read from there.
      const Window own = is_tile ? Window(read.window.size()) : demand.from_readers;
      add(demands, read, read_around(demand.from_result, read.window), read_around(own, read.window));
    }
    most_at_work = std::max(most_at_work, at_work);
  }
  for (const auto& [image, demand] : demands) {
    pointers += 1;
    if (is_one_pixel(demand.from_readers)) continue;
    needs.tiles.push_back({image, tile_bytes(demand.type, demand.from_result, block),
                           tile_bytes(demand.type, demand.from_readers, block)});
  }
  needs.registers = target::registers_with(pointers, kept + most_at_work);
  return needs;
}

}  // namespace weft::schedule::hipacc
