// A shuffle reads a lane that its mask does not name.
// fast: lane outside mask
#include "../harness.cuh"

__global__ void read(float* out) {
  float v = threadIdx.x;
  if (threadIdx.x < 16) v += __shfl_sync(0x0000ffffu, v, 20);  // <-- here
  out[threadIdx.x] = v;
}

extern "C" int simt_main() {
  LAUNCH(read, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
