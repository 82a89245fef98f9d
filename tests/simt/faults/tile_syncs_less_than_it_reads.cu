// The tiles of 16 threads wait for themselves, but each thread reads what one of the other tile has written.
// fast: nothing
// race: race
#include "../harness.cuh"

#include <cooperative_groups.h>

__global__ void turn(float* out) {
  __shared__ float row[32];
  const auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
  row[threadIdx.x] = 0;
  __syncwarp();
  row[threadIdx.x] = 1;  // <-- here
  tile.sync();
  out[threadIdx.x] = row[31 - threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(turn, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
