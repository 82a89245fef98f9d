// The last block adds what the others left, which they did not fence.
// race: race
#include "../harness.cuh"

__global__ void sum(const float* in, float* parts, int* done, float* out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = in[blockIdx.x * 64];  // <-- here
    is_last = atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  float total = 0;
  for (int i = 0; i < static_cast<int>(gridDim.x); ++i) total += parts[i];  // <-- here
  out[0] = total;
}

extern "C" int simt_main() {
  LAUNCH(sum, 8, 64, 0, 0, ramp<float>(512), zeros<float>(8), zeros<int>(1), zeros<float>(1));
  cudaDeviceSynchronize();
  return 0;
}
