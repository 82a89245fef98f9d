// Half of a block waits for the block.
// fast: divergent barrier
// race: divergent barrier
#include "../harness.cuh"

#include <cooperative_groups.h>

__global__ void half(float* out) {
  const cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
  if (threadIdx.x < 32) block.sync();  // <-- here
  out[threadIdx.x] = 1;
}  // <-- here

extern "C" int simt_main() {
  LAUNCH(half, 1, 64, 0, 0, zeros<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
