// Split tiles: what leans by how much, that every pixel is computed once and in order (by brute force and by integer
// sets), and what both find if a tile is changed on purpose.
#include "plan/split_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

#include "plan/split_proof.h"
#include "tests/support/combinations.h"

namespace weft::plan {
namespace {

using analysis::TimeDependence;
using analysis::TimeDependences;

analysis::Reach only(std::int64_t o) { return {o, o}; }

/// One update that reads these offsets of a line, each some steps back, and the arrays it rotates through; 0: never overwritten.
TimeDependences line(const std::vector<std::pair<int, int>>& reads, int arrays) {
  TimeDependences needs;
  needs.level = {0}, needs.arrays = {std::max(arrays, 1)}, needs.wraps = {false};
  for (const auto& [ticks, o] : reads) {
    needs.all.push_back({0, 0, ticks, {only(o)}});
    if (arrays > 0) needs.all.push_back({0, 0, arrays - ticks, {only(-o)}, true});
  }
  return needs;
}
/// Numbers of the first dimension, in pixels.
std::pair<double, double> slopes(const TimeDependences& needs) {
  const SplitOrWhy found = split_tiles(needs, 8, {}, std::vector<int>(needs.wraps.size(), 64));
  EXPECT_EQ(found.why, "");
  const SplitDimension& d = found.tiles->dims.at(0);
  return {static_cast<double>(d.left) / found.tiles->unit, static_cast<double>(d.right) / found.tiles->unit};
}

TEST(SplitTiles, LeanAsValuesAndMemoryNeed) {
  EXPECT_EQ(slopes(line({{1, -1}, {1, 1}}, 2)), std::pair(1.0, 1.0));
  // What is upwind alone is needed from the left, but its array is overwritten from the right.
  EXPECT_EQ(slopes(line({{1, -1}, {1, 0}}, 2)), std::pair(1.0, 1.0));
  EXPECT_EQ(slopes(line({{1, -1}, {1, 0}}, 0)), std::pair(1.0, 0.0));
  // Fig. 5 of the paper, and the same with three arrays.
  EXPECT_EQ(slopes(line({{1, 1}, {2, -3}}, 0)), std::pair(1.5, 1.0));
  EXPECT_EQ(slopes(line({{1, 1}, {2, -3}}, 3)), std::pair(1.5, 3.0));
}

TEST(SplitTiles, HalfAPixelMakesFieldsThatTakeTurnsLeanLess) {
  // e reads h(x - 1) and h(x) of the step before, h reads e(x) and e(x + 1) of this step: half a pixel apart.
  TimeDependences needs;
  needs.levels = 2, needs.level = {0, 1}, needs.arrays = {1, 1}, needs.wraps = {false};
  needs.all = {
      {1, 0, 1, {{-1, 0}}}, {0, 1, 1, {{0, 1}}}, {0, 1, 1, {{0, 1}}, true}, {1, 0, 1, {{-1, 0}}, true}};
  EXPECT_EQ(slopes(needs), std::pair(0.5, 0.5));
}

// ---- by brute force

using Numbers = std::vector<std::int64_t>;

struct RandomTiles {
  TimeDependences needs;
  SplitTiles tiles;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }

  /// Random reads of up to three fields, with the memory that they need.
  TimeDependences needs(int rank) {
    TimeDependences needs;
    const int fields = between(1, 3);
    needs.levels = between(1, fields);
    needs.wraps.assign(static_cast<std::size_t>(rank), false);
    for (int f = 0; f < fields; ++f) needs.level.push_back(std::min(f, needs.levels - 1));
    for (int f = 0; f < fields; ++f) needs.arrays.push_back(between(2, 4));
    for (int n = between(1, 4); n > 0; --n) {
      const auto source = static_cast<std::size_t>(between(0, fields - 1)),
                 sink = static_cast<std::size_t>(between(0, fields - 1));
      const int apart = needs.level[sink] - needs.level[source];
      const int age = between(apart > 0 ? 0 : 1, needs.arrays[source] - 1);
      analysis::Window window, back;
      for (int d = 0; d < rank; ++d) {
        const int a = between(-3, 3), b = between(-3, 3);
        window.push_back({std::min(a, b), std::max(a, b)});
        back.push_back({-window.back().max, -window.back().min});
      }
      needs.all.push_back({source, sink, needs.levels * age + apart, window});
      needs.all.push_back({sink, source, needs.levels * (needs.arrays[source] - age) - apart, back, true});
    }
    return needs;
  }

