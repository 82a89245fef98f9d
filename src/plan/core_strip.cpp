#include "plan/core_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "base/round_up.h"

namespace weft::plan {
namespace {

constexpr int kept_bytes = 32 * 1024;  // of all rows that a strip keeps: a first-level cache
// Of those of several steps: a part of a second-level cache. Each row of a step is a loop, and there are many.
constexpr int kept_bytes_of_steps = 160 * 1024, most_width_of_steps = 1024;
constexpr int least_width = 128, most_width = 2048, width_step = 64;  // of a strip, in pixels

/// Of all rows that a tile keeps; a file may ask for more than integers hold.
double kept_bytes_of(const March& march, const Tile& tile) {
  double bytes = 0;
  for (const RollingRows& r : march.rolling) {
    const std::int64_t columns = at_rate(tile.width, march.step[0], r.rate[0]) + r.x().max - r.x().min;
    const int rows =
        tile.traversal == Traversal::March ? room_for_rows(r) : room_for_rows(r, march, tile.height);
    bytes += static_cast<double>(columns_in_lines(columns, r, march.lanes_apart)) * rows *
             size_of(r.source().type);
  }
  return bytes;
}

/// The widest that keeps so many bytes, in whole vectors.
int width_within(int bytes, const March& march, int most) {
  int step = 0;  // bytes of all rows in the columns of one
  for (const RollingRows& r : march.rolling) step += room_for_rows(r) * r.rate[0] * size_of(r.source().type);
  const int columns = bytes * march.step[0] / std::max(step, 1);
  return std::clamp(columns / width_step * width_step, least_width, most);
}

}  // namespace

std::int64_t columns_in_lines(std::int64_t needed, const RollingRows& rows, bool lanes_apart) {
  const Type type = rows.source().type;
  const bool apart = lanes_apart && type.lanes > 1;
  if (!rows.is_member && !apart) return needed;  // read where they lie, but for strips at the ends
  const int scalars = line_bytes / size_of(type.scalar);
  return round_up<std::int64_t>(needed, apart ? scalars : scalars / std::gcd(scalars, type.lanes));
}

int room_for_rows(const RollingRows& rows) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(rows.rows)));
}

int room_for_rows(const RollingRows& rows, const March& march, int height) {
  return at_rate(height, march.step[1], rows.rate[1]) + static_cast<int>(rows.y().max - rows.y().min);
}

std::optional<std::string> why_not_in_steps(const Choices& asked, const March& march) {
  const auto why = [](int extent, int step, const char* name) -> std::optional<std::string> {
    if (extent % step == 0) return std::nullopt;
    return fmt::format("a tile's {} of {} is no multiple of {}, which the rates of its stages ask for", name,
                       extent, step);
  };
  if (asked.width) {
    if (auto of_width = why(*asked.width, march.step[0], "width")) return of_width;
  }
  for (const int rows : asked.height.value_or(Extent{}).sizes) {
    if (auto of_height = why(rows, march.step[1], "height")) return of_height;
  }
  return std::nullopt;
}

std::optional<std::string> why_not_in_cores(const Choices& asked, const March& march) {
  if (auto why = why_not_in_steps(asked, march)) return why;
  if (asked.columns || asked.batch) return "columns and batches are those of blocks of threads";
  const bool is_static = asked.traversal == Traversal::Static;
  if (is_static && !(asked.height && asked.height->is_fixed())) return "a static tile needs a height";
  const Tile tile{asked.width.value_or(strip_width(march)), is_static ? asked.height->fixed() : 0,
                  is_static ? Traversal::Static : Traversal::March};
  const double bytes = kept_bytes_of(march, tile);
  if (bytes <= most_kept_bytes) return std::nullopt;
  const bool has_height = asked.height && asked.height->is_fixed();
  return fmt::format("tiles of {} keep {:.0f} KiB of rows, and have room for {}",
                     has_height ? fmt::format("{}x{}", tile.width, asked.height->fixed())
                                : fmt::format("{} columns", tile.width),
                     bytes / 1024, most_kept_bytes / 1024);
}

std::optional<std::string> why_not_in_caches(const March& march, const ir::Stage& result) {
  if (!march.in_parts) return std::nullopt;
  const auto bytes = static_cast<std::int64_t>(kept_bytes_of(march, {.width = part_pixels}));
  if (bytes <= most_kept_bytes) return std::nullopt;
  return fmt::format("'{}' takes strips of {} columns, whose rows are {} KB: more than {}", result.name,
                     part_pixels, bytes / 1024, most_kept_bytes / 1024);
}

int strip_width(const March& march) {
  return march.in_parts ? part_pixels : width_within(kept_bytes, march, most_width);
}

int strip_width_of_steps(const March& march) {
  return width_within(kept_bytes_of_steps, march, most_width_of_steps);
}

}  // namespace weft::plan
