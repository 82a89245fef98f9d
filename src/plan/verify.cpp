#include "plan/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "plan/core_strip.h"
#include "plan/march.h"
#include "plan/warp_strip.h"

namespace weft::plan {
namespace {

using Why = std::optional<std::string>;

Why why_not_kept(const KernelPlan& plan, const Kept& kept) {
  const bool is_ring = kept.storage == Storage::Ring && !plan.is_of_lanes();
  if (kept.rows < kept.least_rows || (is_ring && !std::has_single_bit(static_cast<unsigned>(kept.rows))))
    return fmt::format("room for {} rows of '{}' is {}", kept.rows, kept.stage,
                       kept.rows < kept.least_rows
                           ? fmt::format("less than the {} that are needed", kept.least_rows)
                           : "no power of two, which rows take each other's place by");
  const Reach& x = kept.x();
  const bool covers_tile = kept.is_member && kept.rate == plan.step &&
                           kept.box == plan.computed.back().domain && x.min <= plan.first_column &&
                           x.max >= plan.first_column && kept.first_column == plan.first_column &&
                           kept.down().min <= 0 && kept.down().max >= 0;
  if (kept.is_stored && !covers_tile)
    return fmt::format("tiles of '{}' do not have all pixels of '{}', which is stored, too", plan.result,
                       kept.stage);
  if (plan.is_of_lanes()) return std::nullopt;
  const int lanes = kept.lane_pitch == 1 ? kept.type.lanes : 1;
  const int width = at_rate(plan.width(), plan.step[0], kept.rate[0]);
  const auto right = static_cast<int>(width + kept.x().max) * lanes;
  if (kept.window.size() > 2 && kept.lines < plan.lines() + kept.window[1].extent() - 1)
    return fmt::format("planes of {} rows are too small for the {} of a tile and those around them of '{}'",
                       kept.lines, plan.lines(), kept.stage);
  if (kept.first < -kept.x().min * lanes || kept.pitch < kept.first + right)
    return fmt::format("rows of {} scalars are too short for {} columns of '{}' and those around them",
                       kept.pitch, width, kept.stage);
  if (kept.in_memory && (kept.is_member || kept.lane_pitch != 1 || plan.is_of_blocks()))
    return fmt::format("rows of '{}' cannot be read where they lie", kept.stage);
  return std::nullopt;
}

/// Every stage with pixels is in one pass, after those that it reads.
Why why_not_in_passes(const KernelPlan& plan) {
  std::vector<std::string> seen;
  const auto was_seen = [&](const std::string& stage) {
    return std::count(seen.begin(), seen.end(), stage) > 0;
  };
  for (const Pass& pass : plan.passes) {
    for (const std::string& stage : pass) {
      if (was_seen(stage)) return fmt::format("'{}' is in two passes", stage);
      const Computed* computed = plan.computed_of(stage);
      if (!computed) return fmt::format("nothing computes '{}'", stage);
      for (const std::string& source : computed->reads) {
        const Kept* kept = plan.kept_of(source);
        if (kept && kept->is_member && !was_seen(source))
          return fmt::format("'{}' is computed before '{}', which it reads", stage, source);
      }
    }
    seen.insert(seen.end(), pass.begin(), pass.end());
  }
  if (plan.passes.empty() || plan.passes.back().back() != plan.result)
    return fmt::format("the last pass is not that of '{}'", plan.result);
  for (const Kept& kept : plan.kept) {
    if (kept.is_member && !was_seen(kept.stage)) return fmt::format("no pass computes '{}'", kept.stage);
  }
  return std::nullopt;
}

Why why_not_with_edges(const KernelPlan& plan) {
  if (plan.edges == 0) return std::nullopt;
  if (plan.is_of_blocks() || plan.is_static() || plan.parts || !plan.has_one_rate())
    return fmt::format("only a core that marches at one rate reads rows of '{}' in parts", plan.result);
  if (std::none_of(plan.kept.begin(), plan.kept.end(),
                   [](const Kept& k) { return k.in_memory && k.is_copied(); }))
    return fmt::format("the kernel of '{}' reads no rows where they lie, between edges", plan.result);
  std::int64_t least = 0;
  for (const Kept& kept : plan.kept) least = std::max({least, kept.outside[0].min, kept.outside[0].max});
  if (plan.edges < least)
    return fmt::format("edges of {} columns are less than the {} that windows reach beyond the end of a row",
                       plan.edges, least);
  return std::nullopt;
}

Why why_not_whole(const KernelPlan& plan) {
  if (plan.whole == 1) return std::nullopt;
  if (plan.is_of_blocks() || plan.is_static() || plan.parts || plan.edges > 0 || plan.has_lanes_apart() ||
      !plan.has_one_rate())
    return fmt::format("only passes of a core that marches at one rate compute whole {}s of '{}'", plan.whole,
                       plan.result);
  if (plan.width() % plan.whole != 0)
    return fmt::format("a tile's width of {} is not made of whole {}s", plan.width(), plan.whole);
  return std::nullopt;
}

Why why_not_in_rows(const KernelPlan& plan) {
  const int rows = plan.rows_of_pass();
  if (rows == 1) return std::nullopt;
  if (rows > most_rows_of_pass)
    return fmt::format("passes of '{}' compute {} rows at a time, and at most {}", plan.result, rows,
                       most_rows_of_pass);
  if (plan.is_static() || plan.parts || plan.has_lanes_apart() || !plan.has_one_rate())
    return fmt::format("only passes of a core that marches at one rate compute {} rows of '{}' at a time",
                       rows, plan.result);
  if (plan.before % rows != 0)
    return fmt::format("{} rows above a tile are no multiple of {}", plan.before, rows);
  return std::nullopt;
}

/// Rows of a strip are whole batches, which rows of each ring divide: those of a batch are told apart by number.
Why why_not_of_warps(const KernelPlan& plan) {
  if (!plan.is_of_lanes()) return std::nullopt;
  for (const Kept& kept : plan.kept) {
    if (kept.resident && *kept.resident > kept.rows)
      return fmt::format("{} rows of '{}' cannot stay in registers, as it has {}", *kept.resident, kept.stage,
                         kept.rows);
  }
  const int batch = plan.level(LevelKind::Batch)->extent.back().fixed();
  if (plan.height().step % batch != 0)
    return fmt::format("{} rows more are no batches of {}", plan.height().step, batch);
  for (const int rows : plan.height().sizes) {
    if (!plan.is_static() && (rows + plan.before) % batch != 0)
      return fmt::format("{} rows and the {} above them are no batches of {}", rows, plan.before, batch);
  }
  for (const Kept& kept : plan.kept) {
    if (!plan.is_static() && !plan.moves_rows() &&
        at_rate(batch, plan.step[1], kept.rate[1]) % kept.rows != 0)
      return fmt::format("{} rows of '{}' do not divide a batch of {}", kept.rows, kept.stage, batch);
  }
  const int pixels = plan.level(LevelKind::Lane)->extent.at(0).fixed();
  const int width = columns_between(halo_lanes(plan), pixels);
  if (plan.width() != width)
    return fmt::format("lanes of {} pixels make tiles {} wide, not {}", pixels, width, plan.width());
  return std::nullopt;
}

Why why_not_in_memory(const KernelPlan& plan, const Memory& memory) {
  const std::int64_t bytes = plan.is_of_blocks() ? plan.shared_bytes() : plan.kept_bytes();
  const std::int64_t most = memory.is_of_blocks() ? *memory.shared_bytes : most_kept_bytes;
  if (bytes <= most) return std::nullopt;
  return fmt::format("{} bytes of rows do not fit {}", bytes, most);
}

}  // namespace

std::optional<std::string> why_impossible(const KernelPlan& plan, const Memory& memory) {
  for (const Level& level : plan.levels) {
    for (const Extent& extent : level.extent) {
      for (const int size : extent.sizes) {
        if (size < 1) return fmt::format("a level of '{}' has {} pixels", plan.result, size);
      }
    }
  }
  if (auto why = why_not_in_passes(plan)) return why;
  if (const int rows = plan.rows_of_threads(); rows > most_rows_of_thread)
    return fmt::format("threads of '{}' have pixels of {} rows, and at most {}", plan.result, rows,
                       most_rows_of_thread);
  if (!plan.is_tiled()) return std::nullopt;
  if (auto why = why_not_with_edges(plan)) return why;
  if (auto why = why_not_whole(plan)) return why;
  if (auto why = why_not_in_rows(plan)) return why;
  if (auto why = why_not_of_warps(plan)) return why;
  for (const Kept& kept : plan.kept) {
    if (auto why = why_not_kept(plan, kept)) return why;
  }
  return why_not_in_memory(plan, memory);
}

}  // namespace weft::plan
