// A buffer is read that nobody has written.
// race: uninitialised read
// address: nothing
#include "../harness.cuh"

__global__ void add(const float* in, float* sum) {
  sum[threadIdx.x] += in[threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  float* sum = nullptr;
  cudaMalloc(&sum, 32 * sizeof(float));
  LAUNCH(add, 1, 32, 0, 0, ramp<float>(32), sum);
  cudaDeviceSynchronize();
  return 0;
}
