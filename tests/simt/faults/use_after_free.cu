// A kernel is launched with a buffer that was released.
// address: use after free
// race: use after free
#include "../harness.cuh"

__global__ void read(const float* data, float* out) {
  out[threadIdx.x] = data[threadIdx.x];  // <-- here
}

extern "C" int simt_main() {
  float* data = ramp<float>(32);
  cudaFree(data);  // <-- here
  LAUNCH(read, 1, 32, 0, 0, data, zeros<float>(32));
  cudaDeviceSynchronize();
  return 0;
}
