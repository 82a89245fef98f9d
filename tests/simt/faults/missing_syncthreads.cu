// A step of a tree reduction reads another warp's sums without a barrier.
// race: race
#include "../harness.cuh"

__global__ void sum(const float* in, float* out) {
  __shared__ float part[128];
  const int t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];  // <-- here
    if (half > 64) __syncthreads();
  }
  if (t == 0) out[0] = part[0];
}

extern "C" int simt_main() {
  LAUNCH(sum, 1, 128, 0, 0, ramp<float>(128), zeros<float>(1));
  cudaDeviceSynchronize();
  return 0;
}
