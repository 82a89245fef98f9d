// Tiles of bytes overlap by one: neighbouring threads write the same byte.
// race: race
#include "../harness.cuh"

__global__ void spread(unsigned char* out) {
  const int t = threadIdx.x;
  out[3 * t] = 1;
  out[3 * t + 1] = 2;  // <-- here
  out[3 * t + 4] = 3;  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(spread, 1, 64, 0, 0, zeros<unsigned char>(200));
  cudaDeviceSynchronize();
  return 0;
}
