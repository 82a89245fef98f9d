// The host reads a result before it has waited for the copy.
// race: unsynchronised host use
// address: unsynchronised host use
#include "../harness.cuh"



extern "C" int simt_main() {
  float* data = ramp<float>(64);
  float* values = nullptr;
  cudaMallocHost(&values, 64 * sizeof(float));
  cudaMemcpyAsync(values, data, 64 * sizeof(float), cudaMemcpyDeviceToHost);  // <-- here
  if (values[3] == 3) std::printf("early\n");  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
