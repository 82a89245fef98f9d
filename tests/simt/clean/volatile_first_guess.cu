// An update by compare-and-swap begins with a guess, which others may change meanwhile: so it is read as volatile.
#include "../harness.cuh"

__global__ void multiply(unsigned long long* products) {
  __shared__ unsigned product;
  if (threadIdx.x == 0) product = 1;
  __syncthreads();
  unsigned seen = *(volatile unsigned*)&product, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&product, assumed, assumed * 3);
  } while (seen != assumed);
  __syncthreads();
  if (threadIdx.x == 0) products[blockIdx.x] = product;
}

extern "C" int simt_main() {
  unsigned long long* products = zeros<unsigned long long>(2);
  LAUNCH(multiply, 2, 64, 0, 0, products);
  unsigned long long found[2];
  cudaMemcpy(found, products, sizeof found, cudaMemcpyDeviceToHost);
  unsigned expected = 1;
  for (int i = 0; i < 64; ++i) expected *= 3;
  return found[0] != expected || found[1] != expected;
}
