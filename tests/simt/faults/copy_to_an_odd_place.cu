// Copies of 16 bytes to places that are four bytes apart.
// fast: misaligned access
// race: misaligned access
#include "../harness.cuh"

#include <cuda_pipeline.h>

__global__ void copy(const float* in) {
  __shared__ float row[64];
  __pipeline_memcpy_async(&row[4 * threadIdx.x + 1], &in[4 * threadIdx.x], 16);  // <-- here
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

extern "C" int simt_main() {
  LAUNCH(copy, 1, 8, 0, 0, ramp<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
