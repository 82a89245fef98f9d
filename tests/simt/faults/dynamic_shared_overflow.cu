// The launch gives fewer bytes of shared memory than the kernel uses.
// address: out of bounds
// race: out of bounds
#include "../harness.cuh"

__global__ void copy(const float* in, float* out) {
  extern __shared__ float row[];
  row[threadIdx.x] = in[threadIdx.x];  // <-- here
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(copy, 1, 64, 48 * sizeof(float), 0, ramp<float>(64), zeros<float>(64));
  cudaDeviceSynchronize();
  return 0;
}
