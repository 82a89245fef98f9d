// A reduction by shuffles inside a condition: some lanes of the mask have left.
// fast: lane outside mask
// address: lane outside mask
#include "../harness.cuh"

__global__ void sum(const float* in, float* out) {
  float v = in[threadIdx.x];
  if (threadIdx.x >= 20) return;
  for (int step = 16; step > 0; step /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, step);  // <-- here
  }
  if (threadIdx.x == 0) out[0] = v;
}

extern "C" int simt_main() {
  LAUNCH(sum, 1, 32, 0, 0, ramp<float>(32), zeros<float>(1));
  cudaDeviceSynchronize();
  return 0;
}
