#include "plan/warp_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "analysis/footprint.h"
#include "base/round_up.h"
#include "ir/visit.h"
#include "plan/core_strip.h"
#include "plan/passes.h"

namespace weft::plan {
namespace {

constexpr int bytes_of_lane = 16, most_pixels_of_lane = 8;  // of a row: the widest access
// What a thread takes for coordinates, pointers and the like, and per pixel for what is under way; after measurements
// of compiled kernels in which registers were 28 + pixels * (rows + loaded rows + 4), within 20 %.
constexpr int registers_of_any_lane = 28, values_under_way = 4;
constexpr int most_registers = 168;  // leaves room for 12 warps on a multiprocessor
constexpr int most_registers_of_hybrid = 255;
constexpr int most_sorted_values = 9;
constexpr int least_loaded_rows = 3, most_loaded_rows = 6;
constexpr int most_batch = 12;
constexpr int least_rows_of_strip = 8;

/// Columns that the members themselves read around their pixels.
Reach reach_of(const ir::Stage& source, const std::vector<StageReads>& members) {
  Reach reach;
  for (const StageReads& member : members) {
    for (const ir::Read* read : member.reads) {
      if (read->source.get() != &source) continue;
      const auto footprint = footprint_in_image(*read);
      if (!footprint) continue;
      reach.min = std::min(reach.min, footprint->front().min);
      reach.max = std::max(reach.max, footprint->front().max);
    }
  }
  return reach;
}

int lanes_for(std::int64_t columns, int pixels) {
  return static_cast<int>((std::max<std::int64_t>(columns, 0) + pixels - 1) / pixels);
}
HaloLanes halo_of(const Reach& x, int pixels) {
  return {lanes_for(-x.min, pixels), lanes_for(x.max, pixels)};
}

/// The least number of rows from `least` on that divides the batch.
int rows_in_batch(int least, int batch) {
  while (batch % least != 0) ++least;
  return least;
}

constexpr std::array heights_of_hybrid_tiles = {16, 8, 4, 2, 1};

/// Rows in each turn of the loop: all that the longest ring has, and such that images can be loaded in time.
struct Turns {
  int batch, prefetch;
};
Turns turns_for(int longest) {
  for (int batch = longest;; ++batch) {
    for (int rows = least_loaded_rows; rows <= most_loaded_rows; ++rows) {
      if (batch % rows == 0) return {batch, rows};
    }
  }
}

/// Of the largest median.
int values_of_medians(const ir::Stage& stage) {
  std::size_t most = 0;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const auto* median = std::get_if<ir::Median>(&e->op);
    if (median) most = std::max(most, median->loop->domain.points.size());
  });
  return static_cast<int>(most);
}

std::optional<std::string> why_not_in_registers(const Group& group) {
  const March& march = group.march;
  const std::string result = "'" + group.result().name + "'";
  if (march.in_parts) return result + " is a reduction";
  if (is_of_volumes(march)) return result + " is a volume, of whose planes lanes would keep several rows";
  if (!march.has_one_rate()) return "stages of several rates do not share lanes' columns";
  if (march.rolling.empty()) return result + " reads no windows";
  const ir::Affine& height = group.result().domain()[1].extent;
  if (height.is_constant() && height.constant() < least_rows_of_strip)
    return result + " has too few rows to march down";
  for (const RollingRows& r : march.rolling) {
    const bool leaves = r.is_read_outside();
    if (r.is_member && leaves && r.border() == ir::BorderMode::Repeat)
      return fmt::format("'{}' is read with the border repeat, and so at the other end of a row",
                         r.source().name);
  }
  for (const Loop& loop : group.loops) {
    if (values_of_medians(loop.stage()) > most_sorted_values)
      return fmt::format("'{}' sorts more values in registers than rows leave room for", loop.stage().name);
  }
  return std::nullopt;
}

