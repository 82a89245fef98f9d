// A warp reads what its lanes have written, without __syncwarp between.
// race: race; uninitialised read
// address: nothing
#include "../harness.cuh"

__global__ void reverse(float* out) {
  __shared__ float row[32];
  const int lane = threadIdx.x;
  row[lane] = lane;  // <-- here
  out[lane] = row[31 - lane];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(reverse, 1, 32, 0, 0, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
