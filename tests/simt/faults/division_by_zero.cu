// A division by a count that is zero.
// fast: crash
// address: undefined behaviour
#include "../harness.cuh"

__global__ void mean(const int* sum, const int* count, int* out) {
  out[threadIdx.x] = sum[threadIdx.x] / count[threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(mean, 1, 32, 0, 0, ramp<int>(32), zeros<int>(32), zeros<int>(32));
  cudaDeviceSynchronize();
  return 0;
}
