// Constant memory that the host sets; vectors of four; pitched copies.
#include "../harness.cuh"

__constant__ float weights[4];

__global__ void weigh(const float4* in, float* out, int width, int pitch) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x >= width) return;
  const float4 v = in[y * pitch + x];
  out[y * width + x] = v.x * weights[0] + v.y * weights[1] + v.z * weights[2] + v.w * weights[3];
}

extern "C" int simt_main() {
  constexpr int width = 20, height = 5;
  const float given[4] = {1, 10, 100, 1000};
  cudaMemcpyToSymbol(weights, given, sizeof given);
  std::vector<float4> pixels(width * height, make_float4(1, 2, 3, 4));
  float4* in = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&in, &pitch, width * sizeof(float4), height);
  cudaMemcpy2D(in, pitch, pixels.data(), width * sizeof(float4), width * sizeof(float4), height, cudaMemcpyHostToDevice);
  float* out = zeros<float>(width * height);
  LAUNCH(weigh, height, 32, 0, 0, in, out, width, static_cast<int>(pitch / sizeof(float4)));
  return differences(fetch(out, width * height), [](int) { return 4321; });
}