  SplitTiles tiles(const TimeDependences& needs, int rank) {
    SplitChoices asked;
    asked.scheme = static_cast<SplitScheme>(between(0, 2));
    int turn = 1;
    for (const int arrays : needs.arrays) turn = std::lcm(turn, arrays);
    const int steps = turn * between(1, std::max(1, 6 / turn));
    std::vector<int> lengths;
    for (int d = 0; d < rank; ++d) lengths.push_back(d > 0 && between(0, 3) == 0 ? 0 : between(1, 200));
    SplitOrWhy found = split_tiles(needs, steps, asked, lengths);
    EXPECT_EQ(found.why, "");
    for (SplitDimension& d : found.tiles->dims) {
      const int spare = between(0, 5), less = between(0, d.top - 1);
      d.pitch += spare, d.top -= less;
    }
    EXPECT_EQ(why_not(*found.tiles), std::nullopt);
    return *found.tiles;
  }

  std::mt19937 engine_;
};

/// Where a pixel of a tick is computed: the band, the launch in it and the tile; of the scheme Fused the last launch goes
/// on with the next band.
struct Where {
  int band = 0, launch = 0;
  Numbers tile;
};

class Computing {
 public:
  Computing(const SplitTiles& tiles) : tiles_(tiles) {}

  /// All tiles that have the pixel: there should be one.
  std::vector<Where> of(std::size_t field, std::int64_t tick, const Numbers& x) const {
    const int levels = tiles_.levels_of_band();
    const int band = static_cast<int>(tick / levels);
    const std::int64_t below_top = levels - 1 - tick % levels;
    std::vector<std::pair<unsigned, Numbers>> found{{0, {}}};
    for (std::size_t d = 0; d < tiles_.dims.size(); ++d) {
      const SplitDimension& along = tiles_.dims[d];
      const std::int64_t origin = std::int64_t{band} * tiles_.origin_step(along);
      const std::int64_t at = x[static_cast<std::size_t>(along.dim)] - origin;
      std::vector<std::pair<unsigned, Numbers>> longer;
      for (std::int64_t k = at / along.pitch - 4; k < at / along.pitch + 4; ++k) {
        for (const bool inverted : {false, true}) {
          const auto [first, end] = ends_of(tiles_, along, inverted, field);
          if (at < first.at(k, below_top) || end.at(k, below_top) <= at) continue;
          for (const auto& [colour, numbers] : found) {
            longer.emplace_back(colour | (inverted ? 1U << d : 0U), numbers);
            longer.back().second.push_back(k);
          }
        }
      }
      found = std::move(longer);
    }
    std::vector<Where> places;
    for (auto& [colour, numbers] : found) places.push_back(place(band, colour, std::move(numbers)));
    return places;
  }

 private:
  Where place(int band, unsigned colour, Numbers numbers) const {
    // Upright tiles of the scheme Fused belong to the last launch of the band before.
    if (tiles_.scheme == SplitScheme::Fused && colour == 0) {
      return {band - 1, launches_of(tiles_) - 1, std::move(numbers)};
    }
    for (int l = 0; l < launches_of(tiles_); ++l) {
      const std::vector<unsigned> colours = colours_of(tiles_, l);
      if (std::find(colours.begin(), colours.end(), colour) == colours.end()) continue;
      if (tiles_.scheme != SplitScheme::Fused || l + 1 < launches_of(tiles_))
        numbers.push_back(colour);  // what else is in the launch is computed at the same time
      return {band, l, std::move(numbers)};
    }
    ADD_FAILURE() << "no launch computes the colour " << colour;
    return {};
  }

