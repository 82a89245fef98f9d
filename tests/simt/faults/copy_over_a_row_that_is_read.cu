// A ring of two rows: the next copy is under way before all threads have read the row that it takes the place of.
// fast: nothing
// race: race
#include "../harness.cuh"

#include <cuda_pipeline.h>

__global__ void copy(const float4* in, float4* out, int rows) {
  __shared__ float4 ring[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&ring[0][t], &in[t], 16);
  __pipeline_commit();
  for (int y = 0; y < rows; ++y) {
    if (y + 1 < rows) __pipeline_memcpy_async(&ring[(y + 1) & 1][t], &in[(y + 1) * 64 + t], 16);  // <-- here
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[y * 64 + t] = ring[y & 1][63 - t];  // <-- here
  }
}

extern "C" int simt_main() {
  LAUNCH(copy, 1, 64, 0, 0, (const float4*)ramp<float>(4 * 256), (float4*)zeros<float>(4 * 256), 4);
  cudaDeviceSynchronize();
  return 0;
}
