#include "plan/warp_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
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
// Where several pixels are in a word: less is under way, and some take the words apart.
constexpr int registers_to_unpack = 14, packed_values_under_way = 2;
constexpr int most_registers = 168;  // leaves room for 12 warps on a multiprocessor
// Where several rates are computed for each pixel of the slowest, more pixels a lane save more than other warps hide, and
// the sum of all rows says too much: those of a step are not there all at a time. Compilers found 168 to 251.
constexpr int most_registers_at_rates = 256;
constexpr int most_registers_of_hybrid = 255;
// Warps of a multiprocessor that are too few where much is computed: more operations than boards can do in the time that
// memory takes for a byte.
constexpr int few_warps = 8;
constexpr double operations_per_byte = 10;
// Each plane of a volume that a lane has is loaded, read, and computed anew by its neighbours in part, so that more of its rows
// save work. But the three ways through a strip (inside, at its ends, and row by row) leave the cache of instructions if they
// have more than these, and 8 warps wait for it and for each other: box3d1r took 127 us with 6 rows of 2 pixels a lane, and 83
// with 2 (bench/results/2026-11-26-h100-volumes.md). Compilers take 30 to 60 registers more than are counted.
constexpr int registers_of_12_warps = 160, most_registers_of_volumes = 192, most_registers_of_single = 112;
constexpr int most_operations_of_volumes = 1000;
constexpr int most_possible_of_single = 186;  // with more, compilers spill: they take up to 70 more
constexpr int registers_of_line = 2;  // that is loaded or stored: where it lies, from the first one on
constexpr int most_lines_of_lane = 8;
// Tiles of a plane are many, so that those of a band seldom make whole rounds on all multiprocessors: several rounds leave
// less of the last one idle than the planes above each tile cost.
constexpr int most_rounds_of_volumes = 3;
constexpr std::array planes_of_tiles = {64, 32, 16, 8};
// Of a lane's pixels of a row: a load with its address; of each pixel: what it costs that memory is read again, by about
// as much as would be computed in that time.
constexpr double instructions_of_load = 3, instructions_of_traffic = 4;
constexpr int most_sorted_values = 9;
constexpr int least_loaded_rows = 3, most_loaded_rows = 6;
constexpr int most_batch = 12;
constexpr int least_rows_to_march = 8;
// Short strips compute more twice, tall ones wait longer, which counts more while there is room for all of them at a time. Of one
// row they would compute too much twice even so (bench/results/2026-11-29-heights-of-strips.md). Members that begin 16 rows
// above a strip ask for 4 rows of it.
constexpr int least_rows_of_strip = 2, rows_before_of_row = 4;

/// Pixels of a source in the lanes' steps [first, last): from first * rate + min up to, and without, last * rate + max.
using Columns = Reach;

/// What the members read of a source, given where the columns of each begin.
Columns columns_read(const ir::Stage& source, const Group& group,
                     const std::map<const ir::Stage*, int>& first_columns) {
  std::optional<Columns> columns;
  for (const StageReads& member : group.members) {
    std::vector<const ir::Read*> reads = member.reads;
    reads.insert(reads.end(), member.outcomes.begin(), member.outcomes.end());
    for (const ir::Read* read : reads) {
      if (read->source.get() != &source) continue;
      const auto footprint = footprint_in_image(*read);
      if (!footprint) continue;
      const int first = first_columns.at(member.stage);
      const analysis::Along& x = footprint->front();
      const Columns needed{ir::floor_div(x.scale * first + x.min, x.divisor),
                           ir::floor_div(x.scale * (first - 1) + x.max, x.divisor) + 1};
      columns = columns ? analysis::hull({*columns}, {needed}).front() : needed;
    }
  }
  return columns.value_or(Columns{});
}

int remainder(std::int64_t a, int b) { return static_cast<int>(a - ir::floor_div(a, b) * b); }

/// Where a result's lanes begin, from a multiple of the step: so that the first lane begins with the result.
std::optional<int> first_column_of(const ir::Stage& result, const March& march) {
  if (march.step[0] == 1) return 0;
  const ir::Affine& begin = result.domain()[0].min;
  return begin.is_constant() ? std::optional(remainder(begin.constant(), march.step[0])) : std::nullopt;
}

