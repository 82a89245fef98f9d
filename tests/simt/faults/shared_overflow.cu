// A block of 64 threads fills a shared row of 48.
// address: out of bounds
#include "../harness.cuh"

__global__ void copy(const float* in, float* out) {
  __shared__ float row[48];
  float* const begin = row;
  begin[threadIdx.x] = in[threadIdx.x];  // <-- here
  __syncthreads();
  out[threadIdx.x] = begin[threadIdx.x % 48];
}

extern "C" int simt_main() {
  LAUNCH(copy, 1, 64, 0, 0, ramp<float>(64), zeros<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
