#include "schedule/tile_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/counted.h"
#include "plan/block_strip.h"
#include "plan/warp_strip.h"

namespace weft::schedule {
namespace {

constexpr std::array heights_of_blocks = {32, 16, 8, 4, 2, 1};
constexpr std::array threads_of_blocks = {64, 128, 256};
constexpr std::array columns_of_warps = {32, 64, 128};
constexpr std::array warps_of_blocks = {2, 4, 8};
constexpr std::array heights_of_cores = {16, 32, 64, 128};
constexpr std::array widths_of_cores = {64, 128, 256, 512};

constexpr std::array pixels_of_hybrids = {1, 2, 4};
constexpr std::array heights_of_hybrids = {2, 4, 8, 16};
constexpr std::array shares_in_registers = {0, 25, 50, 75, 100};  // percent
constexpr std::array steps_of_lanes = {1, 2, 4, 8};
// Of the usual strips' time: what is saved has to be more than the model may be wrong.
constexpr double enough_saved = 0.92;
// Of strips of the same pixels a lane whose rows stay where they are: these differ in code and moves alone.
constexpr double enough_saved_by_moves = 0.96;

bool is_static(Tiling tiling) {
  return tiling == Tiling::Block || tiling == Tiling::Warp || tiling == Tiling::Hybrid;
}

/// What every tile of that kind is asked for.
plan::Choices asked_of(Tiling tiling, const Memory& memory) {
  plan::Choices asked;
  asked.traversal = plan::Traversal::Static;
  asked.of_blocks = memory.is_of_blocks();
  if (memory.is_of_blocks())
    asked.of_warps = tiling != Tiling::Block;
  else
    asked.width = widths_of_cores[2], asked.height = plan::fixed(heights_of_cores[1]);
  if (tiling == Tiling::Hybrid) asked.share = plan::usual_share_in_registers;
  return asked;
}

std::vector<plan::Choices> candidates(Tiling tiling, const plan::Group& group, const Memory& memory) {
  std::vector<plan::Choices> all;
  plan::Choices asked = asked_of(tiling, memory);
  const int most_lines = memory.is_of_blocks() ? plan::most_lines_of_static_tile(group.march) : 1;
  const auto with_heights = [&](const auto& heights) {
    for (const int height : heights) {
      asked.height = plan::fixed(height * group.march.step[1]);
      all.push_back(asked);
      // All rows of a volume's few planes, too: what they have in common is computed once.
      if (most_lines == 1) continue;
      all.push_back(asked);
      all.back().lines = most_lines;
    }
  };
  const auto with_columns = [&](const auto& columns) {
    for (const int count : columns) {
      asked.width = plan::width_of_static_tile(group.march, group.result(), count);
      with_heights(heights_of_blocks);
    }
  };
  if (!memory.is_of_blocks()) {
    for (const int width : widths_of_cores) {
      asked.width = width;
      with_heights(heights_of_cores);
    }
  } else if (tiling == Tiling::Block) {
    with_columns(threads_of_blocks);
  } else if (tiling == Tiling::Hybrid) {
    for (const int pixels : pixels_of_hybrids) {
      for (const int share : shares_in_registers) {
        asked.pixels = pixels, asked.share = share;
        with_heights(heights_of_hybrids);
      }
    }
  } else {
    for (const int warps : warps_of_blocks) {
      asked.warps = warps;
      with_columns(columns_of_warps);
    }
  }
  return all;
}

int pixels_of_lane(const plan::KernelPlan& plan) {
  return plan.level(plan::LevelKind::Lane)->extent[0].fixed();
}

bool is_strip_of_image(const plan::KernelPlan& plan) { return plan.is_of_lanes() && !plan.is_of_volume(); }

/// Strips of warps whose lanes compute fewer pixels than registers leave room for, or more than the planner takes: fewer
/// mean more warps and less code, and more share what neighbours read.
std::vector<plan::Choices> strips_of_lanes(const plan::KernelPlan& usual) {
  std::vector<plan::Choices> all;
  if (!is_strip_of_image(usual)) return all;
  for (const int steps : steps_of_lanes) {
    plan::Choices& asked = all.emplace_back();
    asked.of_blocks = true, asked.of_warps = true;
    asked.pixels = steps * usual.step[0];
  }
  return all;
}

/// The strip that is asked for, or the usual one, but with rows that move up: less code, and more to do.
std::vector<plan::Choices> strip_that_moves_rows(const plan::KernelPlan& usual, plan::Choices asked) {
  if (!is_strip_of_image(usual)) return {};
  asked.of_blocks = true, asked.of_warps = true;
  asked.pixels = asked.pixels.value_or(pixels_of_lane(usual));
  asked.batch = usual.step[1];
  return {asked};
}

/// The kinds of static tiles that are priced.
std::vector<Tiling> kinds_of(Tiling tiling, const Memory& memory) {
  if (is_static(tiling)) return {tiling};
  if (tiling != Tiling::Any || !memory.is_of_blocks()) return {};
  if (!memory.has_warps) return {Tiling::Block};
  return {Tiling::Block, Tiling::Warp};
}

}  // namespace

plan::PlanOrWhy plan_in(Tiling tiling, const plan::Group& group, const Memory& memory) {
  if (!is_static(tiling)) return plan::plan_of(group, memory, {});
  plan::PlanOrWhy found = plan::plan_of(group, memory, asked_of(tiling, memory));
  if (found.plan) return found;
  plan::PlanOrWhy usual = plan::plan_of(group, memory, {});
  if (usual.plan && usual.plan->is_tiled()) usual.why = std::move(found.why);
  return usual;
}

double cost_in(Tiling tiling, const plan::Group& group, const Memory& memory, const plan::CostModel& model) {
  double least = std::numeric_limits<double>::max();
  for (const Tiling kind : kinds_of(tiling, memory)) {
    const plan::PlanOrWhy found = plan::plan_of(group, memory, asked_of(kind, memory));
    if (found.plan) least = std::min(least, model(*found.plan));
  }
  const bool has_tile = least < std::numeric_limits<double>::max();
  if (!has_tile || tiling == Tiling::Any) least = std::min(least, model(plan::plan_of(group, memory)));
  return least;
}

BestTile best_tile(Tiling tiling, const plan::Group& group, const Memory& memory,
                   const plan::CostModel& model) {
  BestTile best;
  const auto look_through = [&](const std::vector<plan::Choices>& all, double& least) {
    for (const plan::Choices& asked : all) {
      const plan::PlanOrWhy found = plan::plan_of(group, memory, asked);
      const double cost = found.plan ? model(*found.plan) : least;
      if (cost < least) best.asked = asked, least = cost;
    }
  };
  double strips = std::numeric_limits<double>::max();
  if (!is_static(tiling)) {
    const plan::KernelPlan usual = plan::plan_of(group, memory);
    const double cost = strips = model(usual);
    const auto look_for_less = [&](const std::vector<plan::Choices>& all, double part) {
      const double enough = part * strips;
      double least = enough;
      look_through(all, least);
      if (least < enough) strips = least;
    };
    look_for_less(strips_of_lanes(usual), enough_saved);
    look_for_less(strip_that_moves_rows(usual, best.asked), enough_saved_by_moves);
    if (best.asked != plan::Choices{})
      best.why = fmt::format("; lanes with {}{} should take {:.0f} % less than with {}{}",
                             counted(*best.asked.pixels, "pixel"),
                             best.asked.batch ? " whose rows move up" : "", 100 * (1 - strips / cost),
                             pixels_of_lane(usual), best.asked.batch ? " whose rows stay" : "");
  }
  const double enough = enough_saved * strips;
  double least = enough;
  for (const Tiling kind : kinds_of(tiling, memory)) look_through(candidates(kind, group, memory), least);
  if (tiling == Tiling::Any && least < enough)
    best.why =
        fmt::format("; static tiles should take {:.0f} % less than strips", 100 * (1 - least / strips));
  return best;
}

}  // namespace weft::schedule
