// The threads of a block go round a loop with a barrier, some of them once more than others.
// fast: divergent barrier
#include "../harness.cuh"

__global__ void sums(const float* in, float* out, int n) {
  __shared__ float part[64];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) {
    part[threadIdx.x] = in[i];
    __syncthreads();  // <-- here
    sum += part[63 - threadIdx.x];
    __syncthreads();  // <-- here
  }
  out[threadIdx.x] = sum;
}

extern "C" int simt_main() {
  LAUNCH(sums, 1, 64, 0, 0, ramp<float>(100), zeros<float>(64), 100);
  cudaDeviceSynchronize();
  return 0;
}
