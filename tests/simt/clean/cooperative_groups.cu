// A block's sum by tiles of 16 threads; what tiles know of themselves; and sums of tiles of 8, by shared memory.
#include "../harness.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sums(int* out) {
  __shared__ int part[8];
  __shared__ int turned[128];
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int t = static_cast<int>(block.thread_rank());
  int sum = t;
  for (unsigned by = tile.size() / 2; by > 0; by /= 2) sum += tile.shfl_down(sum, by);
  if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = sum;
  block.sync();
  int total = 0;
  for (unsigned p = 0; p < tile.meta_group_size(); ++p) total += part[p];
  int* mine = out + t * 6;
  mine[0] = total;
  mine[1] = tile.shfl(t, 3);
  mine[2] = static_cast<int>(tile.ballot(t % 5 == 0));
  mine[3] = tile.any(t == 37) + 2 * tile.all(t < 64);
  // Only half of the warps' lanes, which are whole tiles, get here.
  mine[4] = tile.meta_group_rank() % 2 == 0 ? tile.shfl_xor(t, 1) : -1;
  const auto eight = cg::tiled_partition<8>(tile);
  turned[t] = t;
  cg::sync(eight);
  mine[5] = turned[t - static_cast<int>(eight.thread_rank()) + 7 - static_cast<int>(eight.thread_rank())];
}

extern "C" int simt_main() {
  int* out = zeros<int>(128 * 6);
  LAUNCH(sums, 1, dim3(32, 4), 0, 0, out);
  return differences(fetch(out, 128 * 6), [](int i) -> int {
    const int t = i / 6, first = t / 16 * 16;
    int fives = 0;
    for (int k = 0; k < 16; ++k) fives |= ((first + k) % 5 == 0) << k;
    switch (i % 6) {
      case 0: return 127 * 64;
      case 1: return first + 3;
      case 2: return fives;
      case 3: return (first == 32) + 2 * (first < 64);
      case 4: return t / 16 % 2 == 0 ? t ^ 1 : -1;
      default: return t / 8 * 8 + 7 - t % 8;
    }
  });
}
