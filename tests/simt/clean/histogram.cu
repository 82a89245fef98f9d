// Counts in shared memory, added to the result by atomics.
#include "../harness.cuh"

__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned own[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
    if (own[bin]) atomicAdd(&bins[bin], own[bin]);
  }
}

extern "C" int simt_main() {
  constexpr int n = 5000;
  unsigned* bins = zeros<unsigned>(256);
  LAUNCH(histogram, 4, 128, 0, 0, ramp<unsigned char>(n), bins, n);
  return differences(fetch(bins, 256), [](int bin) { return bin < 251 ? n / 251 + (bin < n % 251) : 0; });
}
