// A thread reads a counter that others still change atomically.
// race: race
#include "../harness.cuh"

__global__ void count(int* counter, int* out) {
  atomicAdd(counter, 1);  // <-- here
  if (threadIdx.x == 0) out[blockIdx.x] = *counter;  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(count, 4, 64, 0, 0, zeros<int>(1), zeros<int>(4));
  cudaDeviceSynchronize();
  return 0;
}
