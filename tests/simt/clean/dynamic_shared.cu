// Dynamic shared memory under several names: outside of functions, inside, aligned, in a template.
#include "../harness.cuh"

namespace {
extern __shared__ int words[];

__global__ void reverse(int* out) {
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

template <int factor>
__global__ void scale(int* out) {
  extern __shared__ __align__(16) unsigned char bytes[];
  int* mine = reinterpret_cast<int*>(bytes) + threadIdx.x;
  *mine = out[threadIdx.x] * factor;
  out[threadIdx.x] = *mine;
}
}  // namespace

extern "C" int simt_main() {
  int* out = zeros<int>(64);
  LAUNCH(reverse, 1, 64, 64 * sizeof(int), 0, out);
  LAUNCH(scale<3>, 1, 64, 64 * sizeof(int), 0, out);
  return differences(fetch(out, 64), [](int i) { return 3 * (63 - i); });
}
