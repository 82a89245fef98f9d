// Lanes overwrite what others of the warp may still have to read.
// race: race
// fast: nothing
#include "../harness.cuh"

__global__ void shift(float* out) {
  __shared__ float row[32];
  const int lane = threadIdx.x;
  for (int step = 0; step < 4; ++step) {
    row[lane] = lane + step;  // <-- here
    __syncwarp();
    out[step * 32 + lane] = row[31 - lane];  // <-- here
  }
}

extern "C" int simt_main() {
  LAUNCH(shift, 1, 32, 0, 0, zeros<float>(128));
  cudaDeviceSynchronize();
  return 0;
}
