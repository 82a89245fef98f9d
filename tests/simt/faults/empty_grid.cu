// A launch for an image without pixels.
// fast: launch limit
#include "../harness.cuh"

__global__ void write(float* data) {
  data[blockIdx.x] = threadIdx.x;
}

extern "C" int simt_main() {
  LAUNCH(write, 0, 32, 0, 0, zeros<float>(1));  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
