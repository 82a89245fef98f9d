// Tiles are transposed through shared memory with a padded row.
#include "../harness.cuh"

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x, column = blockIdx.x * 32, row = blockIdx.y * 32;
  for (int y = threadIdx.y; y < 32; y += 8) tile[y][x] = in[(row + y) * n + column + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) out[(column + y) * n + row + x] = tile[x][y];
}

extern "C" int simt_main() {
  constexpr int n = 96;
  float* out = zeros<float>(n * n);
  LAUNCH(transpose, dim3(n / 32, n / 32), dim3(32, 8), 0, 0, ramp<float>(n * n), out, n);
  return differences(fetch(out, n * n), [](int i) { return (i % n * n + i / n) % 251; });
}
