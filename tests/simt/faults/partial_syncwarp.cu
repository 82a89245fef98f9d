// Half a warp waits for itself only, but reads the other half's values.
// race: race
#include "../harness.cuh"

__global__ void reverse(float* out) {
  __shared__ float row[32];
  const int lane = threadIdx.x;
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  row[lane] = 0;
  __syncwarp();
  row[lane] = lane;  // <-- here
  __syncwarp(half);
  out[lane] = row[31 - lane];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(reverse, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
