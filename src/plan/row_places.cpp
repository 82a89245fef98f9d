#include "plan/row_places.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace weft::plan {
namespace {

/// The turns in which rows are made, and last read. Images are loaded one after the other, and then passes
/// are computed.
struct Lifetime {
  std::size_t first, last;
};

std::vector<Lifetime> lifetimes(const std::vector<StageReads>& members, const March& march,
                                const std::vector<StagePass>& passes, Traversal traversal) {
  std::map<const ir::Stage*, std::size_t> turns;
  for (const RollingRows& r : march.rolling) {
    if (!r.is_member) turns.emplace(&r.source(), turns.size());
  }
  const std::size_t images = turns.size();
  for (std::size_t p = 0; p < passes.size(); ++p) {
    for (const ir::Stage* stage : passes[p]) turns[stage] = images + p;
  }
  std::vector<Lifetime> lives;
  for (const RollingRows& r : march.rolling) {
    // A source with rows older than the step that computes them is needed in the next step.
    if (traversal == Traversal::March && r.rows > r.rate[1]) {
      lives.push_back({0, std::numeric_limits<std::size_t>::max()});
      continue;
    }
    Lifetime& life = lives.emplace_back(Lifetime{turns.at(&r.source()), turns.at(&r.source())});
    for (const StageReads& m : members) {
      if (reads(m, r.source())) life.last = std::max(life.last, turns.at(m.stage));
    }
  }
  return lives;
}

}  // namespace

std::vector<int> places_of_rows(const std::vector<StageReads>& members, const March& march,
                                const std::vector<StagePass>& passes, Traversal traversal) {
  const std::vector<Lifetime> lives = lifetimes(members, march, passes, traversal);
  std::vector<std::size_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lives[a].first < lives[b].first; });
  struct Place {
    Scalar type;
    std::size_t taken_until;
  };
  std::vector<Place> places;
  std::vector<int> result(lives.size());
  for (const std::size_t r : order) {
    const Scalar type = march.rolling[r].source().type.scalar;
    auto place = std::find_if(places.begin(), places.end(), [&](const Place& p) {
      return p.type == type && p.taken_until < lives[r].first;
    });
    if (place == places.end()) place = places.insert(places.end(), {type, 0});
    place->taken_until = lives[r].last;
    result[r] = static_cast<int>(place - places.begin());
  }
  return result;
}

}  // namespace weft::plan
