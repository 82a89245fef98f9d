#include "schedule/row_places.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weft::schedule {
namespace {

/// Images are loaded one after the other, and then passes are computed.
struct Lifetime {
  std::size_t first = 0, last = 0;
};

std::vector<Lifetime> lifetimes(const std::vector<StageReads>& members, const March& march,
                                const std::vector<Pass>& passes, Traversal traversal) {
  const auto images = static_cast<std::size_t>(std::count_if(
      march.rolling.begin(), march.rolling.end(), [](const RollingRows& r) { return !r.is_member; }));
  std::vector<Lifetime> lives(march.rolling.size());
  for (std::size_t r = 0; r < lives.size(); ++r) {
    const RollingRows& rows = march.rolling[r];
    // Those of which some are older than the step that computes them are needed in the next one.
    if (traversal == Traversal::March && rows.rows > rows.rate[1]) {
      lives[r].last = std::numeric_limits<std::size_t>::max();
      continue;
    }
    lives[r].first = r;  // images come first
    for (std::size_t p = 0; p < passes.size(); ++p) {
      for (const ir::Stage* stage : passes[p]) {
        if (stage == &rows.source()) lives[r].first = lives[r].last = std::max(lives[r].last, images + p);
        const auto member = std::find_if(members.begin(), members.end(),
                                         [&](const StageReads& m) { return m.stage == stage; });
        const bool reads = std::any_of(member->reads.begin(), member->reads.end(), [&](const ir::Read* read) {
          return read->source.get() == &rows.source();
        });
        if (reads) lives[r].last = std::max(lives[r].last, images + p);
      }
    }
  }
  return lives;
}

}  // namespace

std::vector<int> places_of_rows(const std::vector<StageReads>& members, const March& march,
                                const std::vector<Pass>& passes, Traversal traversal) {
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

}  // namespace weft::schedule
