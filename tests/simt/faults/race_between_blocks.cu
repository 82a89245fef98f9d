// All blocks write one row.
// race: race
#include "../harness.cuh"

__global__ void write(float* out) {
  out[threadIdx.x] = blockIdx.x;  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(write, 4, 64, 0, 0, zeros<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
