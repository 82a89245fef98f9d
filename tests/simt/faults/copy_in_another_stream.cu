// The result is copied to the host in a stream that does not wait for the kernel.
// race: race
#include "../harness.cuh"

__global__ void write(float* data) {
  data[threadIdx.x] = threadIdx.x;  // <-- here
}

extern "C" int simt_main() {
  float* data = zeros<float>(64);
  cudaDeviceSynchronize();
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  LAUNCH(write, 1, 64, 0, a, data);
  static float values[64];
  cudaMemcpyAsync(values, data, sizeof values, cudaMemcpyDeviceToHost, b);  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
