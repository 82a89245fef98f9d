// A buffer is released twice.
// fast: use after free
#include "../harness.cuh"



extern "C" int simt_main() {
  float* data = zeros<float>(32);
  cudaFree(data);  // <-- here
  cudaFree(data);  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
