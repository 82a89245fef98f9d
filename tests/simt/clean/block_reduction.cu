// Sums of blocks: a tree in shared memory, then shuffles in the last warp.
#include "../harness.cuh"

__global__ void sum(const int* in, int* out, int n) {
  extern __shared__ int part[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t >= 32) return;
  int v = part[t];
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  if (t == 0) atomicAdd(out, v);
}

extern "C" int simt_main() {
  constexpr int n = 3000;
  int* out = zeros<int>(1);
  LAUNCH(sum, 12, 256, 256 * sizeof(int), 0, ramp<int>(n), out, n);
  int expected = 0;
  for (int i = 0; i < n; ++i) expected += i % 251;
  return differences(fetch(out, 1), [&](int) { return expected; });
}
