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
  Grid,  ///< Of a GPU: tiles, each computed by a block or a warp.
  Core,  ///< Of a CPU: tiles, each computed by a core.
  Block,  ///< The threads of a block, which share the columns. Of warps' tiles: the warps, one below the other.
  Warp,   ///< The lanes of a warp, which share the columns of the tile and those around it.
  Batch,  ///< Rows of a tile that a block takes at a time, or a warp before it begins anew in its registers.
  Step,   ///< Time steps of a tile.
  Row,    ///< Rows of a tile that a core takes at a time, or of a batch that a thread's code has.
  Lane,   ///< Neighbouring pixels of one thread.
  Vector  ///< Neighbouring pixels of a core, which do not depend on one another.
};
enum class Order {
  Parallel,  ///< In any order, at the same time.
  March,     ///< One after the other; each stage keeps what its readers still need.
  Static,    ///< One after the other, all of a stage before its readers.
  Unrolled,  ///< Each as code of its own.
};
/// A division of what the level around it has; the outermost divides all of the result.
struct Level {
  LevelKind kind;
  Order order;
  std::vector<Extent> extent;  ///< Per dimension, x first; 1 for dimensions beyond.

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
  bool is_stored = false;  ///< A member that is written to memory as well.
  Storage storage = Storage::Ring;

  // What follows from the reads (march.h).
  std::array<int, 2> rate = {1, 1};  ///< Its pixels along x and down the march for each step of the result.
  Window window, outside;            ///< As RollingRows has them.
  bool continues = false;            ///< Computed beyond its ends, as it repeats.
  int ahead = 0;                     ///< Rows by which it is ahead of the result.
  int least_rows = 1;                ///< The fewest rows that it needs room for.
  int first_column = 0;  ///< Of lanes: pixels from the left end of a lane's first step to what it has.
  std::optional<BorderRule> border;

  // What is chosen.
  int rows = 0;            ///< There is room for this many; a power of two in a ring. Planes in volumes.
  int lines = 1;           ///< Rows of each plane of a volume.
  int first = 0;           ///< Scalars of a row before the tile's first pixel.
  int pitch = 0;           ///< Scalars of a row.
  int lane_pitch = 1;      ///< Scalars from lane to lane: 1, or all columns if lanes lie apart.
  int place = 0;           ///< The number of its array. Rows with the same number take turns in it.
  bool in_memory = false;  ///< Tiles inside the image read the rows where they lie.
  /// In a static tile of lanes, this many rows stay in registers, the first ones. The others lie in shared memory and come
  /// back into registers, `least_rows` at a time, when they are read.
  std::optional<int> resident = {};

  Type type;    ///< Of its pixels.
  ir::Box box;  ///< All of it.

  bool operator==(const Kept&) const = default;
  /// Whether any tile has rows of its own. No tile has, if the image is read where it lies and never outside.
  bool is_copied() const { return !in_memory || outside != Window(outside.size()); }
  /// Rows with room where `pitch` counts: in registers, if a static tile's rows lie there.
  int slots() const;
  int scalars() const { return is_copied() ? slots() * lines * pitch : 0; }
  std::int64_t bytes() const { return std::int64_t{scalars()} * size_of(type.scalar); }
  const Reach& x() const { return window[0]; }
  const Reach& down() const { return window.back(); }  ///< The march: along y, in volumes along z.
  /// What reads find beyond its ends; nothing if none look there, or if pixels are computed there.
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
  analysis::Operations operations;  ///< Of a pixel, with those of the values that it computes itself.
  double accesses = 0;              ///< Values loaded and stored for a pixel, from wherever.
  std::vector<std::string> reads;   ///< Distinct images and stages.
  bool is_value = false;
  bool has_flat_lanes = false;       ///< Its pixels are computed scalar by scalar.
  int border_columns = 0;            ///< At both ends of a row, where windows leave the image.
  analysis::Operations shared = {};  ///< Those that a core does once for neighbours in a row.
  analysis::Operations alike = {};   ///< Those that are the same for all rows of a volume's planes.
  int phases = 1;                    ///< Pixels computed at a time, where a coarser image is read.
  bool is_gathered = false;          ///< Its pixels are found one by one, as there were too many phases.

  bool operator==(const Computed&) const = default;
};

// ---- the plan

using Pass = std::vector<std::string>;  ///< Stages that one loop along a row computes.

/// The most rows that one loop of a core's pass computes: each is code of its own.
constexpr int most_rows_of_pass = 4;
/// Of a thread of a GPU.
constexpr int most_rows_of_thread = 8;
/// Of the block that computes stages in turn.
constexpr int threads_in_turn = 512;

