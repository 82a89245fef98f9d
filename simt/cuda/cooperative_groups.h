// Stands in for CUDA's header of this name: the block, and tiles of 1 to 32 threads of a warp. What a group does is
// reported where the text asks for it, as __syncthreads, __syncwarp and shuffles are.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
 public:
  SIMT_UNCHECKED void sync(simt::abi::Site site = simt::abi::Site::here()) const { __syncthreads(site); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

/// `count` neighbouring threads of a warp. Only these have to get to what they do together.
template <unsigned count>
class thread_block_tile {
  static_assert(count >= 1 && count <= 32 && (count & (count - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  SIMT_UNCHECKED void sync(simt::abi::Site site = simt::abi::Site::here()) const { __syncwarp(mask(), site); }
  static unsigned thread_rank() { return thread_block::thread_rank() % count; }
  static constexpr unsigned num_threads() { return count; }
  static constexpr unsigned size() { return count; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / count; }
  static unsigned meta_group_size() { return (thread_block::num_threads() + count - 1) / count; }

  template <class T>
  T shfl(T value, int rank, simt::abi::Site site = simt::abi::Site::here()) const {
    return __shfl_sync(mask(), value, rank, count, site);
  }
  template <class T>
  T shfl_up(T value, unsigned by, simt::abi::Site site = simt::abi::Site::here()) const {
    return __shfl_up_sync(mask(), value, by, count, site);
  }
  template <class T>
  T shfl_down(T value, unsigned by, simt::abi::Site site = simt::abi::Site::here()) const {
    return __shfl_down_sync(mask(), value, by, count, site);
  }
  template <class T>
  T shfl_xor(T value, int other, simt::abi::Site site = simt::abi::Site::here()) const {
    return __shfl_xor_sync(mask(), value, other, count, site);
  }
  int any(int predicate, simt::abi::Site site = simt::abi::Site::here()) const {
    return __any_sync(mask(), predicate, site);
  }
  int all(int predicate, simt::abi::Site site = simt::abi::Site::here()) const {
    return __all_sync(mask(), predicate, site);
  }
  unsigned ballot(int predicate, simt::abi::Site site = simt::abi::Site::here()) const {
    return __ballot_sync(mask(), predicate, site) >> first();
  }

 private:
  /// The tile's first lane.
  static unsigned first() { return thread_block::thread_rank() % 32 / count * count; }
  static unsigned mask() { return (count == 32 ? 0xffffffffu : (1u << count % 32) - 1) << first(); }
};

template <unsigned count>
thread_block_tile<count> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned count, unsigned outer>
thread_block_tile<count> tiled_partition(const thread_block_tile<outer>&) {
  static_assert(count <= outer, "a tile's tiles are no larger than it");
  return {};
}

inline void sync(const thread_block& block, simt::abi::Site site = simt::abi::Site::here()) {
  block.sync(site);
}
template <unsigned count>
void sync(const thread_block_tile<count>& tile, simt::abi::Site site = simt::abi::Site::here()) {
  tile.sync(site);
}

}  // namespace cooperative_groups
