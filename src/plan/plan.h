// How one kernel is made: a plain value that says all of it. Searches choose among plans, models count what
// they say, `weft explain` prints them, a user's file can force them, and lowering follows them to the
// letter.
//
//     kernel hc; with it gx gy gxy; values dx dy
//       grid    248 x 64|32|8 for 128 parallel
//       block   256 parallel
//       batch   all x 8 march
//       begins  4 rows above a tile
//       in      ring of 16 rows, 264 scalars each, in shared memory; [-2, 2] x [-2, 2], 2 ahead; clamp
//       gx      ring of 16 rows, 250 scalars each, in shared memory; [-1, 1] x [-1, 1], 1 ahead; clamp
//       passes  gx gy gxy | hc
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/operations.h"
#include "analysis/window.h"
#include "ir/stage_ir.h"
#include "plan/choices.h"
#include "plan/code_limits.h"
#include "plan/extent.h"
#include "plan/parts.h"
#include "plan/scatter.h"
#include "plan/split_tiles.h"

namespace weft::plan {

using analysis::Reach;
using analysis::Window;

// ---- how the result is divided

enum class LevelKind {
  Grid,  ///< Of a GPU: tiles, each a block's or a warp's.
  Core,  ///< Of a CPU: tiles, each a core's.
  Block,  ///< The threads of a block: each has some of so many columns. Of warps' tiles: so many, one below the other.
  Warp,   ///< The lanes of a warp: each has some of so many columns, those around the tile among them.
  Batch,  ///< Rows of a tile that a block takes at a time, or a warp before it begins anew in its registers.
  Step,   ///< Time steps of a tile.
  Row,    ///< Rows of a tile that a core takes at a time, or of a batch that a thread's code has.
  Lane,   ///< Neighbouring pixels of one thread.
  Vector  ///< Neighbouring pixels of a core, which do not depend on one another.
};
enum class Order {
  Parallel,  ///< In any order, at the same time.
  March,     ///< One after the other, and of each stage what its readers still need.
  Static,    ///< One after the other, all of a stage before its readers.
  Unrolled,  ///< Each as code of its own.
};
/// A division of what the level around it has: of all of the result, in the outermost.
struct Level {
  LevelKind kind;
  Order order;
  std::vector<Extent> extent;  ///< Per dimension, x first; of those beyond, one.

  bool operator==(const Level&) const = default;
};

// ---- what is kept

enum class Storage {
  Ring,  ///< Rows that take each other's place as a tile is gone through.
  Tile,  ///< All rows that a static tile needs.
};

/// What reads find beyond the ends of a source.
struct BorderRule {
  ir::BorderMode mode;
  ir::Expr constant;  ///< Of Constant alone.

  bool operator==(const BorderRule&) const = default;
};

/// Rows that a tile keeps of a source: an image in memory that is read in windows, or another result of the
/// same kernel.
struct Kept {
  std::string stage;
  bool is_member = false;  ///< Computed here; else loaded.
  bool is_stored = false;  ///< A member that goes to memory, too.
  Storage storage = Storage::Ring;

  // What follows from the reads (march.h).
  std::array<int, 2> rate = {1, 1};  ///< Its pixels along x and down the march for each step of the result.
  Window window, outside;            ///< As RollingRows has them.
  bool continues = false;            ///< Computed beyond its ends, as it repeats.
  int ahead = 0;                     ///< Rows by which it is ahead of the result.
  int least_rows = 1;                ///< For which there has to be room, as the tile is gone through.
  int first_column = 0;  ///< Of lanes: what each has begins so many pixels right of its first step.
  std::optional<BorderRule> border;

