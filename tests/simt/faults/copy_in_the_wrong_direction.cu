// A copy to the device whose pointers are the other way round.
// fast: misuse
#include "../harness.cuh"



extern "C" int simt_main() {
  float* data = zeros<float>(32);
  static float values[32];
  cudaMemcpy(values, data, sizeof values, cudaMemcpyHostToDevice);  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
