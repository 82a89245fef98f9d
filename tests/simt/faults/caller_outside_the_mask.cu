// A lane votes with a mask that leaves itself out.
// fast: lane outside mask
#include "../harness.cuh"

__global__ void vote(int* out) {
  out[threadIdx.x] = __any_sync(0x0000ffffu, threadIdx.x == 3);  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(vote, 1, 32, 0, 0, zeros<int>(32));
  cudaDeviceSynchronize();
  return 0;
}
