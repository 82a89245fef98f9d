#include "plan/block_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/round_up.h"
#include "plan/core_strip.h"
#include "plan/parts.h"

namespace weft::plan {
namespace {

constexpr int warp = 32;
constexpr int threads_of_full_block = 256;  // of a block
constexpr int least_columns = 2 * warp;     // of the smallest block that is launched
constexpr int least_block_width = 32;
constexpr int most_batch_rows = 8;  // loads that each thread has in flight
constexpr int enough_strips_of_blocks = 128;
constexpr int few_batch_rows = 4, least_batch_rows = 2;
constexpr int most_lines_of_block = 8;  // of a volume
constexpr int columns_of_static_tile = 128, columns_of_static_warp = 64;
constexpr int usual_warps = 4;
constexpr std::array heights_of_static_tiles = {16, 8, 4, 2, 1};

int round_down(int n, int multiple) { return n / multiple * multiple; }
int power_of_two(int at_least) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(at_least))); }
int left_of(const Reach& x) { return static_cast<int>(std::max<std::int64_t>(-x.min, 0)); }
int right_of(const Reach& x) { return static_cast<int>(std::max<std::int64_t>(x.max, 0)); }

class Fitting {
 public:
  Fitting(const March& march, const ir::Stage& result, std::int64_t shared_bytes, const Choices& asked)
      : march_(march), shared_bytes_(shared_bytes), asked_(asked) {
    if (asked.of_warps == true) warps_ = asked.warps.value_or(usual_warps), least_columns_ = warp;
    if (const auto* reduce = std::get_if<ir::Reduce>(&result.definition))
      accumulators_ = bytes_of_accumulators(parts_of(*reduce, {shared_bytes}));
    const auto [step_x, step_y] = march.step;
    const auto in_memory = [&](const ir::Stage& image, int rate) {
      widest_scalar_ = std::max(widest_scalar_, size_of(image.type.scalar));
      aligned_ = std::max(aligned_, sector / size_of(image.type.scalar) * step_x / rate);
    };
    aligned_ = step_x, fastest_ = march.step;
    in_memory(result, step_x);
    computed_.push_back({step_x, 0});
    for (const RollingRows& r : march.rolling) {
      for (int d = 0; d < 2; ++d) fastest_[d] = std::max(fastest_[d], r.rate[d]);
      if (r.is_member) computed_.push_back({r.rate[0], static_cast<int>(r.x().extent()) - 1});
      if (!r.is_member) in_memory(r.source(), r.rate[0]);
    }
  }

  std::optional<BlockStrip> widest(int least_batch) const {
    const int most = std::max(round_down(strip_bytes / widest_scalar_, warp), least_columns_);
    for (int columns = most; columns >= least_columns_; columns -= step(columns)) {
      const int width = widest_in(columns);
      if (at_rate(width, march_.step[0], fastest_[0]) < least_block_width) continue;
      if (auto strip = of(width, columns, least_batch)) return strip;
    }
    return std::nullopt;
  }
  std::optional<BlockStrip> of_width(int width) const {
    if (!takes(width)) return std::nullopt;
    return of(width, columns_for(width), 1);
  }
  /// As tall as fits, or as was asked for.
  std::optional<BlockStrip> at_rest() const {
    const int columns = warps_ > 0 ? columns_of_static_warp : columns_of_static_tile;
    const int width = asked_.width.value_or(width_in(columns));
    if (!takes(width)) return std::nullopt;
    std::vector<int> heights;
    for (const int height : heights_of_static_tiles) heights.push_back(height * march_.step[1]);
    if (asked_.height) heights = asked_.height->sizes;
    for (const int height : heights) {
      for (int lines = asked_.lines.value_or(most_lines_of_static_tile(march_)); lines >= 1;
           lines = asked_.lines ? 0 : lines / 2) {
        if (auto tile = in_batches(width, columns_for(width), height, lines)) return tile;
      }
    }
    return std::nullopt;
  }
  /// As many threads as there are columns leave none idle but for the halo.
  std::optional<BlockStrip> of_parts() const { return of(part_columns, part_columns, 1); }
  int width_in(int columns) const { return std::max(widest_in(columns), aligned_); }
  bool takes(int width) const { return width % width_step() == 0; }
  int width_step() const { return aligned_; }
  /// Whole steps, and none of two parts.
  bool takes_batch(int batch) const {
    return batch % march_.step[1] == 0 && (!march_.in_parts || least_part_rows % batch == 0);
  }

