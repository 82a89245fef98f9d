// Both branches of a condition shuffle, each with the full mask.
// fast: divergent collective
#include "../harness.cuh"

__global__ void branches(float* out) {
  float v = threadIdx.x;
  if (threadIdx.x & 1) {
    v += __shfl_xor_sync(0xffffffffu, v, 2);  // <-- here
  } else {
    v -= __shfl_xor_sync(0xffffffffu, v, 2);  // <-- here
  }
  out[threadIdx.x] = v;
}

extern "C" int simt_main() {
  LAUNCH(branches, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
