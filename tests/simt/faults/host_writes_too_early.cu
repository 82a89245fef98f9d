// The host fills a pinned buffer again while a copy still reads it.
// address: unsynchronised host use
#include "../harness.cuh"



extern "C" int simt_main() {
  float *data = zeros<float>(64), *values = nullptr;
  cudaMallocHost(&values, 64 * sizeof(float));
  cudaMemcpyAsync(data, values, 64 * sizeof(float), cudaMemcpyHostToDevice);  // <-- here
  values[3] = 1;  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
