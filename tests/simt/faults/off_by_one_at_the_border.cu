// The last thread writes one pixel behind the image.
// address: out of bounds
#include "../harness.cuh"

__global__ void copy(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x > n) return;
  out[x] = in[x < n ? x : n - 1];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(copy, 3, 64, 0, 0, ramp<float>(130), zeros<float>(130), 130);
  cudaDeviceSynchronize();
  return 0;
}
