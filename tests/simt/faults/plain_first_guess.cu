// A compare-and-swap loop whose first guess is read as if nobody else changed it.
// race: race
#include "../harness.cuh"

__global__ void triple(unsigned* product) {
  unsigned seen = *product, assumed;  // <-- here
  do {
    assumed = seen;
    seen = atomicCAS(product, assumed, assumed * 3);  // <-- here
  } while (seen != assumed);
}

extern "C" int simt_main() {
  LAUNCH(triple, 2, 32, 0, 0, zeros<unsigned>(1));
  return cudaDeviceSynchronize();
}
