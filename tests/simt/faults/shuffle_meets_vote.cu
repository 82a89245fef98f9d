// One half of a warp shuffles while the other votes.
// fast: divergent collective
#include "../harness.cuh"

__global__ void branches(float* out) {
  float v = threadIdx.x;
  if (threadIdx.x < 16) {
    v = __shfl_xor_sync(0xffffffffu, v, 1);  // <-- here
  } else {
    v = __any_sync(0xffffffffu, 1);  // <-- here
  }
  out[threadIdx.x] = v;
}

extern "C" int simt_main() {
  LAUNCH(branches, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