struct KernelPlan {
  std::string result;                ///< The stage that it stores, with members that are kept and stored.
  std::vector<std::string> values;   ///< Stages computed in the loops of others: no pixels of their own.
  std::vector<Level> levels;         ///< Outermost first.
  std::array<int, 2> step = {1, 1};  ///< Pixels of the result in each step, powers of two.
  int before = 0;                    ///< Rows above the first of a tile with which a march begins.
  /// Columns at the ends of an image for which tiles there copy what they read, with pixels beyond the ends;
  /// they read the rest where it lies. 0: they copy all.
  int edges = 0;
  /// A pass computes a row from one multiple of this number to another, so that vectors are whole and lie in whole lines of
  /// caches: 16 makes 3 to 35 into 0 to 48. What is computed in vain is not read. 1: just what is needed.
  int whole = 1;
  int prefetch = 0;            ///< A warp loads images this many steps before it needs them.
  int first_column = 0;        ///< Of the result in lanes, as in Kept.
  int registers = 0;           ///< Of a lane of a warp, about.
  int share = 100;             ///< Rows of a static tile of lanes that stay in registers, in percent.
  std::vector<Kept> kept;      ///< Images first, then members, producers first.
  std::vector<Pass> passes;    ///< In order; the result's is the last.
  std::optional<Parts> parts;  ///< Of a reduction.
  std::optional<Scatter> scatter;
  /// Whether a thread with several pixels (LevelKind::Lane) computes once what they have in common.
  bool shares_rows = false;
  std::vector<KernelPlan> updates;  ///< Of an evolution: those of its updates, in each time step.
  /// Of an evolution: the first step reads the initial fields where they lie; else they are copied first.
  bool reads_initial = false;
  std::string evolves_with;  ///< Another field of the evolution, whose plan says how all of them change.
  /// Of an evolution: a kernel that takes several steps, used while enough are left, perhaps one of fewer for the rest, and
  /// for several fields one that takes a single step of all of them. Or none.
  std::vector<KernelPlan> several;
  int steps = 1;  ///< Time steps that the kernel takes; each is a pass that reads the one before.
  std::optional<SplitTiles> split;  ///< The steps are taken in place, in tiles like these.
  std::int64_t steps_from = 0;      ///< The least bytes of a field for which several steps are taken.
  CodeLimits code;

  std::vector<ImageUse> written;   ///< The result, and members that are stored.
  std::vector<ImageUse> images;    ///< Those that are read from memory.
  std::vector<Computed> computed;  ///< All stages, values among them; the result is the last.

  bool is_of_blocks() const { return levels.at(0).kind == LevelKind::Grid; }
  /// Whether one block computes all stages one after the other, each as a whole, and stores them.
  bool is_in_turn() const {
    return is_of_blocks() && levels[0].extent.size() == 1 && levels[0].extent[0].is_all();
  }
  bool is_of_warps() const { return level(LevelKind::Warp) != nullptr; }
  /// Steps of a line that go along the lanes of vectors, where those are inside (plan/steps_in_lanes.h).
  bool goes_along_lanes() const {
    return levels.back().kind == LevelKind::Vector && levels.back().order == Order::March;
  }
  /// Whether a thread has pixels of each plane of a volume, and what these have in common once.
  bool has_planes_of_threads() const;
  /// Pixels below one another that each thread of a GPU has, where no tiles are.
  int rows_of_threads() const;
  /// Tiles of warps whose lanes keep rows in their registers.
  bool is_of_lanes() const { return is_of_warps() && level(LevelKind::Lane) != nullptr; }
  /// Warps of a block, each with a tile of its own; 1 if the tile is the block's.
  int warps() const;
  /// Null if there is none.
  const Level* level(LevelKind kind) const;
  const Kept* kept_of(const std::string& stage) const;
  const Computed* computed_of(const std::string& stage) const;
  bool is_static() const;
  /// Whether each turn of a march of lanes is one step, before which rows in registers move up; else turns are as many steps as
  /// rings have rows, which stay where they are: no moves, and that many times the code.
  bool moves_rows() const;
  /// Rows that each pass of a core's tile computes at a time, in one loop if possible; 1 for a tile in steps.
  int rows_of_pass() const;
  /// Whether the result is computed in tiles that keep rows, or combined in such tiles.
  bool is_tiled() const { return !kept.empty(); }
  /// Whether updates of an evolution are ever kernels of their own.
  bool has_single_updates() const;
  /// All kept rows and accumulators, where rows that share a place count once. For lanes: the room in their registers.
  std::int64_t kept_bytes() const;
  /// Shared memory of a block. For lanes: the rows that do not stay in registers.
  std::int64_t shared_bytes() const;
  /// Scalars of one row of a source in the shared memory of a warp's lanes: their own pixels.
  int row_of_lanes(const Kept& kept) const;
  /// Whether every source has one pixel for each pixel of the result.
  bool has_one_rate() const;
  bool has_lanes_apart() const;  ///< Some source is kept with its lanes in rows of their own.
  /// Tiles that read the rows of an image where they lie find those beyond its ends by exchanging the row's
  /// index; else tiles at its top and bottom copy rows.
  bool exchanges_rows(const Kept& image) const;
  /// Whether a core asks memory for the rows of an image that its tile needs next: processors foresee what is next in a
  /// row, not that a tile goes on in another one.
  bool fetches_ahead(const std::string& image) const;
  /// Of a tile: its columns; the rows of each plane in a volume; and the rows, or planes, that it marches through.
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
