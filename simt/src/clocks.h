// Which accesses of a kernel happen before which: the knowledge of its threads.
//
// A barrier of the block makes all earlier accesses of the block known to all its threads, so a number of the
// barriers passed, the epoch, stands for them. Within a warp each lane has a clock and knows how far it knows
// the others' (a vector clock); __syncwarp joins these. Between warps without a barrier, and between blocks,
// knowledge goes through atomic operations: a thread that has passed a fence leaves what it knew at the fence
// with each variable that it then changes atomically, and a thread that changes the variable later takes it
// up.
#pragma once

#include "executor.h"
#include "timeline.h"

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

namespace simt {

/// Who made an access, and when. 0 as operation: nobody.
struct Stamp {
  OperationId operation = 0;
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint8_t is_atomic = 0;
  std::uint8_t shared_by = 0;  ///< Of reads, and of atomic operations: see Shadow.
  std::uint32_t epoch = 0;
  std::uint32_t clock = 0;
  std::uint32_t place = 0;  ///< The instruction, relative to its text.
};

class Clocks {
 public:
  void begin_kernel(unsigned threads);
  void begin_block(std::uint32_t block);

  void join(unsigned warp, std::uint32_t lanes);  ///< __syncwarp
  void join_block();                              ///< __syncthreads
  void fence(const Lane& lane);
  void atomic(const Lane& lane, const void* address);

  std::uint32_t block() const { return block_; }
  std::uint32_t epoch() const { return epoch_; }
  std::uint32_t clock(const Lane& lane) const { return knowledge_[lane.linear].clocks[lane.lane]; }

  /// Whether an access of the same kernel happened before what the lane does now.
  bool knows(const Lane& lane, const Stamp& stamp) const;
  /// Whether the lane knows all atomic operations on the address so far, each of them after a fence.
  bool knows_all_atomics(const Lane& lane, const void* address) const;
  /// What the lane knows of the clock of another lane of its warp.
  std::uint32_t known_clock(const Lane& lane, unsigned other) const {
    return knowledge_[lane.linear].clocks[other];
  }

 private:
  using WarpClocks = std::array<std::uint32_t, warp_size>;
  struct Variable;
  /// All that was left with a variable up to a version of it.
  struct Taken {
    const Variable* variable;
    std::size_t version;
  };
  struct Release {
    std::uint32_t block, epoch;
    unsigned warp;
    WarpClocks clocks;
    std::vector<Taken> taken;
  };
  struct Variable {
    std::vector<Release> releases;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> of_block;
    bool has_unfenced = false;
  };
  struct Knowledge {
    WarpClocks clocks{};
    std::vector<Taken> taken;
    std::shared_ptr<const Release> at_fence;
  };

  static void take(std::vector<Taken>& into, const std::vector<Taken>& more);
  static bool says(const std::vector<Taken>& taken, const Stamp& stamp, int depth);

  std::array<Knowledge, most_threads> knowledge_;
  std::vector<Taken> block_taken_;
  std::unordered_map<const void*, std::unique_ptr<Variable>> variables_;
  unsigned threads_ = 0;
  std::uint32_t block_ = 0, epoch_ = 0;
  bool any_taken_ = false;
};

}  // namespace simt
