// A thread uses the address of another thread's local variable.
// address: illegal address
#include "../harness.cuh"

__global__ void lend(int* out) {
  __shared__ int* lent;
  int own[4] = {1, 2, 3, static_cast<int>(threadIdx.x)};
  if (threadIdx.x == 0) lent = own;
  __syncthreads();
  out[threadIdx.x] = lent[threadIdx.x % 4];  // <-- here
}

extern "C" int simt_main() {
  LAUNCH(lend, 1, 32, 0, 0, zeros<int>(32));
  cudaDeviceSynchronize();
  return 0;
}
