// Counting without atomic operations.
// race: race
#include "../harness.cuh"

__global__ void count(const int* in, int* bins) {
  bins[in[threadIdx.x] % 8] += 1;  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(count, 1, 128, 0, 0, ramp<int>(128), zeros<int>(8));
  cudaDeviceSynchronize();
  return 0;
}
