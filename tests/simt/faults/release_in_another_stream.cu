// A buffer is released in a stream that does not wait for its last use.
// address: use after free
// race: use after free
#include "../harness.cuh"

__global__ void read(const float* data, float* out) {
  out[threadIdx.x] = data[threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  float *data = ramp<float>(32), *out = zeros<float>(32);
  cudaDeviceSynchronize();
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  LAUNCH(read, 1, 32, 0, a, data, out);  // <-- here
  cudaFreeAsync(data, b);  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
