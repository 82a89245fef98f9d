// The same with bytes: four lanes share a word.
#include "../harness.cuh"

__global__ void transpose(const unsigned char* in, unsigned char* out, int n) {
  __shared__ unsigned char tile[32][33];
  const int x = threadIdx.x, column = blockIdx.x * 32, row = blockIdx.y * 32;
  for (int y = threadIdx.y; y < 32; y += 8) tile[y][x] = in[(row + y) * n + column + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) out[(column + y) * n + row + x] = tile[x][y];
}

extern "C" int simt_main() {
  constexpr int n = 64;
  unsigned char* out = zeros<unsigned char>(n * n);
  LAUNCH(transpose, dim3(n / 32, n / 32), dim3(32, 8), 0, 0, ramp<unsigned char>(n * n), out, n);
  return differences(fetch(out, n * n), [](int i) { return (i % n * n + i / n) % 251; });
}
