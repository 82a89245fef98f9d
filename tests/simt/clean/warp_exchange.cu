// Lanes of a warp exchange values through shared memory: all of them, and in parts that wait for themselves only.
#include "../harness.cuh"

__global__ void exchange(int* out) {
  __shared__ int rows[2][32];
  int* const row = rows[threadIdx.y];
  const int lane = threadIdx.x, half = lane / 16, quarter = lane / 8;
  int v = lane;
  for (int step = 0; step < 3; ++step) {
    row[lane] = v;
    __syncwarp();
    v += row[31 - lane];
    __syncwarp(0xffffu << (16 * half));
    __syncwarp();
    row[lane] = v;
    __syncwarp(0xffffu << (16 * half));
    v += row[16 * half + 15 - lane % 16];
    __syncwarp(0xffffu << (16 * half));
    row[lane] = v;
    __syncwarp(0xffu << (8 * quarter));
    v += row[8 * quarter + 7 - lane % 8];
    __syncwarp();
  }
  out[threadIdx.y * 32 + lane] = v;
}

extern "C" int simt_main() {
  int* out = zeros<int>(64);
  LAUNCH(exchange, 1, dim3(32, 2), 0, 0, out);
  std::vector<int> v(32), next(32);
  for (int lane = 0; lane < 32; ++lane) v[lane] = lane;
  for (int step = 0; step < 3; ++step) {
    for (const int part : {32, 16, 8}) {
      for (int lane = 0; lane < 32; ++lane) next[lane] = v[lane] + v[lane / part * part + part - 1 - lane % part];
      v = next;
    }
  }
  return differences(fetch(out, 64), [&](int i) { return v[i % 32]; });
}
