// A kernel gets a pointer to the host's memory.
// address: illegal address
// race: illegal address
#include "../harness.cuh"

__global__ void copy(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  std::vector<float> values(32);
  LAUNCH(copy, 1, 32, 0, 0, values.data(), zeros<float>(32));
  cudaDeviceSynchronize();
  cudaDeviceSynchronize();
  return 0;
}
