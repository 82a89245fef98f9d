// Pipeline 'harris_corner', emitted by Weft. How it runs:
//   Ix      computed in harris: Ixx, Ixy read it at the same pixel, in one loop: no store, no load
//   Ixx     in rows of harris: computed before 'harris' in each of its tiles, with what lies around them: no store, no load
//   Sxx     computed in harris: det, trace read it at the same pixel, in one kernel: no store, no load
//   Iy      computed in harris: Iyy, Ixy read it at the same pixel, in one loop: no store, no load
//   Iyy     in rows of harris: computed before 'harris' in each of its tiles, with what lies around them: no store, no load
//   Syy     computed in harris: det, trace read it at the same pixel, in one kernel: no store, no load
//   Ixy     in rows of harris: computed before 'harris' in each of its tiles, with what lies around them: no store, no load
//   Sxy     computed in det: its only consumer 'det' reads it at the same pixel: no store, no load
//   det     computed in harris: its only consumer 'harris' reads it at the same pixel: no store, no load
//   trace   computed in harris: its only consumer 'harris' reads it at the same pixel: no store, no load
//   harris  stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c harris_corner.cu
#include "harris_corner.h"

namespace harris_corner {

namespace {

__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
// i itself inside [0, n), else the nearest index.
__host__ __device__ inline int32_t clamp_index(int32_t i, int32_t n) {
  const int32_t last = n - 1;
  i = i < last ? i : last;
  return i > 0 ? i : 0;
}

// 'harris' with 'Ixx', 'Iyy', 'Ixy'. Each warp computes a tile of 56x8 pixels, all of a
// stage before the next, and keeps what it needs of 'in', 'Ixx', 'Iyy', 'Ixy' in shared memory.
__global__ void __launch_bounds__(64, 1) harris_kernel(const float* __restrict__ in,
    float* __restrict__ harris, int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t harris_pitch) {
  __shared__ float in_rows_of_warps[1728];
  __shared__ float Ixx_rows_of_warps[1160];
  __shared__ float Iyy_rows_of_warps[1160];
  __shared__ float Ixy_rows_of_warps[1160];
  const int32_t rows = 8;
  for (int32_t x0 = blockIdx.x * 56; x0 < in_w; x0 += gridDim.x * 56) {
    const int32_t columns = min_i32(56, in_w - x0);
    for (int32_t first_tile = blockIdx.y * (rows * 2); first_tile < in_h; first_tile += gridDim.y
        * (rows * 2)) {
      {
        const int32_t warp = (int32_t)threadIdx.y;
        const int32_t y0 = first_tile + warp * rows;
        if (y0 < in_h) {
          float* in_rows = in_rows_of_warps + warp * 864;
          float* Ixx_rows = Ixx_rows_of_warps + warp * 580;
          float* Iyy_rows = Iyy_rows_of_warps + warp * 580;
          float* Ixy_rows = Ixy_rows_of_warps + warp * 580;
          const int32_t y1 = min_i32(y0 + rows, in_h);
          if (0 <= x0 - 8 && x0 + 64 <= in_w && 0 <= y0 - 2 && y0 + 10 <= in_h && 2 <= x0 && x0 + 56 <= in_w
              - 2 && 2 <= y0 && y0 + 8 <= in_h - 2) {
            for (int32_t i = threadIdx.x; i < 72; i += blockDim.x) {
              const int32_t column = x0 + i - 8;
              for (int32_t r = 0; r < 12; ++r) {
                const int32_t row = y0 + r - 2;
                in_rows[(int64_t)(row - y0 + 2) * 72 + i] = in[row * in_pitch + column];
              }
            }
            __syncwarp();
            for (int32_t t = threadIdx.x; t < 58; t += blockDim.x) {
              const int32_t i = t - 1;
              #pragma unroll
              for (int32_t r = 0; r < 10; ++r) {
                const int32_t row = y0 + r - 1;
                float* Ixx_row = Ixx_rows + (int64_t)(row - y0 + 1) * 58;
                float* Iyy_row = Iyy_rows + (int64_t)(row - y0 + 1) * 58;
                float* Ixy_row = Ixy_rows + (int64_t)(row - y0 + 1) * 58;
                const float* in_m1 = in_rows + (int64_t)(row - y0 + 1) * 72 + 8;
                const float* in_p1 = in_rows + (int64_t)(row - y0 + 3) * 72 + 8;
                const float* in_0 = in_rows + (int64_t)(row - y0 + 2) * 72 + 8;
                const float Ix = -0.083333336f * in_m1[i - 1] - 0.16666667f * in_m1[i]
                    - 0.083333336f * in_m1[i + 1] + 0.083333336f * in_p1[i - 1] + 0.16666667f * in_p1[i]
                    + 0.083333336f * in_p1[i + 1];
                Ixx_row[t] = Ix * Ix;
                const float Iy = -0.083333336f * in_m1[i - 1] + 0.083333336f * in_m1[i + 1]
                    - 0.16666667f * in_0[i - 1] + 0.16666667f * in_0[i + 1] - 0.083333336f * in_p1[i - 1]
                    + 0.083333336f * in_p1[i + 1];
                Iyy_row[t] = Iy * Iy;
                Ixy_row[t] = Ix * Iy;
              }
            }
            __syncwarp();
            for (int32_t i = threadIdx.x; i < 56; i += blockDim.x) {
              const int32_t x = x0 + i;
              #pragma unroll
              for (int32_t r = 0; r < 8; ++r) {
                const int32_t y = y0 + r;
                const float* Ixx_m1 = Ixx_rows + (int64_t)(y - y0) * 58 + 1;
                const float* Ixx_0 = Ixx_rows + (int64_t)(y - y0 + 1) * 58 + 1;
                const float* Ixx_p1 = Ixx_rows + (int64_t)(y - y0 + 2) * 58 + 1;
                const float* Iyy_m1 = Iyy_rows + (int64_t)(y - y0) * 58 + 1;
                const float* Iyy_0 = Iyy_rows + (int64_t)(y - y0 + 1) * 58 + 1;
                const float* Iyy_p1 = Iyy_rows + (int64_t)(y - y0 + 2) * 58 + 1;
                const float* Ixy_m1 = Ixy_rows + (int64_t)(y - y0) * 58 + 1;
                const float* Ixy_0 = Ixy_rows + (int64_t)(y - y0 + 1) * 58 + 1;
                const float* Ixy_p1 = Ixy_rows + (int64_t)(y - y0 + 2) * 58 + 1;
                const float Sxx = Ixx_m1[i - 1] + Ixx_m1[i] + Ixx_m1[i + 1] + Ixx_0[i - 1] + Ixx_0[i]
                    + Ixx_0[i + 1] + Ixx_p1[i - 1] + Ixx_p1[i] + Ixx_p1[i + 1];
                const float Syy = Iyy_m1[i - 1] + Iyy_m1[i] + Iyy_m1[i + 1] + Iyy_0[i - 1] + Iyy_0[i]
                    + Iyy_0[i + 1] + Iyy_p1[i - 1] + Iyy_p1[i] + Iyy_p1[i + 1];
                const float Sxy = Ixy_m1[i - 1] + Ixy_m1[i] + Ixy_m1[i + 1] + Ixy_0[i - 1] + Ixy_0[i]
                    + Ixy_0[i + 1] + Ixy_p1[i - 1] + Ixy_p1[i] + Ixy_p1[i + 1];
                const float det = Sxx * Syy - Sxy * Sxy;
                const float trace = Sxx + Syy;
                harris[y * harris_pitch + x] = det - 0.04f * trace * trace;
              }
            }
          } else {
            for (int32_t i = threadIdx.x; i < 72; i += blockDim.x) {
              const int32_t column = clamp_index(x0 + i - 8, in_w);
              for (int32_t r = 0; r < 12; ++r) {
                const int32_t row = y0 + r - 2;
                if (row < y1 + 2) {
                  in_rows[(int64_t)(row - y0 + 2) * 72 + i] = in[clamp_index(row, in_h) * in_pitch + column];
                }
              }
            }
            __syncwarp();
            for (int32_t t = threadIdx.x; t < columns + 2; t += blockDim.x) {
              const int32_t x = clamp_index(x0 + t - 1, in_w);
              const int32_t i = x - x0;
              for (int32_t row = max_i32(y0 - 1, 0); row < min_i32(y1 + 1, in_h); ++row) {
                float* Ixx_row = Ixx_rows + (int64_t)(row - y0 + 1) * 58;
                float* Iyy_row = Iyy_rows + (int64_t)(row - y0 + 1) * 58;
                float* Ixy_row = Ixy_rows + (int64_t)(row - y0 + 1) * 58;
                const float* in_m1 = in_rows + (int64_t)(row - y0 + 1) * 72 + 8;
                const float* in_p1 = in_rows + (int64_t)(row - y0 + 3) * 72 + 8;
                const float* in_0 = in_rows + (int64_t)(row - y0 + 2) * 72 + 8;
                const float Ix = -0.083333336f * in_m1[i - 1] - 0.16666667f * in_m1[i]
                    - 0.083333336f * in_m1[i + 1] + 0.083333336f * in_p1[i - 1] + 0.16666667f * in_p1[i]
                    + 0.083333336f * in_p1[i + 1];
                Ixx_row[t] = Ix * Ix;
                const float Iy = -0.083333336f * in_m1[i - 1] + 0.083333336f * in_m1[i + 1]
                    - 0.16666667f * in_0[i - 1] + 0.16666667f * in_0[i + 1] - 0.083333336f * in_p1[i - 1]
                    + 0.083333336f * in_p1[i + 1];
                Iyy_row[t] = Iy * Iy;
                Ixy_row[t] = Ix * Iy;
              }
            }
            __syncwarp();
            for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
              const int32_t x = x0 + i;
              for (int32_t y = y0; y < y1; ++y) {
                const float* Ixx_m1 = Ixx_rows + (int64_t)(clamp_index(y - 1, in_h) - y0 + 1) * 58 + 1;
                const float* Ixx_0 = Ixx_rows + (int64_t)(clamp_index(y, in_h) - y0 + 1) * 58 + 1;
                const float* Ixx_p1 = Ixx_rows + (int64_t)(clamp_index(y + 1, in_h) - y0 + 1) * 58 + 1;
                const float* Iyy_m1 = Iyy_rows + (int64_t)(clamp_index(y - 1, in_h) - y0 + 1) * 58 + 1;
                const float* Iyy_0 = Iyy_rows + (int64_t)(clamp_index(y, in_h) - y0 + 1) * 58 + 1;
                const float* Iyy_p1 = Iyy_rows + (int64_t)(clamp_index(y + 1, in_h) - y0 + 1) * 58 + 1;
                const float* Ixy_m1 = Ixy_rows + (int64_t)(clamp_index(y - 1, in_h) - y0 + 1) * 58 + 1;
                const float* Ixy_0 = Ixy_rows + (int64_t)(clamp_index(y, in_h) - y0 + 1) * 58 + 1;
                const float* Ixy_p1 = Ixy_rows + (int64_t)(clamp_index(y + 1, in_h) - y0 + 1) * 58 + 1;
                if (2 <= x && 2 <= y && x < in_w - 2 && y < in_h - 2) {
                  const float Sxx = Ixx_m1[i - 1] + Ixx_m1[i] + Ixx_m1[i + 1] + Ixx_0[i - 1] + Ixx_0[i]
                      + Ixx_0[i + 1] + Ixx_p1[i - 1] + Ixx_p1[i] + Ixx_p1[i + 1];
                  const float Syy = Iyy_m1[i - 1] + Iyy_m1[i] + Iyy_m1[i + 1] + Iyy_0[i - 1] + Iyy_0[i]
                      + Iyy_0[i + 1] + Iyy_p1[i - 1] + Iyy_p1[i] + Iyy_p1[i + 1];
                  const float Sxy = Ixy_m1[i - 1] + Ixy_m1[i] + Ixy_m1[i + 1] + Ixy_0[i - 1] + Ixy_0[i]
                      + Ixy_0[i + 1] + Ixy_p1[i - 1] + Ixy_p1[i] + Ixy_p1[i + 1];
                  const float det = Sxx * Syy - Sxy * Sxy;
                  const float trace = Sxx + Syy;
                  harris[y * harris_pitch + x] = det - 0.04f * trace * trace;
                } else {
                  harris[y * harris_pitch + x] = 0.0f;
                }
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

cudaError_t run_harris_corner(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* harris,
    int64_t harris_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(harris_kernel, {(in_w + 55) / 56 * 32, (in_h + 7) / 8, 1}, {32, 2, 1}, stream, in,
        harris, in_w, in_h, in_pitch, harris_pitch);
  }
  return status;
}

cudaError_t run_harris_corner_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    float* harris, int64_t harris_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_harris = nullptr;
  int64_t device_harris_pitch = (in_w + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_harris, device_harris_pitch * max_i64(in_h, 1),
      in_w == 0 || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_harris_corner(device_in, device_in_pitch, in_w, in_h, device_harris, device_harris_pitch,
        stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {harris_pitch}, from[] = {device_harris_pitch};
    status = copy_rows(harris, to, device_harris, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_harris, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace harris_corner