/// Of a source whose pixels between lanes' steps are read as `columns` says: at its own steps if that costs no columns of
/// other lanes; and so that lanes begin where its memory does, or some whole lanes further, if it is in memory. Those of the
/// result begin with the column `of_lanes`.
int first_column_of(const RollingRows& source, const Columns& columns, const Group& group, int pixels,
                    int of_lanes) {
  const auto nearest = static_cast<int>(std::clamp<std::int64_t>(0, columns.min, columns.max));
  const ir::Affine &begin = source.source().box[0].min, &of_result = group.result().domain()[0].min;
  if (group.stored.count(&source.source()) > 0) return of_lanes;  // as the result is stored
  const bool is_aligned = !source.is_member || source.border();
  if (!is_aligned || !begin.is_constant() || !of_result.is_constant()) return nearest;
  const std::int64_t steps = ir::floor_div(of_result.constant(), group.march.step[0]);
  const int own = at_rate(pixels, group.march.step[0], source.rate[0]);
  const int further = remainder(begin.constant() - source.rate[0] * steps - nearest, own);
  const int right = nearest + further, left = right - own;
  const auto beside = [&](int first) {
    return std::max<std::int64_t>(first - columns.min, 0) + std::max<std::int64_t>(columns.max - first, 0);
  };
  return beside(left) < beside(right) ? left : right;
}

int lanes_for(std::int64_t columns, int pixels) {
  return static_cast<int>((std::max<std::int64_t>(columns, 0) + pixels - 1) / pixels);
}
HaloLanes halo_of(const Reach& x, int pixels) {
  return {lanes_for(-x.min, pixels), lanes_for(x.max, pixels)};
}

/// The least number of rows from `least` on that divides those of a batch.
int rows_in_batch(int least, int batch) {
  while (batch % least != 0) ++least;
  return least;
}

constexpr std::array heights_of_hybrid_tiles = {16, 8, 4, 2, 1};

/// Steps in each turn of the loop: all that the longest ring has, and such that images can be loaded in time.
struct Turns {
  int batch, prefetch;
};
Turns turns_for(const March& march) {
  int longest = 1, rows_of_step = 1;
  if (is_of_volumes(march)) {
    for (const RollingRows& r : march.rolling) longest = std::max(longest, r.rows);
    return {longest, 1};  // a plane is several rows
  }
  for (const RollingRows& r : march.rolling) {
    longest = std::max(longest, (r.rows + r.rate[1] - 1) / r.rate[1]);
    if (!r.is_member) rows_of_step = std::max(rows_of_step, r.rate[1]);
  }
  const int least = (least_loaded_rows + rows_of_step - 1) / rows_of_step;
  const int most = std::max(most_loaded_rows / rows_of_step, least);
  for (int batch = longest;; ++batch) {
    for (int steps = least; steps <= most; ++steps) {
      if (batch % steps == 0) return {batch, steps};
    }
  }
}
/// One step in each turn: rows move up, and rings have any number.
Turns turns_that_move(const March& march) {
  int rows_of_step = 1;
  for (const RollingRows& r : march.rolling) {
    if (!r.is_member) rows_of_step = std::max(rows_of_step, r.rate[1]);
  }
  return {1, std::max((least_loaded_rows + rows_of_step - 1) / rows_of_step, 2)};
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
  if (is_of_volumes(march) && !march.has_one_rate())
    return result + " is a volume, which lanes go through at one rate alone";
  if (!first_column_of(group.result(), march))
    return result + " begins at a column that no number says, and its steps have several";
  if (march.rolling.empty()) return result + " reads no windows";
  const ir::Affine& height = group.result().domain().back().extent;
  if (height.is_constant() && height.constant() < least_rows_to_march)
    return result + " has too few rows to march down";
  for (const RollingRows& r : march.rolling) {
    const bool leaves = r.is_read_outside();
    if (!march.has_one_rate() && r.continues)
      return fmt::format("'{}' goes on beyond its ends, which lanes of several rates do not",
                         r.source().name);
    if (r.is_member && leaves && r.border() == ir::BorderMode::Repeat)
      return fmt::format("'{}' is read with the border repeat, and so at the other end of a row",
                         r.source().name);
  }
  for (const Loop& loop : group.loops) {
    if (values_of_medians(loop.stage()) > most_sorted_values)
      return fmt::format("'{}' sorts more values in registers than rows leave room for", loop.stage().name);
    if (loop.operations.remainders > 0)
      return fmt::format(
          "'{}' finds pixels behind borders at places that it computes, which takes registers that rows need",
          loop.stage().name);
  }
  return std::nullopt;
}