/// A source of which a lane keeps rows, some of them before they are needed, and columns of other lanes beside them.
int registers_of_rows(Type pixel, int pixels, int beside, int rows, int loaded) {
  const int of_pixel = pixel.lanes * ((size_of(pixel.scalar) + 3) / 4);
  return of_pixel * (pixels * (rows + loaded) + beside * rows);
}

WarpStrip strip_of(const Group& group, int pixels) {
  const March& march = group.march;
  WarpStrip strip;
  strip.pixels = pixels;
  Reach x;
  int longest = 1;
  for (const RollingRows& r : march.rolling) {
    x.min = std::min(x.min, r.x().min), x.max = std::max(x.max, r.x().max);
    longest = std::max(longest, r.rows);
  }
  strip.halo = halo_of(x, pixels);
  const Turns turns = turns_for(longest);
  strip.batch = turns.batch, strip.prefetch = turns.prefetch;
  strip.before = rows_before(march);
  strip.registers = registers_of_any_lane + pixels * values_under_way;
  for (const RollingRows& r : march.rolling) {
    const Reach reach = reach_of(r.source(), group.members);
    strip.rows.push_back(
        {rows_in_batch(r.rows, strip.batch), static_cast<int>(-reach.min), static_cast<int>(reach.max)});
    strip.registers += registers_of_rows(r.source().type, pixels, static_cast<int>(reach.extent()) - 1,
                                         r.rows, r.is_member ? 0 : strip.prefetch);
  }
  return strip;
}

}  // namespace

HaloLanes halo_lanes(const KernelPlan& plan) {
  Reach x;
  for (const Kept& kept : plan.kept)
    x.min = std::min(x.min, kept.x().min), x.max = std::max(x.max, kept.x().max);
  return halo_of(x, plan.level(LevelKind::Lane)->extent.at(0).fixed());
}

WarpStripOrWhy warp_strip(const Group& group, const Choices& asked) {
  if (auto why = why_not_in_registers(group)) return {std::nullopt, std::move(*why)};
  int widest = size_of(group.result().type.scalar);
  for (const RollingRows& r : group.march.rolling) widest = std::max(widest, size_of(r.source().type.scalar));
  const int most = asked.pixels.value_or(std::min(most_pixels_of_lane, bytes_of_lane / widest));
  const double operations = operations_of(group);
  for (int pixels = most; pixels >= 1; pixels = asked.pixels ? 0 : pixels / 2) {
    WarpStrip strip = strip_of(group, pixels);
    if (strip.batch > most_batch)
      return {std::nullopt, fmt::format("its loop would have {} rows", strip.batch)};
    const bool is_wide = strip.halo.left + strip.halo.right <= lanes_of_warp / 2;
    const bool is_short = operations * pixels * strip.batch <= most_unrolled_operations;
    if (is_wide && is_short && strip.registers <= most_registers) return {std::move(strip), ""};
  }
  return {std::nullopt, "its rows do not fit the registers of a warp"};
}

