// A recursion without an end.
// fast: crash
#include "../harness.cuh"

__device__ __noinline__ int depth(volatile int* in, int level) {
  volatile int local[64];
  local[level % 64] = in[0];                       // <-- here
  return depth(in, level + 1) + local[level % 64];  // <-- here
}
__global__ void recurse(int* out) {
  out[threadIdx.x] = depth(out, 0);  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(recurse, 1, 32, 0, 0, zeros<int>(32));
  cudaDeviceSynchronize();
  return 0;
}