/// Of all that a step computes, for each of its pixels of the result: about, since values are taken to have the rate of
/// what comes after them.
double operations_in_lanes(const Group& group) {
  if (group.march.has_one_rate()) return operations_of(group);
  const auto of_step = [](const std::array<int, 2>& rate) { return static_cast<double>(rate[0]) * rate[1]; };
  double operations = 0;
  std::array<int, 2> rate = group.march.step;
  for (auto loop = group.loops.rbegin(); loop != group.loops.rend(); ++loop) {
    if (const RollingRows* rows = group.march.of(loop->stage())) rate = rows->rate;
    operations += static_cast<double>(loop->operations.alu + 8 * loop->operations.sfu) * of_step(rate);
  }
  return operations / of_step(group.march.step);
}

/// Of images and the result, for each pixel of the result.
double bytes_in_lanes(const Group& group) {
  double bytes = size_of(group.result().type);
  for (const RollingRows& rows : group.march.rolling) {
    const double of_step = static_cast<double>(rows.rate[0]) * rows.rate[1];
    if (!rows.is_member)
      bytes += size_of(rows.source().type) * of_step / (group.march.step[0] * group.march.step[1]);
  }
  return bytes;
}

/// A source whose rows a lane keeps, and columns of other lanes beside them; and of it rows that are loaded before they are
/// needed, in whole words until then.
int registers_of_rows(Type pixel, int pixels, int beside, int rows, int loaded) {
  const int of_pixel = pixel.lanes * target::registers_of(pixel.lane());
  const int words =
      round_up(pixels * size_of(pixel), target::bytes_per_register) / target::bytes_per_register;
  return of_pixel * (pixels + beside) * rows + words * loaded;
}

/// Rows of a volume's planes that are still to be read, of all planes that a lane keeps: those `beside` of whose columns
/// other lanes' are read, or all. A plane that comes next is wanted in the middle of a window first, at its end last.
int lines_to_be_read(const RollingRows& source, const Group& group, int lines, bool beside) {
  std::map<std::int64_t, Reach>
      read;  // by the planes that came after the one that is read: the rows around a tile's
  for (const StageReads& member : group.members) {
    const RollingRows* reader = group.march.of(*member.stage);
    for (const ir::Read* r : member.reads) {
      const auto footprint = r->source.get() == &source.source() ? footprint_in_image(*r) : std::nullopt;
      if (!footprint) continue;
      const analysis::Along &x = (*footprint)[0], &y = (*footprint)[1], &z = (*footprint)[2];
      if (beside && x.min == 0 && x.max == 0) continue;
      const Reach own = reader ? reader->window[1] : Reach{};
      const Reach rows{own.min + y.min, own.max + y.max};
      for (std::int64_t plane = z.min; plane <= z.max; ++plane) {
        const std::int64_t age = source.ahead - (reader ? reader->ahead : 0) - plane;
        const auto [known, is_new] = read.try_emplace(age, rows);
        if (!is_new) known->second = analysis::hull({known->second}, {rows}).front();
      }
    }
  }
  std::int64_t all = 0;
  std::optional<Reach> needed;
  for (std::int64_t age = source.rows - 1; age >= 0; --age) {
    if (const auto found = read.find(age); found != read.end())
      needed = needed ? analysis::hull({*needed}, {found->second}).front() : found->second;
    if (needed) all += lines + needed->extent() - 1;
  }
  return static_cast<int>(all);
}

/// Of a source in a volume, with the plane that is loaded before it is needed.
int registers_of_planes(const RollingRows& source, const Group& group, const WarpStrip& strip, int beside) {
  const Type pixel = source.source().type;
  const int of_pixel = pixel.lanes * target::registers_of(pixel.lane());
  const int loaded = source.is_member ? 0 : strip.prefetch * room_for_lines(source, strip.lines);
  const int own = lines_to_be_read(source, group, strip.lines, false) + loaded;
  return of_pixel * (strip.pixels * own + beside * lines_to_be_read(source, group, strip.lines, true)) +
         registers_of_line * loaded;
}