namespace {

/// Registers of the rows that are there during a pass: those that stay, of what it or a later pass reads, and of what it
/// reads those that come back from shared memory.
int registers_during(const StagePass& pass, const std::vector<StagePass>& later,
                     const std::set<const ir::Stage*>& made, const Group& group, const WarpStrip& tile) {
  const auto is_read_by = [&](const StagePass& stages, const ir::Stage& source) {
    return std::any_of(group.members.begin(), group.members.end(), [&](const StageReads& member) {
      return std::count(stages.begin(), stages.end(), member.stage) > 0 && reads(member, source);
    });
  };
  int registers = 0;
  for (std::size_t r = 0; r < tile.rows.size(); ++r) {
    const RollingRows& rolling = group.march.rolling[r];
    const ir::Stage& source = rolling.source();
    const RegisterRows& rows = tile.rows[r];
    const bool is_read = is_read_by(pass, source);
    const bool is_needed = is_read || std::any_of(later.begin(), later.end(), [&](const StagePass& stages) {
                             return is_read_by(stages, source);
                           });
    if (!is_needed || (rolling.is_member && made.count(&source) == 0)) continue;
    const int back = is_read && rows.resident < rows.rows ? rolling.rows : 0;
    registers += registers_of_rows(source.type, tile.pixels, rows.left + rows.right, rows.resident + back, 0);
  }
  return registers;
}

/// A tile, and the bytes that it keeps in shared memory.
WarpStrip hybrid_of(const Group& group, int pixels, int height, int share, std::int64_t& bytes) {
  WarpStrip tile = strip_of(group, pixels);
  tile.batch = height, tile.prefetch = 1, tile.share = share;
  bytes = 0;
  for (std::size_t r = 0; r < tile.rows.size(); ++r) {
    const RollingRows& rolling = group.march.rolling[r];
    RegisterRows& rows = tile.rows[r];
    rows.rows = room_for_rows(rolling, group.march, height);
    rows.resident = resident_rows(rows.rows, share);
    bytes +=
        std::int64_t{rows.rows - rows.resident} * lanes_of_warp * pixels * size_of(rolling.source().type);
  }
  std::vector<StagePass> later = passes_of(group.members, group.march);
  std::set<const ir::Stage*> made;
  int most = 0;
  while (!later.empty()) {
    const StagePass pass = later.front();
    later.erase(later.begin());
    made.insert(pass.begin(), pass.end());
    most = std::max(most, registers_during(pass, later, made, group, tile));
  }
  tile.registers = registers_of_any_lane + pixels * values_under_way + most;
  return tile;
}

}  // namespace

WarpStripOrWhy hybrid_tile(const Group& group, std::int64_t shared_bytes, const Choices& asked) {
  if (auto why = why_not_in_registers(group)) return {std::nullopt, std::move(*why)};
  const double operations = operations_of(group);
  const int share = asked.share.value_or(usual_share_in_registers);
  if (share < 0 || share > 100)
    return {std::nullopt, fmt::format("a share of {} % of the rows is none that registers can have", share)};
  std::string why = "its rows fit neither the registers of a warp nor shared memory";
  for (int pixels = asked.pixels.value_or(4); pixels >= 1; pixels = asked.pixels ? 0 : pixels / 2) {
    std::vector<int> heights(heights_of_hybrid_tiles.begin(), heights_of_hybrid_tiles.end());
    if (asked.height) heights = asked.height->sizes;
    const int in_turn = strip_of(group, pixels).batch;  // near the ends of an image it marches
    if (in_turn > most_batch) return {std::nullopt, fmt::format("its loop would have {} rows", in_turn)};
    for (const int height : heights) {
      std::int64_t bytes = 0;
      WarpStrip tile = hybrid_of(group, pixels, height, share, bytes);
      const bool is_wide = tile.halo.left + tile.halo.right <= lanes_of_warp / 2;
      const bool is_short = operations * pixels * std::max(height, in_turn) <= most_unrolled_operations;
      if (is_wide && is_short && bytes <= shared_bytes && tile.registers <= most_registers_of_hybrid)
        return {std::move(tile), ""};
    }
  }
  return {std::nullopt, std::move(why)};
}

int warps_at_a_time(int registers) {
  constexpr int most = 32, registers_of_part = 16384 / lanes_of_warp, granule = 8;
  return std::min(most, 4 * (registers_of_part / round_up(std::max(registers, 1), granule)));
}

int warps_to_leave_registers_for(const KernelPlan& plan) {
  constexpr int usual = 16, bytes_of_register = 4;
  const bool has_words = std::any_of(plan.kept.begin(), plan.kept.end(), [](const Kept& kept) {
    return size_of(kept.type.scalar) < bytes_of_register;
  });
  return !has_words && warps_at_a_time(plan.registers) == usual ? usual : 1;
}

Extent heights_of_warps(const WarpStrip& strip, int multiprocessors) {
  const int least = std::max(least_rows_of_strip, 2 * strip.before);
  return in_room(round_up(least + strip.before, strip.batch) - strip.before, strip.batch,
                 multiprocessors * warps_at_a_time(strip.registers));
}

}  // namespace weft::plan