  const SplitTiles& tiles_;
};

/// What is wrong with some random pixels: nothing, or a sentence.
std::string fault_in(const RandomTiles& random, int rank, int samples, Random& dice) {
  const Computing computing(random.tiles);
  for (int n = 0; n < samples; ++n) {
    const TimeDependence& need =
        random.needs
            .all[static_cast<std::size_t>(dice.between(0, static_cast<int>(random.needs.all.size()) - 1))];
    if (need.ticks == 0) continue;
    const std::int64_t step = dice.between(0, 3 * random.tiles.steps - 1);
    const std::int64_t tick = step * random.tiles.levels + random.needs.level[need.sink];
    Numbers x, y;
    for (int d = 0; d < rank; ++d) {
      x.push_back(dice.between(0, 200));
      const analysis::Reach& o = need.offsets[static_cast<std::size_t>(d)];
      y.push_back(x.back() + dice.between(static_cast<int>(o.min), static_cast<int>(o.max)));
    }
    const std::vector<Where> sinks = computing.of(need.sink, tick, x);
    if (sinks.size() != 1) return std::to_string(sinks.size()) + " tiles compute a pixel";
    if (tick < need.ticks) continue;
    const std::vector<Where> sources = computing.of(need.source, tick - need.ticks, y);
    if (sources.size() != 1) return std::to_string(sources.size()) + " tiles compute a pixel";
    const auto when = [](const Where& w) { return std::pair(w.band, w.launch); };
    if (when(sources[0]) > when(sinks[0])) return "a pixel is computed before what it needs";
    if (when(sources[0]) == when(sinks[0]) && sources[0].tile != sinks[0].tile)
      return "a pixel is computed at the same time as what it needs";
  }
  return "";
}

TEST(SplitTiles, RandomDependencesByBruteForceAndByIntegerSets) {
  const unsigned seed = 20130316;
  std::printf("seed %u\n", seed);
  Random dice(seed);
  for (int n = 0; n < (testing_support::instrumented ? 400 : 4000); ++n) {
    SCOPED_TRACE(::testing::Message() << "number " << n);
    const int rank = n % 8 == 0 ? 3 : n % 3 == 0 ? 2 : 1;
    RandomTiles random;
    random.needs = dice.needs(rank);
    random.tiles = dice.tiles(random.needs, rank);
    ASSERT_EQ(fault_in(random, rank, 60, dice), "") << to_string(random.tiles);
    if (n % 20 == 0) ASSERT_EQ(prove(random.tiles, random.needs).refuted, "") << to_string(random.tiles);
  }
}

TEST(SplitTiles, WhatIsChangedOnPurposeIsRefuted) {
  Random dice(7);
  int changed = 0, by_sets = 0, by_force = 0;
  const int all = testing_support::instrumented ? 50 : 200;
  for (int n = 0; n < all; ++n) {
    RandomTiles random;
    random.needs = dice.needs(1);
    random.tiles = dice.tiles(random.needs, 1);
    SplitDimension& d = random.tiles.dims[0];
    const SplitDimension before = d;
    if (n % 2 == 0 && d.left > 0) --d.left;
    if (n % 2 == 1 && d.right > 0) --d.right;
    if (d == before) continue;
    ++changed;
    by_sets += prove(random.tiles, random.needs).refuted.empty() ? 0 : 1;
    by_force += fault_in(random, 1, 20000, dice).empty() ? 0 : 1;
  }
  EXPECT_GT(changed, all * 3 / 4);
  // A slope in parts of a pixel may be less steep than is needed and still round to the same ends.
  EXPECT_GE(by_sets, by_force);
  EXPECT_GT(by_force, changed * 3 / 4);
}

TEST(SplitTiles, TilesThatAreTooNarrowAreRefused) {
  const TimeDependences needs = line({{1, -1}, {1, 1}}, 2);
  const auto why = [&](SplitScheme scheme, int steps, int pitch, int top) {
    return split_tiles(needs, steps, {scheme, {{0, {pitch, top}}}}, {64}).why;
  };
  EXPECT_EQ(why(SplitScheme::Merged, 8, 64, 50), "");
  EXPECT_EQ(why(SplitScheme::Merged, 8, 64, 51),
            "split tiles of 8 steps, 51 wide along x at the top, are 64 apart, and 65 at least");
  EXPECT_EQ(why(SplitScheme::Fused, 8, 15, 1),
            "split tiles of 8 steps, 1 wide along x at the top, are 15 apart, and 16 at least");
  EXPECT_EQ(why(SplitScheme::Merged, 7, 64, 40),
            "bands of 7 steps do not leave arrays where they were: they take turns every 2");
}

TEST(SplitTiles, SomeDimensionIsSplit) {
  TimeDependences needs = line({{1, -1}, {1, 1}}, 2);
  EXPECT_EQ(split_tiles(needs, 8, {}, {0}).why, "there is no dimension to split");
  EXPECT_EQ(split_tiles(needs, 8, {{}, {{1, {64, 32}}}}, {64}).why, "it has no dimension y");
}

TEST(SplitTiles, LaunchesOfABand) {
  SplitTiles tiles;
  tiles.dims = {{0}, {1}, {2}};
  const std::vector<std::pair<SplitScheme, std::vector<std::vector<unsigned>>>> expected = {
      {SplitScheme::Colours, {{0}, {1}, {2}, {4}, {3}, {5}, {6}, {7}}},
      {SplitScheme::Merged, {{0}, {1, 2, 4}, {3, 5, 6}, {7}}},
      {SplitScheme::Fused, {{1, 2, 4}, {3, 5, 6}, {7}}}};
  for (const auto& [scheme, launches] : expected) {
    tiles.scheme = scheme;
    ASSERT_EQ(launches_of(tiles), std::ssize(launches));
    for (std::size_t l = 0; l < launches.size(); ++l)
      EXPECT_EQ(colours_of(tiles, static_cast<int>(l)), launches[l]);
  }
}

}  // namespace
}  // namespace weft::plan
