// Half the warps wait in one barrier more.
// fast: divergent barrier
// race: divergent barrier
// address: divergent barrier
#include "../harness.cuh"

__global__ void half(float* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x < 32) __syncthreads();  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(half, 1, 64, 0, 0, zeros<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
