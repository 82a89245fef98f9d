#include "plan/core_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "base/round_up.h"

namespace weft::plan {
namespace {

constexpr int most_kept_bytes_of_parts = 256 * 1024;
constexpr int kept_bytes = 32 * 1024;  // of all rows that a strip keeps: a first-level cache
// A part of a second-level cache: for strips too large for the first level even at 128 columns; and for those that take several
// steps, where each row is a loop.
constexpr int kept_bytes_of_second_level = 160 * 1024, kept_bytes_of_steps = 384 * 1024,
              most_width_of_second_level = 1024;
constexpr int least_width = 128, most_width = 2048, width_step = 64;  // of a strip, in pixels
// Of a volume's tile: bytes in a second-level cache, pixels, and rows.
constexpr int kept_bytes_of_volume = 448 * 1024, most_width_of_volume = 256, least_lines = 4, most_lines = 64,
              lines_step = 4;
constexpr int columns_of_whole_vectors =
    48;                                // at most, beside a tile whose rows are computed in whole vectors
constexpr int most_least_height = 64;  // of a strip, in rows
constexpr int pixels_of_row = 32;      // that take as long as what each row takes besides its pixels

/// Of all rows that a tile keeps; a file may ask for more than integers hold.
double kept_bytes_of(const March& march, const Tile& tile, int lines = 1, int rows_of_pass = 1) {
  double bytes = 0;
  for (const RollingRows& r : march.rolling) {
    if (is_of_volumes(march) && !r.is_member && !r.is_read_outside()) continue;  // read where it lies
    const std::int64_t columns = at_rate(tile.width, march.step[0], r.rate[0]) + r.x().max - r.x().min +
                                 (is_of_volumes(march) ? columns_of_whole_vectors : 0);
    const int rows = tile.traversal == Traversal::March ? room_for_rows(r, rows_of_pass)
                                                        : room_for_rows(r, march, tile.height);
    bytes += static_cast<double>(columns_in_lines(columns, r)) * rows * room_for_lines(r, lines) *
             size_of(r.source().type);
  }
  return bytes;
}

/// Columns whose rows take that many bytes, in whole vectors.
int columns_within(int bytes, const March& march, int rows_of_pass) {
  int step = 0;  // bytes of all rows in the columns of one
  for (const RollingRows& r : march.rolling)
    step += room_for_rows(r, rows_of_pass) * r.rate[0] * size_of(r.source().type);
  const int columns = bytes * march.step[0] / std::max(step, 1);
  return columns / width_step * width_step;
}

int width_in_second_level(const March& march, int rows_of_pass, int bytes) {
  return std::clamp(columns_within(bytes, march, rows_of_pass), least_width, most_width_of_second_level);
}

/// How much is computed for each pixel of a plane of a tile, with what each stage needs around it; each row takes the time of
/// some pixels more.
double done_for_pixel(const March& march, int width, int lines) {
  const auto of_stage = [&](std::int64_t columns_around, std::int64_t lines_around) {
    return static_cast<double>(width + columns_around + pixels_of_row) *
           static_cast<double>(lines + lines_around);
  };
  double done = of_stage(0, 0);  // the result
  int stages = 1;
  for (const RollingRows& r : march.rolling) {
    if (!r.is_member) continue;
    done += of_stage(r.window[0].extent() - 1, r.window[1].extent() - 1);
    ++stages;
  }
  return done / (static_cast<double>(width) * lines * stages);
}

/// The tile of a volume whose planes fit a second-level cache that computes least around itself.
Tile tile_of_volume(const March& march) {
  Tile best{least_width, least_lines};
  for (int width = least_width; width <= most_width_of_volume; width += width_step) {
    const int lines = lines_of_tile(march, {.width = width});
    if (done_for_pixel(march, width, lines) < done_for_pixel(march, best.width, best.height))
      best = {width, lines};
  }
  return best;
}

}  // namespace

std::int64_t columns_in_lines(std::int64_t needed, const RollingRows& rows) {
  const Type type = rows.source().type;
  const bool apart = rows.lanes_apart;
  if (!rows.is_member && !apart) return needed;  // read where they lie, but for strips at the ends
  const int scalars = line_bytes / size_of(type.scalar);
  return round_up<std::int64_t>(needed, apart ? scalars : scalars / std::gcd(scalars, type.lanes));
}

int room_for_lines(const RollingRows& rows, int lines) {
  return rows.window.size() > 2 ? lines + static_cast<int>(rows.window[1].extent()) - 1 : 1;
}

int lines_of_tile(const March& march, const Tile& tile) {
  if (!is_of_volumes(march)) return 1;
  int lines = lines_at_most(march, most_lines);
  while (lines > least_lines && kept_bytes_of(march, tile, lines) > kept_bytes_of_volume) lines -= lines_step;
  return lines;
}

int rows_needed(const RollingRows& rows, int rows_of_pass) {
  return rows.rows + (rows_of_pass - 1) * rows.rate[1];
}

int room_for_rows(const RollingRows& rows, int rows_of_pass) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(rows_needed(rows, rows_of_pass))));
}

int room_for_rows(const RollingRows& rows, const March& march, int height) {
  return at_rate(height, march.step[1], rows.rate[1]) + static_cast<int>(rows.down().max - rows.down().min);
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
  if (asked.lines && !is_of_volumes(march)) return no_lines;
  const bool is_static = asked.traversal == Traversal::Static;
  if (is_static && !(asked.height && asked.height->is_fixed())) return "a static tile needs a height";
  const int rows = asked.rows.value_or(march.step[1]);
  if (rows % march.step[1] != 0)
    return fmt::format("{} rows at a time are no whole steps of {} rows", rows, march.step[1]);
  const int rows_of_pass = rows / march.step[1];
  const Tile tile{asked.width.value_or(strip_width(march, rows_of_pass)),
                  is_static ? asked.height->fixed() : 0, is_static ? Traversal::Static : Traversal::March};
  const double bytes =
      kept_bytes_of(march, tile, asked.lines.value_or(lines_of_tile(march, tile)), rows_of_pass);
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
  if (bytes <= most_kept_bytes_of_parts) return std::nullopt;
  return fmt::format("'{}' takes strips of {} columns, whose rows are {} KB: more than {}", result.name,
                     part_pixels, bytes / 1024, most_kept_bytes_of_parts / 1024);
}

int least_height(const March& march) {
  return std::clamp(round_up(4 * rows_before(march, true), height_step), height_step, most_least_height);
}

int strip_width(const March& march, int rows_of_pass) {
  if (is_of_volumes(march)) return tile_of_volume(march).width;
  if (march.in_parts) return part_pixels;
  const int width = columns_within(kept_bytes, march, rows_of_pass);
  return width < least_width ? width_in_second_level(march, rows_of_pass, kept_bytes_of_second_level)
                             : std::min(width, most_width);
}

int strip_width_of_steps(const March& march, int rows_of_pass) {
  if (is_of_volumes(march)) return tile_of_volume(march).width;
  return width_in_second_level(march, rows_of_pass, kept_bytes_of_steps);
}

}  // namespace weft::plan
