// The strip that a warp goes down by itself, a row at a time: each lane has some neighbouring columns, keeps the
// rows that are still to be read in its registers, and asks the lanes beside it for what windows read of theirs.
//
//     4 pixels a lane, a window of 3 x 3:    lane 0 | 1 … 30 | 31      128 columns are loaded, and of the
//                                            halo     120       halo   result 120 are stored
//
// Rows take each other's place, so loops are unrolled by the rows of the longest ring: then each row has registers of its
// own, and none is moved. Images are loaded some rows before they are needed, since nothing else
// hides how long memory takes. No shared memory, and no barriers.
//
// Where stages have several rates, each lane has some steps, and of every source the pixels of these:
//
//     half(x, y) = in(2 * x, 2 * y) + …      2 steps a lane: 2 pixels of half, and below them 4 columns of in. A step
//                                            loads two rows of in, and computes one of half
//
// Through a volume a warp goes plane by plane. Each lane has some rows of its columns, and what windows read above and
// below these it loads and computes itself:
//
//     4 pixels of 4 rows a lane, a window of 3 x 3 x 3:    6 rows of 4 pixels of each of 3 planes, in registers
//
// A lane's columns need not begin where its steps do: where memory is aligned, whole accesses begin elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "machine/architecture.h"
#include "plan/choices.h"
#include "plan/extent.h"
#include "plan/group.h"
#include "plan/march.h"
#include "plan/plan.h"
#include "target/block.h"

namespace weft::plan {

constexpr int lanes_of_warp = 32;

/// Whether several of its scalars are in a word.
inline bool is_packed(Type pixel) { return size_of(pixel.scalar) < target::bytes_per_register; }

/// Lanes at both ends of a warp whose pixels of the result are other warps', too.
struct HaloLanes {
  int left = 0, right = 0;
};
HaloLanes halo_lanes(const KernelPlan& plan);
/// Columns between the halos: 30 lanes with 4 pixels each have 120.
inline int columns_between(const HaloLanes& halo, int pixels) {
  return (lanes_of_warp - halo.left - halo.right) * pixels;
}

/// Rows that a lane keeps: its own columns, and those that windows read around them.
struct RegisterRows {
  int rows;              ///< They divide the rows of a batch, unless they move; of a static tile all.
  int left, right;       ///< Columns of other lanes.
  int resident = 0;      ///< Of a static tile: those that stay in registers.
  int first_column = 0;  ///< Of its own, from that at which the lane's steps begin.
};

struct WarpStrip {
  int pixels = 1;  ///< Columns of a lane.
  int lines = 1;   ///< Of a lane, too: rows of each plane of a volume.
  bool is_of_volume = false;
  int first_column = 0;  ///< Of the result, as of what is kept.
  HaloLanes halo;
  int batch = 1;                   ///< Rows by which the loop is unrolled; those of a static tile.
  int prefetch = 1;                ///< Steps by which images are loaded before they are needed.
  int before = 0;                  ///< Rows above a strip with which it begins.
  int registers = 0;               ///< About, of a lane.
  int share = 100;                 ///< Of rows those that stay in registers, in percent.
  std::vector<RegisterRows> rows;  ///< In the order of March::rolling.

  int width() const { return columns_between(halo, pixels); }
};
struct WarpStripOrWhy {
  std::optional<WarpStrip> strip;
  std::string why;  ///< A clause.
};
/// The group as it marches in lanes: its result's first column is that of a lane, and where there are several rates lanes
/// keep what they read at their own pixels, too.
Group in_lanes(const Group& group);

/// With as many pixels a lane as its registers have room for, or those that are asked for; or why no warp goes down
/// strips of such members. Of a group in lanes.
WarpStripOrWhy warp_strip(const Group& group, const Choices& asked = {});

constexpr int usual_share_in_registers = 50;  // percent
/// A static tile instead, whose rows stay in registers in part: as tall as leaves the rest room in shared memory, or as is
/// asked for.
WarpStripOrWhy hybrid_tile(const Group& group, std::int64_t shared_bytes, const Choices& asked);
/// Rows of a source that a share in percent leaves in registers.
inline int resident_rows(int rows, int share) { return (rows * share + 99) / 100; }

/// A loop without branches that has more leaves the cache of instructions.
constexpr int most_unrolled_operations = 6000;

/// Warps that the registers of a multiprocessor have room for at a time, if each lane takes `registers`: a multiple of 4, as it
/// has four parts.
int warps_at_a_time(int registers);
/// Warps of a strip's kernel that compilers are told to leave registers for; 1: they are told nothing. Told of more, some
/// spill what estimates have missed, which is most where words or pixels of several scalars are taken apart; with more room
/// they keep to it by themselves. Where 16 have room by what is counted, lanes of scalars that take one step at one rate get
/// along with room for 20 on Hopper; for other architectures some of them spill a few bytes
/// (bench/results/2026-11-28-registers-of-strips.md).
int warps_to_leave_registers_for(const KernelPlan& plan, const machine::Architecture& architecture);

/// Rows of a strip, so that it is gone through in whole batches, and all strips are under way at a time.
Extent heights_of_warps(const WarpStrip& strip, int multiprocessors);
/// Whether strips at the ends of rows are half as high as the others. They have borders to look for: where as many run as
/// there is room for at a time, the slowest decide how long that takes, and they took 1.3 to 1.6 times as long as the others
/// (bench/results/2026-11-26-h100.md).
bool halves_ends(const KernelPlan& plan);
/// How many columns of tiles that takes besides those that stand side by side: 2 of several, 1 of one, none where all are
/// as high.
kernel::Expr columns_of_halves(const KernelPlan& plan, const kernel::Expr& columns);

}  // namespace weft::plan
