// A row too many of a wide image: far behind the buffer.
// address: out of bounds
// race: out of bounds
#include "../harness.cuh"

__global__ void below(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  out[y * width + x] = in[(y + 1) * width + x];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(below, dim3(64, 2), 64, 0, 0, ramp<float>(8192), zeros<float>(8192), 4096, 2);
  cudaDeviceSynchronize();
  return 0;
}
