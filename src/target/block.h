// How many threads a block of a kernel has: the number that fills a multiprocessor best, by exact occupancy and by what
// threads share.
//
//     const BlockChoice c = choose_block(architecture(9, 0), {49, 64}, [](int) { return 0; }, {});
//     c.block     {64, 1, 1}
//     c.why       "64 threads of about 64 registers, so 16 blocks of 2 warps: 32 of 64 warps (50 %), limited
//     by
//                 registers; 96 threads would have 30"
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernel/ir.h"
#include "kernel/registers.h"
#include "machine/occupancy.h"

namespace weft::target {

/// Whether there are as many blocks as there is work, whatever their size.
constexpr bool is_of_blocks(kernel::Sharing sharing) {
  return sharing == kernel::Sharing::Work || sharing == kernel::Sharing::Lanes;
}

constexpr int bytes_per_register = 4;
inline int registers_of(Type pixel) { return (size_of(pixel) + bytes_per_register - 1) / bytes_per_register; }

/// A rough estimate of the registers of a thread: to find its pixel, for `pointers` to images, and the `kept` ones.
int registers_with(int pointers, int kept);

/// What a launch asks of its blocks.
struct BlockLaunch {
  kernel::Sharing sharing = kernel::Sharing::Nothing;
  /// Of shared work: a block whose threads divide this number leaves none of them idle. 0: any.
  int items = 0;
  int warps = 1;           ///< Of a block, if its threads are lanes.
  bool has_rows = false;   ///< The grid has two dimensions or three; so has the block, unless work is shared.
  bool is_single = false;  ///< There is one block.
};

struct BlockChoice {
  std::array<int, 3> block{};  ///< x, y, z.
  machine::Occupancy occupancy;
  std::string why;  ///< A sentence.

  int threads() const { return block[0] * block[1] * block[2]; }
};

/// Threads of the blocks that a launch can have, ascending: whole warps, from 64 to 256 threads; one, of lanes. If they share
/// work, there are as many blocks as there is work, and a multiprocessor may well have but one: so none has
/// fewer than half the threads of the largest, whatever that would do for occupancy.
std::vector<int> candidate_blocks(const BlockLaunch& launch, int warp);

/// The candidate with the most warps on a multiprocessor, given the most registers that a thread may take (no
/// more than the architecture has), and the static shared memory of a block by its number of threads, in bytes.
///
/// Among equals, 128 threads if they share nothing, or what comes next to that. If they share rows, the one with the most
/// warps should threads take fewer registers, and
/// of these the largest, which loads rows least often. If they share work, the largest, and of a single block
/// the largest, whatever the occupancy. A warp goes along x, for whole sectors of memory. Throws
/// InternalError if no candidate can be launched.
BlockChoice choose_block(const machine::Architecture& architecture, kernel::RegisterRange registers,
                         const std::function<std::int64_t(int threads)>& shared_bytes,
                         const BlockLaunch& launch);

}  // namespace weft::target
