// __syncwarp where warps exchange data: only a barrier of the block is enough.
// race: race; uninitialised read
#include "../harness.cuh"

__global__ void reverse(float* out) {
  __shared__ float row[64];
  row[threadIdx.x] = threadIdx.x;  // <-- here
  __syncwarp();
  out[threadIdx.x] = row[63 - threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(reverse, 1, 64, 0, 0, zeros<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
