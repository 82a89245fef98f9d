// A copy of more bytes than the buffer has.
// fast: out of bounds
#include "../harness.cuh"



extern "C" int simt_main() {
  float* data = zeros<float>(32);
  static float values[64];
  cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice);  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
