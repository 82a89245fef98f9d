// Rows are copied to a ring in shared memory while others are computed; each thread reads its neighbour's pixels, too.
#include "../harness.cuh"

#include <cuda_pipeline.h>

__global__ void means(const float4* in, float* out, int rows) {
  __shared__ float4 ring[4][32];
  const int t = threadIdx.x;
  for (int y = 0; y < 3; ++y) {
    if (y < rows) __pipeline_memcpy_async(&ring[y][t], &in[y * 32 + t], 16);
    __pipeline_commit();
  }
  for (int y = 0; y < rows; ++y) {
    __pipeline_wait_prior(2);
    __syncthreads();
    const float* row = (const float*)ring[y & 3];
    for (int i = 0; i < 4; ++i) out[y * 128 + 4 * t + i] = row[4 * t + i] + row[(4 * t + i + 1) % 128];
    if (y + 3 < rows) __pipeline_memcpy_async(&ring[(y + 3) & 3][t], &in[(y + 3) * 32 + t], 16);
    __pipeline_commit();
  }
}

__global__ void first_bytes(const int* in, int4* out) {
  __shared__ int4 row[8];
  __pipeline_memcpy_async(&row[threadIdx.x], &in[4 * threadIdx.x], 16, 12);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = row[threadIdx.x];
}

extern "C" int simt_main() {
  float* out = zeros<float>(128 * 7);
  LAUNCH(means, 1, 32, 0, 0, (const float4*)ramp<float>(128 * 7), out, 7);
  int* words = zeros<int>(32);
  LAUNCH(first_bytes, 1, 8, 0, 0, ramp<int>(32), (int4*)words);
  return differences(fetch(out, 128 * 7),
                     [](std::size_t i) { return i % 251 + (i / 128 * 128 + (i + 1) % 128) % 251; }) +
         differences(fetch(words, 32), [](std::size_t i) { return i % 4 == 0 ? i : 0; });
}
