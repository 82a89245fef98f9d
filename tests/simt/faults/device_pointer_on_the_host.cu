// The host reads device memory itself.
// address: illegal address
#include "../harness.cuh"



extern "C" int simt_main() {
  float* values = ramp<float>(32);
  if (values[3] != 3) return 1;  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
