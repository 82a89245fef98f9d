// Steps of an iterated stencil between two buffers, all in one stream.
#include "../harness.cuh"

__global__ void step(const float* from, float* to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) to[x] = from[x > 0 ? x - 1 : 0] + from[x < n - 1 ? x + 1 : n - 1];
}

extern "C" int simt_main() {
  constexpr int n = 300, steps = 6;
  float *a = ramp<float>(n), *b = zeros<float>(n);
  std::vector<float> now(n), next(n);
  for (int i = 0; i < n; ++i) now[i] = i % 251;
  for (int t = 0; t < steps; ++t) {
    LAUNCH(step, 3, 128, 0, 0, a, b, n);
    std::swap(a, b);
    for (int i = 0; i < n; ++i) next[i] = now[std::max(i - 1, 0)] + now[std::min(i + 1, n - 1)];
    std::swap(now, next);
  }
  return differences(fetch(a, n), [&](int i) { return now[i]; });
}
