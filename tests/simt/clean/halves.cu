// Numbers of 16 bits are stored, and rounded to nearest even; pairs of them are read at once.
#include "../harness.cuh"

#include <cuda_fp16.h>

__global__ void store(const float* in, __half* out) { out[threadIdx.x] = __float2half_rn(in[threadIdx.x] * 16.0625f); }
__global__ void load(const __half2* in, float* out) {
  const float2 pair = __half22float2(in[threadIdx.x]);
  out[2 * threadIdx.x] = pair.x;
  out[2 * threadIdx.x + 1] = pair.y;
}

extern "C" int simt_main() {
  float* out = zeros<float>(250);
  __half* halves = nullptr;
  cudaMalloc(&halves, 250 * sizeof(__half));
  LAUNCH(store, 1, 250, 0, 0, ramp<float>(250), halves);
  LAUNCH(load, 1, 125, 0, 0, reinterpret_cast<const __half2*>(halves), out);
  return differences(fetch(out, 250), [](int i) {
    float unit = 1.0f / 1024;  // of the last of eleven bits
    while (i * 16.0625f >= 2048 * unit) unit *= 2;
    return std::nearbyint(i * 16.0625f / unit) * unit;
  });
}
