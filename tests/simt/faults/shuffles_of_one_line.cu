// Both branches of a condition shuffle, each with the full mask, and in one line.
// fast: divergent collective
// race: divergent collective
#include "../harness.cuh"

__global__ void branches(float* out) {
  float v = threadIdx.x;
  v += threadIdx.x & 1 ? __shfl_xor_sync(0xffffffffu, v, 2) : -__shfl_xor_sync(0xffffffffu, v, 2);  // <-- here
  out[threadIdx.x] = v;
}

extern "C" int simt_main() {
  LAUNCH(branches, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
