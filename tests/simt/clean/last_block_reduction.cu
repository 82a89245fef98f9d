// The last block to finish adds what the others have left, behind fences.
#include "../harness.cuh"

__global__ void sum(const int* in, int* parts, unsigned* done, int* out, int n) {
  __shared__ int part[64];
  __shared__ bool is_last;
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) {
    parts[blockIdx.x] = part[0];
    __threadfence();
    is_last = atomicInc(done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  int total = 0;
  for (int k = t; k < static_cast<int>(gridDim.x); k += 64) total += parts[k];
  atomicAdd(out, total);
  if (t == 0) *done = 0;
}

extern "C" int simt_main() {
  constexpr int n = 10000, blocks = (n + 63) / 64;
  int *in = ramp<int>(n), *parts = nullptr, *out = zeros<int>(1);
  unsigned* done = zeros<unsigned>(1);
  cudaMalloc(&parts, blocks * sizeof(int));
  int expected = 0;
  for (int i = 0; i < n; ++i) expected += i % 251;
  for (int repeat = 0; repeat < 2; ++repeat) LAUNCH(sum, blocks, 64, 0, 0, in, parts, done, out, n);
  return differences(fetch(out, 1), [&](int) { return 2 * expected; });
}