bool has_packed_pixels(const March& march) {
  return std::any_of(march.rolling.begin(), march.rolling.end(),
                     [](const RollingRows& r) { return is_packed(r.source().type); });
}

WarpStrip strip_of(const Group& group, int pixels, bool moves_rows, int lines = 1) {
  const March& march = group.march;
  WarpStrip strip;
  strip.pixels = pixels, strip.lines = lines, strip.is_of_volume = is_of_volumes(march);
  strip.first_column = *first_column_of(group.result(), march);
  const Turns turns = moves_rows ? turns_that_move(march) : turns_for(march);
  strip.batch = turns.batch * march.step[1], strip.prefetch = turns.prefetch;
  strip.before = rows_before(march);
  std::map<const ir::Stage*, int> first_columns{{&group.result(), strip.first_column}};
  std::map<const ir::Stage*, RegisterRows> rows;
  int widest = pixels;
  for (auto r = march.rolling.rbegin(); r != march.rolling.rend(); ++r) {  // readers first
    const ir::Stage& source = r->source();
    const Columns columns = columns_read(source, group, first_columns);
    const int first = first_column_of(*r, columns, group, pixels, strip.first_column);
    const int own = at_rate(pixels, march.step[0], r->rate[0]);
    widest = std::max(widest, own);
    const int left = static_cast<int>(std::max<std::int64_t>(first - columns.min, 0));
    const int right = static_cast<int>(std::max<std::int64_t>(columns.max - first, 0));
    first_columns[&source] = first;
    const int least =
        std::max(r->rows, r->rate[1]);  // all of a step come at a time, also those that nobody reads
    const int in_turn = moves_rows ? least : rows_in_batch(least, turns.batch * r->rate[1]);
    rows[&source] = {in_turn, left, right, 0, first};
    const HaloLanes halo = halo_of({r->x().min - first, r->x().max - first}, own);
    strip.halo = {std::max(strip.halo.left, halo.left), std::max(strip.halo.right, halo.right)};
    strip.registers += is_of_volumes(march)
                           ? registers_of_planes(*r, group, strip, left + right)
                           : registers_of_rows(source.type, own, left + right, least,
                                               r->is_member ? 0 : strip.prefetch * r->rate[1]);
  }
  for (const RollingRows& r : march.rolling) strip.rows.push_back(rows.at(&r.source()));
  // Of a volume's plane all rows are stored at a time.
  strip.registers += registers_of_any_lane;
  if (strip.is_of_volume)
    strip.registers += (widest + registers_of_line) * lines;
  else if (has_packed_pixels(march))
    strip.registers += widest * packed_values_under_way + registers_to_unpack;
  else
    strip.registers += widest * values_under_way;
  return strip;
}

}  // namespace

HaloLanes halo_lanes(const KernelPlan& plan) {
  const int pixels = plan.level(LevelKind::Lane)->extent.at(0).fixed();
  HaloLanes lanes;
  for (const Kept& kept : plan.kept) {
    const Reach own{kept.x().min - kept.first_column, kept.x().max - kept.first_column};
    const HaloLanes halo = halo_of(own, at_rate(pixels, plan.step[0], kept.rate[0]));
    lanes = {std::max(lanes.left, halo.left), std::max(lanes.right, halo.right)};
  }
  return lanes;
}

Group in_lanes(const Group& group) {
  if (group.march.has_one_rate()) return group;
  const std::optional<int> first = first_column_of(group.result(), group.march);
  MarchOrWhy found = march_of(group.members, {first.value_or(0), true});
  if (!found.march) return group;
  Group result = group;
  result.march = *std::move(found.march);
  return result;
}

