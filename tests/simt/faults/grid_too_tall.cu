// More rows of blocks than a grid may have: an image of 70000 rows, one block each.
// fast: launch limit
#include "../harness.cuh"

__global__ void write(float* data) {
  data[blockIdx.x] = threadIdx.x;
}

extern "C" int simt_main() {
  LAUNCH(write, dim3(1, 70000), 32, 0, 0, zeros<float>(1));  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
