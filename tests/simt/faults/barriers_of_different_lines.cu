// Two branches of a block, each with a barrier of its own.
// fast: divergent barrier
#include "../harness.cuh"

__global__ void branches(float* out) {
  if (threadIdx.x < 32) {
    __syncthreads();  // <-- here
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();  // <-- here
  }
}

extern "C" int simt_main() {
  LAUNCH(branches, 1, 64, 0, 0, zeros<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