namespace {

/// About the instructions for each pixel of the result, and what is loaded for it: tiles compute and load rows and columns
/// around them, too.
double price_of_volume(const Group& group, const WarpStrip& strip) {
  const double of_lanes = static_cast<double>(lanes_of_warp) * strip.pixels / strip.width();
  const auto of_lines = [&](const Window& around) {
    return of_lanes * (strip.lines + static_cast<double>(around[1].extent() - 1)) / strip.lines;
  };
  double price = 0;
  for (std::size_t l = 0; l < group.loops.size(); ++l) {
    const analysis::Operations& operations = group.loops[l].operations;
    price += of_lines(group.halos[l]) * static_cast<double>(operations.alu + 8 * operations.sfu);
  }
  for (std::size_t r = 0; r < strip.rows.size(); ++r) {
    const RollingRows& rows = group.march.rolling[r];
    const double beside = strip.rows[r].left + strip.rows[r].right;
    const double of_row = (beside + (rows.is_member ? 0 : instructions_of_load)) / strip.pixels;
    price += of_lines(rows.window) * (of_row + (rows.is_member ? 0 : instructions_of_traffic));
  }
  return price;
}

/// Rows of a plane that a tile's windows reach above and below its own.
std::int64_t rows_around(const March& march) {
  std::int64_t rows = 0;
  for (const RollingRows& r : march.rolling) rows = std::max(rows, r.window[1].extent() - 1);
  return rows;
}

/// What a lane may take.
struct LimitsOfVolume {
  int registers;
  double operations;
  std::int64_t least_lines;  ///< With fewer lanes compute mostly what others do, too.
};

/// Those that pay, best first; at last what compilers can do at all, if strips are asked for.
std::vector<LimitsOfVolume> limits_of(const Group& group, const Choices& asked) {
  std::vector<LimitsOfVolume> limits;
  if (group.members.size() == 1) {
    limits = {{most_registers_of_single, most_operations_of_volumes, 1}};
  } else {
    for (const int registers : {registers_of_12_warps, most_registers_of_volumes})
      limits.push_back({registers, most_operations_of_volumes, rows_around(group.march)});
  }
  const int possible = group.members.size() == 1 ? most_possible_of_single : most_registers_of_volumes;
  if (asked.of_warps == true) limits.push_back({possible, most_unrolled_operations, 1});
  return limits;
}

/// The pixels and rows of a lane that cost least within the limits.
std::optional<WarpStrip> strip_of_volume(const Group& group, const Choices& asked,
                                         const LimitsOfVolume& limits) {
  int widest = size_of(group.result().type.scalar);
  for (const RollingRows& r : group.march.rolling) widest = std::max(widest, size_of(r.source().type.scalar));
  const double operations = operations_in_lanes(group);
  std::optional<WarpStrip> best;
  double least = 0;
  const int most = asked.pixels.value_or(bytes_of_lane / widest);
  for (int pixels = most; pixels >= 1; pixels = asked.pixels ? 0 : pixels / 2) {
    for (int lines = asked.lines.value_or(most_lines_of_lane); lines >= 1;
         lines = asked.lines ? 0 : lines - 1) {
      WarpStrip strip = strip_of(group, pixels, false, lines);
      const bool is_wide = strip.halo.left + strip.halo.right <= lanes_of_warp / 2;
      const bool is_short = operations * pixels * lines * strip.batch <= limits.operations;
      if (!is_wide || !is_short || lines < limits.least_lines || strip.registers > limits.registers) continue;
      const double price = price_of_volume(group, strip);
      if (!best || price < least) best = std::move(strip), least = price;
    }
  }
  return best;
}

WarpStripOrWhy strip_of_volume(const Group& group, const Choices& asked) {
  for (const LimitsOfVolume& limits : limits_of(group, asked)) {
    if (auto strip = strip_of_volume(group, asked, limits)) return {std::move(strip), ""};
  }
  return {std::nullopt, "its planes do not fit the registers of a warp"};
}

}  // namespace

