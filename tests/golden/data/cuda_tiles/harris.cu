// Pipeline 'harris', emitted by Weft. How it runs:
//   dx   computed in hc: sx, sxy read it at the same pixel, in one loop: no store, no load
//   sx   in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gx   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   dy   computed in hc: sy, sxy read it at the same pixel, in one loop: no store, no load
//   sy   in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gy   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   sxy  in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gxy  computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   hc   stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -c harris.cu
#include "harris.h"

namespace harris {

namespace {

__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
// i itself inside [0, n), else the nearest index.
__host__ __device__ inline int32_t clamp_index(int32_t i, int32_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
}

// 'hc' with 'sx', 'sy', 'sxy'. Each block of threads goes down a strip of 248 pixels, 6 rows at
// a time, and keeps the rows of 'in', 'sx', 'sy', 'sxy' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) hc_kernel(const float* __restrict__ in, float* __restrict__ hc,
    int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t hc_pitch, float k) {
  __shared__ float in_rows[2112];
  __shared__ float sx_rows[2000];
  __shared__ float sy_rows[2000];
  __shared__ float sxy_rows[2000];
  const int32_t rows = 8192 <= (int64_t)in_h * (int64_t)((in_w + 247) / 248) ? 64
      : 4096 <= (int64_t)in_h * (int64_t)((in_w + 247) / 248) ? 32 : 8;
  for (int32_t x0 = blockIdx.x * 248; x0 < in_w; x0 += gridDim.x * 248) {
    const int32_t columns = min_i32(248, in_w - x0);
    for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
      const int32_t y1 = min_i32(y0 + rows, in_h);
      for (int32_t batch = y0 - 4; batch < y1; batch += 6) {
        for (int32_t i = threadIdx.x; i < 264; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 8, in_w);
          for (int32_t r = 0; r < 6; ++r) {
            const int32_t row = batch + r + 2;
            if (y0 - 2 <= row && row < y1 + 2) {
              in_rows[(row & 7) * 264 + i] = in[clamp_index(row, in_h) * in_pitch + column];
            }
          }
        }
        __syncthreads();
        for (int32_t t = threadIdx.x; t < columns + 2; t += blockDim.x) {
          const int32_t x = clamp_index(x0 + t - 1, in_w);
          const int32_t i = x - x0;
          const int32_t first = max_i32(max_i32(batch + 1, y0 - 1), 0);
          const int32_t last = min_i32(min_i32(batch + 7, y1 + 1), in_h);
          for (int32_t row = first; row < last; ++row) {
            float* sx_row = sx_rows + (row & 7) * 250;
            float* sy_row = sy_rows + (row & 7) * 250;
            float* sxy_row = sxy_rows + (row & 7) * 250;
            const float* in_m1 = in_rows + ((row - 1) & 7) * 264 + 8;
            const float* in_0 = in_rows + (row & 7) * 264 + 8;
            const float* in_p1 = in_rows + ((row + 1) & 7) * 264 + 8;
            const float dx = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_m1[i + 1]
                - 0.16666667f * in_0[i - 1] + 0.16666667f * in_0[i + 1] - 0.16666667f * in_p1[i - 1]
                + 0.16666667f * in_p1[i + 1];
            sx_row[t] = dx * dx;
            const float dy = -0.16666667f * in_m1[i - 1] - 0.16666667f * in_m1[i]
                - 0.16666667f * in_m1[i + 1] + 0.16666667f * in_p1[i - 1] + 0.16666667f * in_p1[i]
                + 0.16666667f * in_p1[i + 1];
            sy_row[t] = dy * dy;
            sxy_row[t] = dx * dy;
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 6, y1); ++y) {
            const float* sx_m1 = sx_rows + (clamp_index(y - 1, in_h) & 7) * 250 + 1;
            const float* sx_0 = sx_rows + (clamp_index(y, in_h) & 7) * 250 + 1;
            const float* sx_p1 = sx_rows + (clamp_index(y + 1, in_h) & 7) * 250 + 1;
            const float* sy_m1 = sy_rows + (clamp_index(y - 1, in_h) & 7) * 250 + 1;
            const float* sy_0 = sy_rows + (clamp_index(y, in_h) & 7) * 250 + 1;
            const float* sy_p1 = sy_rows + (clamp_index(y + 1, in_h) & 7) * 250 + 1;
            const float* sxy_m1 = sxy_rows + (clamp_index(y - 1, in_h) & 7) * 250 + 1;
            const float* sxy_0 = sxy_rows + (clamp_index(y, in_h) & 7) * 250 + 1;
            const float* sxy_p1 = sxy_rows + (clamp_index(y + 1, in_h) & 7) * 250 + 1;
            const float gx = 0.0625f * sx_m1[i - 1] + 0.125f * sx_m1[i] + 0.0625f * sx_m1[i + 1]
                + 0.125f * sx_0[i - 1] + 0.25f * sx_0[i] + 0.125f * sx_0[i + 1] + 0.0625f * sx_p1[i - 1]
                + 0.125f * sx_p1[i] + 0.0625f * sx_p1[i + 1];
            const float gy = 0.0625f * sy_m1[i - 1] + 0.125f * sy_m1[i] + 0.0625f * sy_m1[i + 1]
                + 0.125f * sy_0[i - 1] + 0.25f * sy_0[i] + 0.125f * sy_0[i + 1] + 0.0625f * sy_p1[i - 1]
                + 0.125f * sy_p1[i] + 0.0625f * sy_p1[i + 1];
            const float gxy = 0.0625f * sxy_m1[i - 1] + 0.125f * sxy_m1[i] + 0.0625f * sxy_m1[i + 1]
                + 0.125f * sxy_0[i - 1] + 0.25f * sxy_0[i] + 0.125f * sxy_0[i + 1] + 0.0625f * sxy_p1[i - 1]
                + 0.125f * sxy_p1[i] + 0.0625f * sxy_p1[i + 1];
            hc[y * hc_pitch + x] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
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

// Launches a kernel with enough blocks for so many threads; its loops make up for the limits of grids. Sizes that
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

cudaError_t run_harris(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k, float* hc,
    int64_t hc_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(hc_kernel, {(in_w + 247) / 248 * 256, 8192 <= in_h * ((in_w + 247) / 248)
        ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 247) / 248) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
        {256, 1, 1}, stream, in, hc, in_w, in_h, in_pitch, hc_pitch, k);
  }
  return status;
}

cudaError_t run_harris_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k,
    float* hc, int64_t hc_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_hc = nullptr;
  int64_t device_hc_pitch = (in_w + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_hc, device_hc_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_harris(device_in, device_in_pitch, in_w, in_h, k, device_hc, device_hc_pitch, stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {hc_pitch}, from[] = {device_hc_pitch};
    status = copy_rows(hc, to, device_hc, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_hc, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace harris
