// A column beyond the tile's row: it is still inside the tile.
// address: out of bounds
#include "../harness.cuh"

__global__ void neighbours(float* out) {
  __shared__ float tile[4][32];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = x;
  __syncthreads();
  if (y < 3) out[y * 32 + x] = tile[y][x + 1];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(neighbours, 1, dim3(32, 4), 0, 0, zeros<float>(128));
  cudaDeviceSynchronize();
  return 0;
}
