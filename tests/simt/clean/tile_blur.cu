// Two blurs in one kernel: rows by shuffles, columns through shared memory of a warp.
#include "../harness.cuh"

constexpr int outputs = 28, rows = 8, warps = 2;  // of a warp's 32 lanes; of a warp; of a block

__global__ void __launch_bounds__(32 * warps) blur(const float* __restrict__ in, float* __restrict__ out, int width,
                                                   int height) {
  __shared__ float ring[warps][3][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int x = blockIdx.x * outputs - 2 + lane, top = (blockIdx.y * warps + warp) * rows;
  const int column = min(max(x, 0), width - 1);
  for (int y = top - 1; y <= top + rows; ++y) {
    const float v = in[min(max(y, 0), height - 1) * width + column];
    const float left = __shfl_up_sync(0xffffffffu, v, 1), right = __shfl_down_sync(0xffffffffu, v, 1);
    ring[warp][(y + 3) % 3][lane] = left + v + right;
    __syncwarp();
    if (y > top && lane >= 2 && lane < 30 && x < width && y - 1 < height) {
      out[(y - 1) * width + x] = ring[warp][0][lane] + ring[warp][1][lane] + ring[warp][2][lane];
    }
    __syncwarp();
  }
}

extern "C" int simt_main() {
  constexpr int width = 70, height = 37;
  float *in = ramp<float>(width * height), *out = zeros<float>(width * height);
  LAUNCH(blur, dim3((width + outputs - 1) / outputs, (height + rows * warps - 1) / (rows * warps)), dim3(32, warps), 0,
         0, in, out, width, height);
  const auto at = [](int x, int y) { return float((std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1)) % 251); };
  return differences(fetch(out, width * height), [&](int i) {
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) sum += at(i % width + dx, i / width + dy);
    }
    return sum;
  });
}