  // What is chosen.
  int rows = 0;            ///< That there is room for: of a ring a power of two. Of volumes planes.
  int lines = 1;           ///< Rows of each plane of a volume.
  int first = 0;           ///< Scalars of a row before the tile's first pixel.
  int pitch = 0;           ///< Scalars of a row.
  int lane_pitch = 1;      ///< Scalars from lane to lane: 1, or all columns if lanes lie apart.
  int place = 0;           ///< The number of its array; those of one number take turns in it.
  bool in_memory = false;  ///< Tiles inside the image read the rows where they lie.
  /// Of a static tile of lanes: the first rows, which stay in registers. The others lie in shared memory, and come back
  /// to `least_rows` of registers as they are read.
  std::optional<int> resident = {};

  Type type;    ///< Of its pixels.
  ir::Box box;  ///< All of it.

  bool operator==(const Kept&) const = default;
  /// Whether any tile has rows of its own: none of an image that is read where it lies and nowhere left.
  bool is_copied() const { return !in_memory || outside != Window(outside.size()); }
  /// Rows that there is room for where `pitch` counts: in registers, if those of a static tile lie there.
  int slots() const;
  int scalars() const { return is_copied() ? slots() * lines * pitch : 0; }
  std::int64_t bytes() const { return std::int64_t{scalars()} * size_of(type.scalar); }
  const Reach& x() const { return window[0]; }
  const Reach& down() const { return window.back(); }  ///< The march: along y, in volumes along z.
  /// What is found beyond its ends, unless nothing is or it is computed.
  std::optional<ir::BorderMode> border_mode() const;
  /// How far it is computed beyond its ends.
  Reach continued(int d) const { return continues ? outside[d] : Reach{}; }
};

// ---- what it does, which models count

/// An image in memory.
struct ImageUse {
  std::string stage;
  Type type;
  ir::Box box;

  bool operator==(const ImageUse&) const = default;
};
/// The pixels of one stage.
struct Computed {
  std::string stage;
  Type type;
  ir::Box domain;                   ///< Its own, without the halo.
  Window halo;                      ///< Computed around each tile; at the rate of the stage.
  analysis::Operations operations;  ///< Of a pixel, with those of stages in its place.
  double accesses = 0;              ///< Values loaded and stored for a pixel, from wherever.
  std::vector<std::string> reads;   ///< Distinct images and stages.
  bool is_value = false;
  int border_columns = 0;            ///< At both ends of a row, where windows leave the image.
  analysis::Operations shared = {};  ///< Of those what a core computes once for neighbours in a row.
  int phases = 1;                    ///< Pixels computed at a time, where a coarser image is read.
  bool is_gathered = false;          ///< Its pixels are found one by one, as there were too many phases.

  bool operator==(const Computed&) const = default;
};

// ---- the plan

using Pass = std::vector<std::string>;  ///< Stages that one loop along a row computes.

struct KernelPlan {
  std::string result;                ///< The stage that it stores, with members that are kept and stored.
  std::vector<std::string> values;   ///< Stages computed in the loops of others: no pixels of their own.
  std::vector<Level> levels;         ///< Outermost first.
  std::array<int, 2> step = {1, 1};  ///< Pixels of the result in each step, powers of two.
  int before = 0;                    ///< Rows above the first of a tile with which a march begins.
  /// Columns at the ends of an image for which tiles there copy what they read, with pixels beyond the ends;
  /// they read the rest where it lies. 0: they copy all.
  int edges = 0;
  /// Pixels of which what a pass computes of a row begins and ends at multiples, so that vectors are whole and lie
  /// in whole lines of caches. Those computed too many are read by none that count. 1: just what is needed.
  int whole = 1;
  int prefetch = 0;      ///< Steps by which a warp loads images before it needs them: rows, at one rate.
  int first_column = 0;  ///< Of lanes: as of what is kept; those of the result.
  int registers = 0;     ///< Of a lane of a warp, about.
  int share = 100;       ///< Of the rows of a static tile of lanes those that stay in registers, in percent.
  std::vector<Kept> kept;      ///< Images first, then members, producers first.
  std::vector<Pass> passes;    ///< In order; the result's is the last.
  std::optional<Parts> parts;  ///< Of a reduction.
  std::optional<Scatter> scatter;
  /// What neighbouring threads have in common, if each has pixels of its own (LevelKind::Lane).
  bool shares_rows = false;
  std::vector<KernelPlan> updates;  ///< Of an evolution: those of its updates, in each time step.
  /// Of an evolution: its first step reads what fields begin with where it lies; else that is copied first.
  bool reads_initial = false;
  std::string evolves_with;  ///< Another field of the evolution, whose plan says how all of them change.
  /// Of an evolution: one that takes several steps, while there are so many left; and of several fields one that takes a
  /// single step of all. Or none.
  std::vector<KernelPlan> several;
  int steps = 1;  ///< That the kernel takes: passes of the field that read each other.
  std::optional<SplitTiles>
      split;                    ///< Of those steps: they are taken in the fields' own arrays, in such tiles.
  std::int64_t steps_from = 0;  ///< Bytes of the field, for fewer of which steps are single.
  CodeLimits code;