 private:
  /// Passes over a row leave no thread of the largest block idle, or take but one turn.
  static int step(int columns) { return columns > threads_of_full_block ? threads_of_full_block : warp; }

  /// Threads that the columns of the widest pass are divided among, without turns if they are few.
  int columns_for(int width) const {
    return warps_ > 0 ? warp : std::max(round_up(columns_of(width), warp), least_columns_);
  }
  /// The columns of the widest pass.
  int columns_of(int width) const {
    int columns = 0;
    for (const auto& [rate, halo] : computed_)
      columns = std::max(columns, at_rate(width, march_.step[0], rate) + halo);
    return columns;
  }
  int widest_in(int columns) const {
    int width = columns * march_.step[0];
    for (const auto& [rate, halo] : computed_)
      width = std::min(width, (columns - halo) * march_.step[0] / rate);
    return round_down(width, aligned_);
  }

  /// In the largest batches that fit, as rows of the members with the most rows.
  std::optional<BlockStrip> of(int width, int columns, int least_batch) const {
    if (is_of_volumes(march_)) return of_planes(width, columns, least_batch);
    if (asked_.batch)
      return takes_batch(*asked_.batch) ? in_batches(width, columns, *asked_.batch) : std::nullopt;
    const int fastest = fastest_[1];
    for (int rows = most_batch_rows; rows >= std::max(least_batch, fastest); --rows) {
      if (rows % fastest != 0) continue;
      const int batch = at_rate(rows, fastest, march_.step[1]);
      if (!takes_batch(batch)) continue;
      if (auto strip = in_batches(width, columns, batch)) return strip;
    }
    return std::nullopt;
  }
  /// Rows of planes instead of batches.
  std::optional<BlockStrip> of_planes(int width, int columns, int least_lines) const {
    const int batch = asked_.batch.value_or(march_.step[1]);
    if (!takes_batch(batch)) return std::nullopt;
    if (asked_.lines) return in_batches(width, columns, batch, *asked_.lines);
    int halo = 0;  // of rows that the strip computes for its neighbours: at most half of its own
    for (const RollingRows& r : march_.rolling) {
      if (r.is_member) halo = std::max(halo, room_for_lines(r, 0));
    }
    const int least = std::max(least_lines, 2 * halo);
    for (int lines = std::max(lines_at_most(march_, most_lines_of_block), least); lines >= least; --lines) {
      if (auto strip = in_batches(width, columns, batch, lines)) return strip;
    }
    return std::nullopt;
  }
  std::optional<BlockStrip> in_batches(int width, int columns, int batch, int lines = 1) const {
    const int before = round_up(rows_before(march_), march_.in_parts ? batch : 1);
    const bool is_static = asked_.traversal == Traversal::Static;
    BlockStrip strip{width, columns, lines, batch, is_static ? 0 : before, {}, accumulators_, warps_};
    for (const RollingRows& r : march_.rolling) {
      const int rows = rows_of_batch(r, march_, batch);
      strip.rings.push_back((r.is_member ? ring_of_result : ring_of_image)(
          r.source().type, r.x(), at_rate(width, march_.step[0], r.rate[0]), rows));
      if (is_static) strip.rings.back().rows = room_for_rows(r, march_, batch);
      strip.rings.back().lines = room_for_lines(r, lines);
      strip.bytes += strip.rings.back().bytes();
    }
    if (strip.bytes * std::max(warps_, 1) > shared_bytes_) return std::nullopt;
    return strip;
  }

  const March& march_;
  const std::int64_t shared_bytes_;
  const Choices& asked_;
  int widest_scalar_ = 1;  // bytes, in memory
  int aligned_ = 1;  // pixels, so that strips of the result and the images begin with a sector and a step
  std::array<int, 2> fastest_;  // rate
  /// A stage whose rows a pass computes.
  struct Computed {
    int rate, halo;  // pixels along x
  };
  std::vector<Computed> computed_;
  std::int64_t accumulators_ = 0;  // bytes
  int warps_ = 0, least_columns_ = least_columns;
};

}  // namespace

