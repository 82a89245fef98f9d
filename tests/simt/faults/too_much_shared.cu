// More dynamic shared memory than a launch gets without asking.
// fast: launch limit
#include "../harness.cuh"

__global__ void write(float* data) {
  data[blockIdx.x] = threadIdx.x;
}

extern "C" int simt_main() {
  LAUNCH(write, 1, 32, 50000, 0, zeros<float>(1));  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