  std::vector<ImageUse> written;   ///< The result, and members that are stored.
  std::vector<ImageUse> images;    ///< Read from memory.
  std::vector<Computed> computed;  ///< Values among them, the result last.

  bool is_of_blocks() const { return levels.at(0).kind == LevelKind::Grid; }
  bool is_of_warps() const { return level(LevelKind::Warp) != nullptr; }
  /// Tiles of warps whose lanes keep rows in their registers.
  bool is_of_lanes() const { return is_of_warps() && level(LevelKind::Lane) != nullptr; }
  /// Of a block, each with a tile of its own; 1 if the tile is the block's.
  int warps() const;
  /// Null if there is none.
  const Level* level(LevelKind kind) const;
  const Kept* kept_of(const std::string& stage) const;
  const Computed* computed_of(const std::string& stage) const;
  bool is_static() const;
  /// That each pass of a core's tile computes at a time, in one loop if that is possible; 1 of a tile in steps.
  int rows_of_pass() const;
  /// Rows are kept of tiles of the result, or its elements combined, by passes.
  bool is_tiled() const { return !kept.empty(); }
  /// Whether updates of an evolution are ever kernels of their own.
  bool has_single_updates() const;
  /// All kept rows, those of one place once, and accumulators; of lanes what each has room for in registers.
  std::int64_t kept_bytes() const;
  /// Of a block: of lanes rows that do not stay in registers.
  std::int64_t shared_bytes() const;
  /// Scalars of one row of a source in the shared memory of a warp's lanes: their own pixels.
  int row_of_lanes(const Kept& kept) const;
  /// A pixel of everything for each pixel of the result.
  bool has_one_rate() const;
  bool has_lanes_apart() const;  ///< Of some source each lane has kept rows of its own.
  /// Tiles that read the rows of an image where they lie find those beyond its ends by exchanging the row's
  /// index; else tiles at its top and bottom copy rows.
  bool exchanges_rows(const Kept& image) const;
  /// Whether a core asks memory for the rows of an image that its tile needs next: processors foresee what is next in a
  /// row, not that a tile goes on in another one.
  bool fetches_ahead(const std::string& image) const;
  /// Whether it does so bit by bit, with each pass (fetch.h): a core that asks for 128 lines at once waits for most of them.
  /// Planes of volumes come row by row.
  bool fetches_with_passes() const { return passes.size() > 1 && !is_static() && !is_of_volume(); }
  /// Of a tile: columns; rows that do not march, in volumes; and what is gone through: rows, or planes.
  int width() const { return levels.at(0).extent.at(0).fixed(); }
  bool is_of_volume() const { return levels.at(0).extent.size() > 2; }
  int lines() const { return is_of_volume() ? levels.at(0).extent.at(1).fixed() : 1; }
  const Extent& height() const { return levels.at(0).extent.back(); }

  bool operator==(const KernelPlan&) const = default;
};

std::string name_of(LevelKind kind);
std::string name_of(Order order);
std::string name_of(Storage storage);

/// Whole lines, as above.
std::string to_text(const KernelPlan& plan);

}  // namespace weft::plan