int rows_of_batch(const RollingRows& rows, const March& march, int batch) {
  return rows.rows - rows.rate[1] + at_rate(batch, march.step[1], rows.rate[1]);
}

RowRing ring_of_image(Type pixel, const Reach& x, int width, int rows) {
  const int in_sector = sector / size_of(pixel.scalar);
  const int first = round_up(left_of(x) * pixel.lanes, in_sector);
  const int after = round_up(right_of(x) * pixel.lanes, in_sector);
  return {pixel.scalar, pixel.lanes, power_of_two(rows), first, first + width * pixel.lanes + after};
}

RowRing ring_of_result(Type pixel, const Reach& x, int width, int rows) {
  const int columns = left_of(x) + width + right_of(x);
  return {pixel.scalar, pixel.lanes, power_of_two(rows), left_of(x) * pixel.lanes, columns * pixel.lanes};
}

std::optional<BlockStrip> block_strip(const March& march, const ir::Stage& result, std::int64_t shared_bytes,
                                      const Choices& asked) {
  const Fitting fitting(march, result, shared_bytes, asked);
  if (march.in_parts) return fitting.of_parts();
  if (asked.traversal == Traversal::Static) return fitting.at_rest();
  if (asked.width) return fitting.of_width(*asked.width);
  if (auto strip = fitting.widest(few_batch_rows)) return strip;
  return fitting.widest(least_batch_rows);
}

int width_of_static_tile(const March& march, const ir::Stage& result, int columns) {
  return Fitting(march, result, 0, {}).width_in(columns);
}

int most_lines_of_static_tile(const March& march) {
  return is_of_volumes(march) ? lines_at_most(march, most_lines_of_block) : 1;
}

std::optional<std::string> why_not_asked_of_blocks(const March& march, const ir::Stage& result,
                                                   const Choices& asked) {
  if (asked.lines && !is_of_volumes(march)) return no_lines;
  if (auto why = why_not_in_steps(asked, march)) return why;
  const Fitting fitting(march, result, 0, asked);
  if (asked.width && !fitting.takes(*asked.width))
    return fmt::format("a tile's width of {} is no multiple of {}, a sector of memory", *asked.width,
                       fitting.width_step());
  if (asked.batch && !fitting.takes_batch(*asked.batch))
    return fmt::format("a batch of {} rows is not of whole steps and parts", *asked.batch);
  return std::nullopt;
}

std::string why_rows_do_not_fit(const March& march, std::int64_t shared_bytes, const Choices& asked) {
  std::string rows;
  if (asked.width) {
    rows = fmt::format("rows of tiles {} pixels wide", *asked.width);
  } else if (asked.batch) {
    rows = fmt::format("batches of {} rows", *asked.batch);
  } else {
    for (const RollingRows& r : march.rolling)
      rows += (rows.empty() ? "the rows of '" : ", '") + r.source().name + "'";
  }
  return fmt::format("{} do not fit {} bytes of shared memory", rows, shared_bytes);
}

Extent strip_heights() { return {{64, 32, 8}, enough_strips_of_blocks}; }

Extent strip_heights_of_march(int rows_before) {
  Extent heights = strip_heights();
  const int least = heights.sizes.back(), times = std::max(1, round_up(2 * rows_before, least) / least);
  for (int& rows : heights.sizes) rows *= times;
  return heights;
}

std::optional<std::string> why_not_in_blocks(const std::vector<StageReads>& members, const March& march,
                                             std::int64_t shared_bytes) {
  const ir::Stage& result = *members.back().stage;
  const auto* reduce = std::get_if<ir::Reduce>(&result.definition);
  if (reduce && !reduce->op.commutative)
    return fmt::format("'{}' combines its elements in their order, which blocks of threads do not",
                       result.name);
  if (reduce && !march.has_one_rate())
    return fmt::format(
        "'{}' combines parts of its elements, and blocks of threads go down parts at one rate alone",
        result.name);
  if (block_strip(march, result, shared_bytes)) return std::nullopt;
  return why_rows_do_not_fit(march, shared_bytes);
}

}  // namespace weft::plan
