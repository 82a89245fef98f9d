// A block of more threads than the kernel was compiled for.
// fast: launch limit
#include "../harness.cuh"

__global__ void __launch_bounds__(128) write(float* data) { data[blockIdx.x] = threadIdx.x; }

extern "C" int simt_main() {
  LAUNCH(write, 1, 256, 0, 0, zeros<float>(1));  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
