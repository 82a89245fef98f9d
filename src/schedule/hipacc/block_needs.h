// What one kernel of several stages would take of a GPU, estimated before there is any code: where each
// result is kept, the tiles that a thread block holds in shared memory, and registers.
//
//     {sx, gx}: gx(x, y) = the sum of b3 * sx over 3x3, sx(x, y) = dx(x, y)^2
//     sx is recomputed, nine times; a block of 32x4 threads holds a tile of 34x6 of dx
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/occupancy.h"
#include "schedule/stage_graph.h"

namespace weft::schedule::hipacc {

/// Threads of a block along x and y; further dimensions have one. Each thread computes one pixel.
struct ThreadBlock {
  int x = 32, y = 4;
};

/// Where a kernel keeps what one of its stages computes. The Hipacc thesis, section 3.4.3.
enum class Storage {
  Result,      ///< In memory: the kernel's result.
  Registers,   ///< Each thread needs the pixel that it computes itself, alone.
  Recomputed,  ///< Point stages, computed anew for each pixel of a window.
  Tile,        ///< In shared memory, as is what is read of memory through a window.
};

/// An image that the block holds a tile of.
struct TiledImage {
  std::string image;
  std::int64_t bytes = 0;          ///< With the halos of all stages that follow, as far as they add up.
  std::int64_t bytes_of_each = 0;  ///< With the halo of its readers alone.
};

struct Needs {
  std::vector<Storage> storage;  ///< Of each member.
  std::vector<TiledImage> tiles;
  int registers = 0;  ///< Per thread, a rough estimate.

  std::int64_t shared_bytes() const;
  /// Without halos that add up: what the bound of the thesis' example counts.
  std::int64_t shared_bytes_of_each() const;
  machine::BlockNeeds of(const ThreadBlock& block) const;
};

/// Members ascend, and the last is the only one that is read outside of them; among them there are only
/// reads of one pixel or of windows.
Needs needs_of(const StageGraph& graph, const std::vector<int>& members, const ThreadBlock& block);

}  // namespace weft::schedule::hipacc
