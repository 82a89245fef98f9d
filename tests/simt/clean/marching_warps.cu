// Strips of a warp each, four pixels a lane, go down an image with two rows in registers; neighbours by shuffles.
#include "../harness.cuh"

__global__ void __launch_bounds__(32) box(const float* in, float* out, int w, int h, int rows) {
  const int lane = threadIdx.x, x = blockIdx.x * 120 - 4 + 4 * lane;
  const int y0 = blockIdx.y * rows, y1 = min(y0 + rows, h);
  float above[4] = {}, here[4] = {};
  for (int y = y0 - 1; y <= y1; ++y) {
    const int row = min(max(y, 0), h - 1), column = min(max(x, 0), w - 4);
    float4 v = *(const float4*)(in + row * w + column);
    if (x < 0) v = make_float4(v.x, v.x, v.x, v.x);
    if (x >= w) v = make_float4(v.w, v.w, v.w, v.w);
    const float left = __shfl_up_sync(~0u, v.w, 1), right = __shfl_down_sync(~0u, v.x, 1);
    const float sums[4] = {left + v.x + v.y, v.x + v.y + v.z, v.y + v.z + v.w, v.z + v.w + right};
    if (y > y0 && 0 < lane && lane < 31 && x < w) {
      *(float4*)(out + (y - 1) * w + x) = make_float4(above[0] + here[0] + sums[0], above[1] + here[1] + sums[1],
                                                      above[2] + here[2] + sums[2], above[3] + here[3] + sums[3]);
    }
    for (int i = 0; i < 4; ++i) above[i] = here[i], here[i] = sums[i];
  }
}

extern "C" int simt_main() {
  const int w = 248, h = 37;
  float* out = zeros<float>(w * h);
  LAUNCH(box, dim3(3, 3), 32, 0, 0, ramp<float>(w * h), out, w, h, 16);
  return differences(fetch(out, w * h), [&](std::size_t i) {
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int x = min(max((int)i % w + dx, 0), w - 1), y = min(max((int)i / w + dy, 0), h - 1);
        sum += (y * w + x) % 251;
      }
    }
    return sum;
  });
}
