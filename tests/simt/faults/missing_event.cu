// A stream reads what another one writes, without an event between.
// race: race
#include "../harness.cuh"

__global__ void write(float* data) {
  data[threadIdx.x] = threadIdx.x;  // <-- here
}
__global__ void read(const float* data, float* out) {
  out[threadIdx.x] = data[threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  float *data = ramp<float>(64), *out = zeros<float>(64);
  cudaDeviceSynchronize();
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  LAUNCH(write, 1, 64, 0, a, data);
  LAUNCH(read, 1, 64, 0, b, data, out);
  cudaDeviceSynchronize();
  return 0;
}
