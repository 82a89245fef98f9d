// A shuffle between write and read: it exchanges a register, and orders no memory.
// race: race
#include "../harness.cuh"

__global__ void reverse(float* out) {
  __shared__ float row[32];
  const int lane = threadIdx.x;
  row[lane] = lane;  // <-- here
  const float other = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
  out[lane] = other + row[31 - lane];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(reverse, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
