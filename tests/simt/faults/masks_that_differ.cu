// Lanes that mean to meet name different lanes: they wait for ever.
// fast: divergent collective
#include "../harness.cuh"

__global__ void meet(float* out) {
  const unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffffffffu;
  float v = threadIdx.x;
  if (threadIdx.x < 16) v = __shfl_sync(0x0000ffffu, v, 0);
  v += __shfl_xor_sync(0xffffffffu, v, threadIdx.x < 16 ? 1 : 2);
  if (threadIdx.x != 7) __syncwarp(mask);  // <-- here
  else __syncwarp(0xffu << 4);  // <-- here
  out[threadIdx.x] = v;
}

extern "C" int simt_main() {
  LAUNCH(meet, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
