// Rows of 33 floats are read as vectors of four.
// address: misaligned access
// fast: crash
#include "../harness.cuh"

__global__ void copy(const float* in, float* out) {
  const float4 v = *reinterpret_cast<const float4*>(in + 33 * threadIdx.x);  // <-- here
  *reinterpret_cast<float4*>(out + 4 * threadIdx.x) = v;
}

extern "C" int simt_main() {
  LAUNCH(copy, 1, 4, 0, 0, ramp<float>(33 * 4 + 4), zeros<float>(16));
  cudaDeviceSynchronize();
  return 0;
}
