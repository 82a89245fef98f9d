// Pipeline 'unsharp_mask', emitted by Weft. How it runs:
//   blurx    in rows of mask: computed before 'mask' in each of its tiles, with what lies around them: no store, no load
//   blury    computed in mask: sharpen, mask read it at the same pixel, in one kernel: no store, no load
//   sharpen  computed in mask: its only consumer 'mask' reads it at the same pixel: no store, no load
//   mask     stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c unsharp_mask.cu
#include "unsharp_mask.h"

namespace unsharp_mask {

namespace {

__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }

// 'mask' with 'blurx'. Each warp computes a tile of 24x8 pixels, all of a
// stage before the next, and keeps what it needs of 'in', 'blurx' in shared memory.
__global__ void __launch_bounds__(64, 1) mask_kernel(const float* __restrict__ in, float* __restrict__ mask,
    int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t mask_pitch, float threshold, float weight) {
  __shared__ float in_rows_of_warps[2112];
  __shared__ float blurx_rows_of_warps[1344];
  const int32_t rows = 8;
  for (int32_t x0 = blockIdx.x * 24; x0 < in_w; x0 += gridDim.x * 24) {
    const int32_t columns = min_i32(24, in_w - x0);
    for (int32_t first_tile = blockIdx.y * (rows * 2); first_tile < in_h; first_tile += gridDim.y
        * (rows * 2)) {
      {
        const int32_t warp = (int32_t)threadIdx.y;
        const int32_t y0 = first_tile + warp * rows;
        if (y0 < in_h) {
          float* in_rows = in_rows_of_warps + warp * 1056;
          float* blurx_rows = blurx_rows_of_warps + warp * 672;
          const int32_t y1 = min_i32(y0 + rows, in_h);
          if (0 <= x0 - 3 && x0 + 27 <= in_w && 0 <= y0 - 2 && y0 + 10 <= in_h) {
            __syncwarp();
            for (int32_t i = threadIdx.x; i < 88; i += blockDim.x) {
              const int32_t column = (x0 + (i + 1) / 3 - 3) * 3 + (i + 1) % 3;
              for (int32_t r = 0; r < 12; ++r) {
                const int32_t row = y0 + r - 2;
                in_rows[(int64_t)(row - y0 + 2) * 88 + i] = in[row * in_pitch + column];
              }
            }
            __syncwarp();
            for (int32_t t = threadIdx.x; t < 84; t += blockDim.x) {
              const int32_t i = t - 6;
              #pragma unroll
              for (int32_t r = 0; r < 8; ++r) {
                const int32_t row = y0 + r;
                float* blurx_row = blurx_rows + (int64_t)(row - y0) * 84;
                const float* in_m2 = in_rows + (int64_t)(row - y0) * 88 + 8;
                const float* in_m1 = in_rows + (int64_t)(row - y0 + 1) * 88 + 8;
                const float* in_0 = in_rows + (int64_t)(row - y0 + 2) * 88 + 8;
                const float* in_p1 = in_rows + (int64_t)(row - y0 + 3) * 88 + 8;
                const float* in_p2 = in_rows + (int64_t)(row - y0 + 4) * 88 + 8;
                blurx_row[t] = 0.0625f * in_m2[i] + 0.25f * in_m1[i] + 0.375f * in_0[i] + 0.25f * in_p1[i]
                    + 0.0625f * in_p2[i];
              }
            }
            __syncwarp();
            for (int32_t i = threadIdx.x; i < 72; i += blockDim.x) {
              const int32_t x = x0 * 3 + i;
              #pragma unroll
              for (int32_t r = 0; r < 8; ++r) {
                const int32_t y = y0 + r;
                const float* in_0 = in_rows + (int64_t)(y - y0 + 2) * 88 + 8;
                const float* blurx_0 = blurx_rows + (int64_t)(y - y0) * 84 + 6;
                const float v = 0.0625f * blurx_0[i - 6] + 0.25f * blurx_0[i - 3] + 0.375f * blurx_0[i]
                    + 0.25f * blurx_0[i + 3] + 0.0625f * blurx_0[i + 6];
                mask[y * mask_pitch + x] = fabsf(in_0[i] - v) < threshold ? in_0[i]
                    : (1.0f + weight) * in_0[i] - weight * v;
              }
            }
          } else {
            __syncwarp();
            for (int32_t i = threadIdx.x; i < 88; i += blockDim.x) {
              const int32_t column = (x0 + (i + 1) / 3 - 3) * 3 + (i + 1) % 3;
              const bool inside = 0 <= x0 + (i + 1) / 3 - 3 && x0 + (i + 1) / 3 - 3 < in_w;
              for (int32_t r = 0; r < 12; ++r) {
                const int32_t row = y0 + r - 2;
                if (row < y1 + 2) {
                  in_rows[(int64_t)(row - y0 + 2) * 88 + i] = inside && (0 <= row && row < in_h)
                      ? in[row * in_pitch + column] : 0.0f;
                }
              }
            }
            __syncwarp();
            for (int32_t t = threadIdx.x; t < columns * 3 + 12; t += blockDim.x) {
              const int32_t i = t - 6;
              const int32_t x = x0 * 3 + i;
              const bool inside = 0 <= x && x < in_w * 3;
              for (int32_t row = y0; row < y1; ++row) {
                float* blurx_row = blurx_rows + (int64_t)(row - y0) * 84;
                const float* in_m2 = in_rows + (int64_t)(row - y0) * 88 + 8;
                const float* in_m1 = in_rows + (int64_t)(row - y0 + 1) * 88 + 8;
                const float* in_0 = in_rows + (int64_t)(row - y0 + 2) * 88 + 8;
                const float* in_p1 = in_rows + (int64_t)(row - y0 + 3) * 88 + 8;
                const float* in_p2 = in_rows + (int64_t)(row - y0 + 4) * 88 + 8;
                if (inside) {
                  blurx_row[t] = 0.0625f * in_m2[i] + 0.25f * in_m1[i] + 0.375f * in_0[i] + 0.25f * in_p1[i]
                      + 0.0625f * in_p2[i];
                } else {
                  blurx_row[t] = 0.0f;
                }
              }
            }
            __syncwarp();
            for (int32_t i = threadIdx.x; i < columns * 3; i += blockDim.x) {
              const int32_t x = x0 * 3 + i;
              for (int32_t y = y0; y < y1; ++y) {
                const float* in_0 = in_rows + (int64_t)(y - y0 + 2) * 88 + 8;
                const float* blurx_0 = blurx_rows + (int64_t)(y - y0) * 84 + 6;
                const float v = 0.0625f * blurx_0[i - 6] + 0.25f * blurx_0[i - 3] + 0.375f * blurx_0[i]
                    + 0.25f * blurx_0[i + 3] + 0.0625f * blurx_0[i + 6];
                mask[y * mask_pitch + x] = fabsf(in_0[i] - v) < threshold ? in_0[i]
                    : (1.0f + weight) * in_0[i] - weight * v;
              }
            }
          }
        }
      }
    }
  }
}

struct Extents {
  int64_t x, y, z;
};

unsigned blocks(int64_t threads, int64_t per_block, int64_t most) {
  const int64_t count = (threads + per_block - 1) / per_block;
  return (unsigned)(count < 1 ? 1 : count > most ? most : count);
}

// Launches a kernel with enough blocks for that number of threads; its loops make up for the limits of grids. Sizes that
// the kernel takes as 32 bits fit them: larger ones were refused.
template <class... Parameters, class... Given>
cudaError_t launch(void (*kernel)(Parameters...), Extents threads, Extents block, cudaStream_t stream, Given... given) {
  const dim3 grid(blocks(threads.x, block.x, 2147483647), blocks(threads.y, block.y, 65535),
                  blocks(threads.z, block.z, 65535));
  const auto with = [&](Parameters... arguments) {
    void* pointers[] = {(void*)&arguments...};
    return cudaLaunchKernel(kernel, grid, dim3((unsigned)block.x, (unsigned)block.y, (unsigned)block.z), pointers, 0,
                            stream);
  };
  return with(static_cast<Parameters>(given)...);
}

template <class T>
cudaError_t allocate(T*& memory, int64_t count, bool clear, cudaStream_t stream) {
  const size_t bytes = (size_t)count * sizeof(T);
  const cudaError_t status = cudaMallocAsync((void**)&memory, bytes, stream);
  return status == cudaSuccess && clear ? cudaMemsetAsync(memory, 0, bytes, stream) : status;
}

template <class T>
void release(T*& memory, cudaStream_t stream) {
  if (memory) cudaFreeAsync((void*)memory, stream);
  memory = nullptr;
}

template <class T>
cudaError_t copy_row(T* to, const T* from, int64_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return count <= 0 ? cudaSuccess : cudaMemcpyAsync(to, from, (size_t)count * sizeof(T), kind, stream);
}

// Copies between arrays of other pitches; extents and strides in scalars, x first.
template <class T>
cudaError_t copy_rows(T* to, const int64_t* to_strides, const T* from, const int64_t* from_strides,
                      const int64_t* extents, int rank, cudaMemcpyKind kind, cudaStream_t stream) {
  if (rank > 2) {
    cudaError_t status = cudaSuccess;
    for (int64_t i = 0; i < extents[rank - 1] && status == cudaSuccess; ++i) {
      status = copy_rows(to + i * to_strides[rank - 2], to_strides, from + i * from_strides[rank - 2], from_strides,
                         extents, rank - 1, kind, stream);
    }
    return status;
  }
  if (extents[0] <= 0 || extents[1] <= 0) return cudaSuccess;
  return cudaMemcpy2DAsync(to, (size_t)to_strides[0] * sizeof(T), from, (size_t)from_strides[0] * sizeof(T),
                           (size_t)extents[0] * sizeof(T), (size_t)extents[1], kind, stream);
}

}  // namespace

cudaError_t run_unsharp_mask(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float threshold,
    float weight, float* mask, int64_t mask_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(mask_kernel, {(in_w + 23) / 24 * 32, (in_h + 7) / 8, 1}, {32, 2, 1}, stream, in, mask,
        in_w, in_h, in_pitch, mask_pitch, threshold, weight);
  }
  return status;
}

cudaError_t run_unsharp_mask_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    float threshold, float weight, float* mask, int64_t mask_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w * 3 + 31) / 32 * 32;
  float* device_mask = nullptr;
  int64_t device_mask_pitch = (in_w * 3 + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w * 3, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_mask, device_mask_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_unsharp_mask(device_in, device_in_pitch, in_w, in_h, threshold, weight, device_mask,
        device_mask_pitch, stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w * 3, in_h}, to[] = {mask_pitch}, from[] = {device_mask_pitch};
    status = copy_rows(mask, to, device_mask, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_mask, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace unsharp_mask
