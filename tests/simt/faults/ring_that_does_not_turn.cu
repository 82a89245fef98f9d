// A ring of two rows needs one barrier a row; one that uses the same row each time needs two.
// race: race
#include "../harness.cuh"

__global__ void march(const float* in, float* out, int rows) {
  __shared__ float ring[2][130];
  const int t = threadIdx.x;
  for (int y = 0; y < rows; ++y) {
    float* row = ring[0];
    row[t + 1] = in[y * 128 + t];  // <-- here
    if (t == 0) row[0] = in[y * 128];  // <-- here
    if (t == 127) row[129] = in[y * 128 + 127];  // <-- here
    __syncthreads();
    out[y * 128 + t] = row[t] + row[t + 1] + row[t + 2];  // <-- here
  }
}

extern "C" int simt_main() {
  LAUNCH(march, 1, 128, 0, 0, ramp<float>(128 * 6), zeros<float>(128 * 6), 6);
  cudaDeviceSynchronize();
  return 0;
}
