// Groups of stages that march down the image together: a strip of columns goes down row by row, each stage
// some rows ahead of its readers, and of every result only the rows that are still to be read are kept.
//
//     dx(x, y) = in(x + 1, y) - in(x - 1, y)       in: 3 columns of 1 row      1 row ahead, computed before
//     use gx(x, y) = dx(x, y - 1) + dx(x, y + 1)       dx: 3 rows, 1 ahead
//
// Volumes march plane by plane, in tiles of columns and rows: "row" is what comes next along the last dimension.
//
// Stages of other resolutions march in steps of several rows:
//
//     half(x, y) = (in(2 * x, 2 * y) + in(2 * x + 1, 2 * y + 1)) / 2      in: 4 rows in each step
//     use up(x, y) = half(x / 2, y / 2)                                  2 rows in each step; half: 1
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/window.h"
#include "ir/stage_ir.h"

namespace weft::plan {

using analysis::Reach;
using analysis::Window;

/// A stage with all that is read for it: the reads of stages that are computed in place of its own reads,
/// too.
struct StageReads {
  const ir::Stage* stage;
  std::vector<const ir::Read*> reads;
  bool has_places = false;  ///< Values depend on where a pixel is, not only on what is read around it.
  /// Of the last of a group: at the pixel, of the others that go to memory with it. Nothing computes with them, but their
  /// rows are needed where those of the last are.
  std::vector<const ir::Read*> outcomes = {};
};
StageReads reads_of(const ir::Stage& stage);
bool reads(const StageReads& reader, const ir::Stage& source);

/// What a strip keeps of one source of the group's stages: the result of another member, or an image from
/// memory that is read in windows.
struct RollingRows {
  ir::Read read;  ///< One of the reads, with the border that says what is beyond the source.
  bool is_member;
  std::array<int, 2> rate;  ///< Its pixels along x and down the march for each step of the result.
  /// What is needed of it, borders resolved: for the steps [first, last) of the result the pixels from
  /// first * rate + min up to, and without, last * rate + max. At rate 1 that is a window around each pixel.
  Window window;
  Window outside;  ///< How far beyond its ends it is read: min before the first pixel, max after the last.
  /// A member that repeats, as do all that it reads: beyond its ends it is computed like anywhere else.
  bool continues = false;
  /// A CPU keeps a row of each lane, not rows of pixels: neighbours of one lane make vectors, as those of pixels of 3 lanes
  /// do not where they are read at another rate.
  bool lanes_apart = false;
  int ahead = 0;  ///< Rows by which it is ahead of the result: the step t computes t * rate + ahead, and on.
  int rows = 1;   ///< Kept at a time.

  const ir::Stage& source() const { return *read.source; }
  /// What is found beyond its ends, unless nothing is or it is computed.
  std::optional<ir::BorderMode> border() const;
  /// How far it is computed beyond its ends.
  Reach continued(int d) const { return continues ? outside[d] : Reach{}; }
  const Reach& x() const { return window[0]; }
  const Reach& down() const { return window.back(); }  ///< The march: along y, in volumes along z.
  bool is_read_outside() const { return outside != Window(outside.size()); }
};

struct March {
  std::vector<RollingRows> rolling;  ///< Images first, then members but for the last, producers first.
  /// Pixels of the result in each step, along x and down the march: powers of two. Strips begin at multiples of them.
  std::array<int, 2> step = {1, 1};
  /// The result is a reduction: strips are whole parts of its elements, so that its bits do not depend on who
  /// computes those.
  bool in_parts = false;

  const RollingRows* of(const ir::Stage& source) const;  ///< Null if none of its rows are kept.
  bool has_one_rate() const;                             ///< That of the result, a pixel in each step.
  bool has_lanes_apart() const;                          ///< Of any.
};

/// How the members, producers first, march towards the last of them, which may be a reduction of rows of
/// columns; or why they cannot: a clause.
struct MarchOrWhy {
  std::optional<March> march;
  std::string why;
};
MarchOrWhy march_of(const std::vector<StageReads>& members);

/// How the lanes of a warp have the columns of a march at several rates.
struct LaneMarch {
  int first_column = 0;  ///< Of a lane in the result, counted from a multiple of the step.
  bool keeps_images =
      false;  ///< Rows of images that are read at the pixel itself, too: lanes load several pixels at a time.
};
MarchOrWhy march_of(const std::vector<StageReads>& members, const LaneMarch& lanes);

/// Where a read finds its pixels of an image, if in rows and columns of its own that move as the reader's do.
std::optional<analysis::Footprint> footprint_in_image(const ir::Read& read);

/// So many pixels of the result along one dimension, whole steps, at the rate of a source.
inline int at_rate(int pixels, int step, int rate) { return pixels / step * rate; }

/// Whether it goes from plane to plane.
bool is_of_volumes(const March& march);
/// Rows of a tile's planes: as many as planes have, where that is known and fewer than `most`. A turned volume
/// (rewrite/turned_volumes.h) has a row for each of its few planes.
int lines_at_most(const March& march, int most);

/// Rows of the result above the first of a strip with which a march begins: whole steps, so that those that
/// are furthest ahead compute all that the strip needs of them; or those of members alone, which other strips compute, too.
int rows_before(const March& march, bool of_members = false);

}  // namespace weft::plan
