// An assertion in a kernel does not hold.
// fast: crash
#include "../harness.cuh"

#include <cassert>

__global__ void check(const int* in) {
  assert(in[threadIdx.x] < 20);  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(check, 1, 32, 0, 0, ramp<int>(32));
  cudaDeviceSynchronize();
  return 0;
}
