// A shift by as many bits as the number has.
// address: undefined behaviour
#include "../harness.cuh"

__global__ void masks(unsigned* out) {
  out[threadIdx.x] = 1u << (threadIdx.x + 1);  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(masks, 1, 32, 0, 0, zeros<unsigned>(32));
  cudaDeviceSynchronize();
  return 0;
}
