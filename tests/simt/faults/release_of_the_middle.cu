// What is released is not the beginning of a buffer.
// fast: invalid release
#include "../harness.cuh"



extern "C" int simt_main() {
  float* data = zeros<float>(32);
  cudaFree(data + 8);  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