WarpStripOrWhy warp_strip(const Group& group, const Choices& asked) {
  if (auto why = why_not_in_registers(group)) return {std::nullopt, std::move(*why)};
  const std::array<int, 2>& step = group.march.step;
  if (is_of_volumes(group.march)) return strip_of_volume(group, asked);
  int widest = size_of(group.result().type.scalar), most_of_step = step[0];
  for (const RollingRows& r : group.march.rolling) {
    widest = std::max(widest, size_of(r.source().type.scalar));
    most_of_step = std::max(most_of_step, r.rate[0]);
  }
  const int widest_row = std::min(most_pixels_of_lane, bytes_of_lane / widest);
  const int most = asked.pixels.value_or(std::max(widest_row / most_of_step, 1) * step[0]);
  if (most % step[0] != 0)
    return {std::nullopt, fmt::format("lanes of {} pixels have no whole steps of {}", most, step[0])};
  const double operations = operations_in_lanes(group);
  const bool computes = operations > operations_per_byte * bytes_in_lanes(group);
  std::optional<WarpStrip> widest_strip;
  for (int pixels = most; pixels >= step[0]; pixels = asked.pixels ? 0 : pixels / 2) {
    WarpStrip strip = strip_of(group, pixels, asked.batch == step[1]);
    if (strip.batch > most_batch * step[1])
      return {std::nullopt, fmt::format("its loop would have {} rows", strip.batch)};
    const bool is_wide = strip.halo.left + strip.halo.right <= lanes_of_warp / 2;
    const bool is_short = operations * pixels * strip.batch <= most_unrolled_operations;
    const int most_taken = group.march.has_one_rate() ? most_registers : most_registers_at_rates;
    if (!is_wide || !is_short || strip.registers > most_taken) continue;
    // Each waits for its own results: camera_pipe took 7 % less with 12 warps, of half as many pixels a lane
    // (bench/results/2026-11-26-h100.md).
    const bool has_few = computes && warps_at_a_time(strip.registers) <= few_warps;
    if (!has_few || asked.pixels) return {std::move(strip), ""};
    if (!widest_strip) widest_strip = std::move(strip);
  }
  if (widest_strip) return {std::move(widest_strip), ""};
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
  WarpStrip tile = strip_of(group, pixels, false);
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
  if (is_of_volumes(group.march))
    return {std::nullopt, "'" + group.result().name + "' is a volume, and no lane has all planes of a tile"};
  if (!group.march.has_one_rate())
    return {std::nullopt, "stages of several rates are not computed one after the other in registers"};
  const double operations = operations_of(group);
  const int share = asked.share.value_or(usual_share_in_registers);
  if (share < 0 || share > 100)
    return {std::nullopt, fmt::format("a share of {} % of the rows is none that registers can have", share)};
  std::string why = "its rows fit neither the registers of a warp nor shared memory";
  for (int pixels = asked.pixels.value_or(4); pixels >= 1; pixels = asked.pixels ? 0 : pixels / 2) {
    std::vector<int> heights(heights_of_hybrid_tiles.begin(), heights_of_hybrid_tiles.end());
    if (asked.height) heights = asked.height->sizes;
    const int in_turn = strip_of(group, pixels, false).batch;  // near the ends of an image it marches
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

int warps_to_leave_registers_for(const KernelPlan& plan, const machine::Architecture& architecture) {
  constexpr int usual = 16, of_plain_lanes = 20;
  if (plan.is_of_volume()) return 1;  // of more pixels than there are warps to be told of
  const bool has_scalars = std::none_of(plan.kept.begin(), plan.kept.end(), [](const Kept& kept) {
    return is_packed(kept.type) || kept.type.lanes > 1;
  });
  if (!has_scalars || warps_at_a_time(plan.registers) != usual) return 1;
  const bool is_plain = architecture.family == "Hopper" && plan.steps == 1 && plan.has_one_rate();
  return is_plain ? of_plain_lanes : usual;
}

Extent heights_of_warps(const WarpStrip& strip, int multiprocessors) {
  if (strip.is_of_volume) {
    Extent heights{{}, most_rounds_of_volumes * multiprocessors * warps_at_a_time(strip.registers)};
    for (int planes : planes_of_tiles) {
      planes = std::max(planes, round_up(2 * strip.before, least_rows_to_march));
      const int whole = round_up(planes + strip.before, strip.batch) - strip.before;
      if (heights.sizes.empty() || whole < heights.sizes.back()) heights.sizes.push_back(whole);
    }
    return heights;
  }
  const int least = std::max(least_rows_of_strip, strip.before / rows_before_of_row);
  return in_room(round_up(least + strip.before, strip.batch) - strip.before, strip.batch,
                 multiprocessors * warps_at_a_time(strip.registers));
}

bool halves_ends(const KernelPlan& plan) {
  return plan.is_of_lanes() && !plan.is_static() && plan.height().step > 0;
}

kernel::Expr columns_of_halves(const KernelPlan& plan, const kernel::Expr& columns) {
  return halves_ends(plan) ? kernel::min(columns, kernel::literal(2)) : kernel::literal(0);
}

}  // namespace weft::plan
