// Groups of stages that march down the image together: a strip of columns goes down row by row, each stage
// some rows ahead of its readers, and of every result only the rows that are still to be read are kept.
//
//     dx(x, y) = in(x + 1, y) - in(x - 1, y)       in: 3 columns of 1 row      1 row ahead, computed before
//     use gx(x, y) = dx(x, y - 1) + dx(x, y + 1)       dx: 3 rows, 1 ahead
//
// Stages of other resolutions march in steps of several rows:
//
//     half(x, y) = (in(2 * x, 2 * y) + in(2 * x + 1, 2 * y + 1)) / 2      in: 4 rows in each step
//     use up(x, y) = half(x / 2, y / 2)                                  2 rows in each step; half: 1
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "schedule/schedule.h"
#include "schedule/stage_graph.h"

namespace weft::schedule {

/// A stage with all that is read for it: the reads of stages that are computed in place of its own reads,
/// too.
struct StageReads {
  const ir::Stage* stage;
  std::vector<const ir::Read*> reads;
  bool has_places = false;  ///< Values depend on where a pixel is, not only on what is read around it.
};
StageReads reads_of(const ir::Stage& stage);
bool reads(const StageReads& reader, const ir::Stage& source);

/// What a strip keeps of one source of the group's stages: the result of another member, or an image from
/// memory that is read in windows.
struct RollingRows {
  ir::Read read;  ///< One of the reads, with the border that says what is beyond the source.
  bool is_member;
  std::array<int, 2> rate;  ///< Its pixels along x and y for each step of the result.
  /// What is needed of it, borders resolved: for the steps [first, last) of the result the pixels from
  /// first * rate + min up to, and without, last * rate + max. At rate 1 that is a window around each pixel.
  Window window;
  Window outside;  ///< How far beyond its ends it is read: min before the first pixel, max after the last.
  /// A member that repeats, as do all that it reads: beyond its ends it is computed like anywhere else.
  bool continues = false;
  int ahead = 0;  ///< Rows by which it is ahead of the result: the step t computes t * rate + ahead, and on.
  int rows = 1;   ///< Kept at a time.

  const ir::Stage& source() const { return *read.source; }
  /// What is found beyond its ends, unless nothing is or it is computed.
  std::optional<ir::BorderMode> border() const;
  /// How far it is computed beyond its ends.
  Reach continued(int d) const { return continues ? outside[d] : Reach{}; }
  const Reach& x() const { return window[0]; }
  const Reach& y() const { return window[1]; }
};

struct March {
  std::vector<RollingRows> rolling;  ///< Images first, then members but for the last, producers first.
  /// Pixels of the result along x and y in each step, powers of two: a step computes so many rows, and strips
  /// begin at coordinates that they divide.
  std::array<int, 2> step = {1, 1};
  /// The result is a reduction: strips are whole parts of its elements, so that its bits do not depend on who
  /// computes those.
  bool in_parts = false;
  /// CPUs keep a row of each lane, not rows of pixels: neighbours of one lane make vectors, as those of
  /// pixels of 3 lanes do not where they are read or stored at another rate.
  bool lanes_apart = false;

  const RollingRows* of(const ir::Stage& source) const;  ///< Null if none of its rows are kept.
  bool has_one_rate() const;                             ///< That of the result, a pixel in each step.
};

/// How the members, producers first, march towards the last of them, which may be a reduction of rows of
/// columns; or why they cannot: a clause.
struct MarchOrWhy {
  std::optional<March> march;
  std::string why;
};
MarchOrWhy march_of(const std::vector<StageReads>& members);

/// Strips are as tall as leaves so many of them, some for each core, within limits: tall ones do little twice
/// at their ends. Heights are multiples of the least.
constexpr int enough_strips = 64, least_height = 16, most_height = 256;

/// A core combines the elements of a reduction in parts: so many of a row, or of as many whole rows as make
/// no more. Blocks of threads have parts of their own (block_strip.h).
constexpr int part_pixels = 4096;  // enough to pay for handing out a part

/// So many pixels of the result along one dimension, whole steps, at the rate of a source.
inline int at_rate(int pixels, int step, int rate) { return pixels / step * rate; }

/// Rows of the result above the first of a strip with which a march begins: whole steps, so that those that
/// are furthest ahead compute all that the strip needs of them.
int rows_before(const March& march);
/// How many rows of a source a strip has room for: a power of two, so that rows take each other's place.
int room_for_rows(const RollingRows& rows);
/// Columns of a strip of the result, so that all rows that it keeps fit a first-level cache, within limits;
/// or those of a part.
int strip_width(const March& march);
/// Why no core marches so, since the rows of whole parts are too many for its caches: a clause, or nothing.
std::optional<std::string> why_not_in_caches(const March& march, const ir::Stage& result);
/// So many rows of a source a static tile of that height has room for.
int room_for_rows(const RollingRows& rows, const March& march, int height);
/// Why no processor can march in such tiles: a clause, or nothing.
std::optional<std::string> why_not_in_steps(const Tile& tile, const March& march);
/// Why a CPU cannot compute such tiles: a clause, or nothing.
std::optional<std::string> why_not_in_tiles(const Tile& tile, const March& march);

/// The march when some of its members are values of loops, of which no rows are kept.
March without(March march, const std::set<const ir::Stage*>& values);

/// Members that one loop along a row computes, pixel by pixel.
using Pass = std::vector<const ir::Stage*>;

/// The passes over the rows of each step, in order. Members of one pass need the same columns of the same
/// row; of them only those in `values` are read in it, at the pixel itself: there they are values of the
/// loop.
std::vector<Pass> passes_of(const std::vector<StageReads>& members, const March& march,
                            const std::set<const ir::Stage*>& values = {});

/// Which of the candidates, stages that are read at the reader's pixel alone, are read in their own pass
/// alone, so that no row of theirs has to be kept.
std::set<const ir::Stage*> values_of_passes(const std::vector<StageReads>& members, const March& march,
                                            std::set<const ir::Stage*> candidates);

}  // namespace weft::schedule
