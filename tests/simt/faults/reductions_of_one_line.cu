// Both branches of a condition reduce with the full mask, in one line: lanes wait in different reductions.
// fast: divergent collective
// race: divergent collective
#include "../harness.cuh"

__global__ void branches(unsigned* out) {
  unsigned v = threadIdx.x;
  v = v < 16 ? __reduce_add_sync(0xffffffffu, v) : __reduce_max_sync(0xffffffffu, v);  // <-- here
  out[threadIdx.x] = v;
}

extern "C" int simt_main() {
  LAUNCH(branches, 1, 32, 0, 0, zeros<unsigned>(32));
  cudaDeviceSynchronize();
  return 0;
}
