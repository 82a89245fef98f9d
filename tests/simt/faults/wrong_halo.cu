// A window of 5 is read with a halo of 1: two pixels beside the image.
// address: out of bounds
// race: out of bounds
#include "../harness.cuh"

__global__ void blur(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 1 || x >= n - 1) return;
  float sum = 0;
  for (int d = -2; d <= 2; ++d) sum += in[x + d];  // <-- here
  out[x] = sum / 5;
}

extern "C" int simt_main() {
  LAUNCH(blur, 2, 64, 0, 0, ramp<float>(128), zeros<float>(128), 128);
  cudaDeviceSynchronize();
  return 0;
}
