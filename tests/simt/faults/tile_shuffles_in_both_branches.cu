// Lanes of one tile shuffle in both branches of a condition, in one line.
// fast: divergent collective
// race: divergent collective
#include "../harness.cuh"

#include <cooperative_groups.h>

__global__ void branches(float* out) {
  const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  float v = threadIdx.x;
  v += threadIdx.x & 1 ? tile.shfl_xor(v, 2) : -tile.shfl_xor(v, 2);  // <-- here
  out[threadIdx.x] = v;
}

extern "C" int simt_main() {
  LAUNCH(branches, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
