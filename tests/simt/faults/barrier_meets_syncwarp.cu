// Lanes of a warp wait for one another in a barrier and in __syncwarp: for ever.
// fast: divergent barrier
#include "../harness.cuh"

__global__ void stuck(float* out) {
  if (threadIdx.x < 16) {
    __syncthreads();  // <-- here
  } else {
    __syncwarp();  // <-- here
  }
  out[threadIdx.x] = 1;
}

extern "C" int simt_main() {
  LAUNCH(stuck, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
