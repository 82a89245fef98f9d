// The host sets constant memory anew while a kernel of another stream reads it.
// race: race
#include "../harness.cuh"

__constant__ float weight;

__global__ void weigh(float* data) {
  data[threadIdx.x] *= weight;  // <-- here
}

extern "C" int simt_main() {
  float* data = ramp<float>(32);
  const float given = 2;
  cudaMemcpyToSymbol(weight, &given, sizeof given);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  LAUNCH(weigh, 1, 32, 0, a, data);
  cudaMemcpyToSymbolAsync(weight, &given, sizeof given, 0, cudaMemcpyHostToDevice, b);  // <-- here
  cudaDeviceSynchronize();
  return 0;
}
