// An index of 32 bits is too small for an image of 4096 x 600000 pixels.
// address: undefined behaviour; out of bounds
#include "../harness.cuh"

__global__ void pixel(unsigned char* out, int width, int y) {
  out[y * width + static_cast<int>(threadIdx.x)] = 1;  // <-- here
}

extern "C" int simt_main() {
  unsigned char* image = nullptr;
  cudaMalloc(&image, std::size_t{4096} * 600000);
  LAUNCH(pixel, 1, 32, 0, 0, image, 4096, 599999);
  cudaDeviceSynchronize();
  return 0;
}
