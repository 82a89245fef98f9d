// Pipeline 'harris', emitted by Weft. How it runs:
//   dx   stored: 2 stages read it: sx, sxy
//   sx   stored: 'gx' reads it at other pixels than its own
//   gx   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   dy   stored: 2 stages read it: sy, sxy
//   sy   stored: 'gy' reads it at other pixels than its own
//   gy   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   sxy  stored: 'gxy' reads it at other pixels than its own
//   gxy  computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   hc   stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c harris.cu
#include "harris.h"

namespace harris {

namespace {

__device__ inline int32_t thread_x() { return (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int32_t thread_y() { return (int32_t)(blockIdx.y * blockDim.y + threadIdx.y); }
__device__ inline int32_t threads_x() { return (int32_t)(blockDim.x * gridDim.x); }
__device__ inline int32_t threads_y() { return (int32_t)(blockDim.y * gridDim.y); }
__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
// i itself inside [0, n), else the nearest index.
__host__ __device__ inline int32_t clamp_index(int32_t i, int32_t n) {
  const int32_t last = n - 1;
  i = i < last ? i : last;
  return i > 0 ? i : 0;
}
// The widest accesses that n scalars can be divided into.
template <class T, int n>
struct Pack {
  static const int bytes = n * (int)sizeof(T);
  static const int width = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : sizeof(T);
  static const int scalars = width / (int)sizeof(T), chunks = bytes / width;
  struct __align__(width) Chunk { T at[scalars]; };
};

// pack = from[0], from[1], ..., which lies at a multiple of the width.
template <class T, int n>
__device__ inline void load_whole(T (&pack)[n], const T* from) {
  typedef Pack<T, n> P;
#pragma unroll
  for (int c = 0; c < P::chunks; ++c) {
    const typename P::Chunk chunk = ((const typename P::Chunk*)from)[c];
#pragma unroll
    for (int i = 0; i < P::scalars; ++i) pack[c * P::scalars + i] = chunk.at[i];
  }
}

// pack = from[0], from[1], ...: the first `valid`, then zeros.
template <class T, int n>
__device__ inline void load_pack(T (&pack)[n], const T* from, int64_t valid) {
  if (valid >= n && (size_t)from % Pack<T, n>::width == 0) {
    load_whole(pack, from);
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) pack[i] = i < valid ? from[i] : T();
  }
}

// to[0], to[1], ... = a pack; they lie at a multiple of the width.
template <class T, int n>
__device__ inline void store_whole(T* to, const T (&pack)[n]) {
  typedef Pack<T, n> P;
#pragma unroll
  for (int c = 0; c < P::chunks; ++c) {
    typename P::Chunk chunk;
#pragma unroll
    for (int i = 0; i < P::scalars; ++i) chunk.at[i] = pack[c * P::scalars + i];
    ((typename P::Chunk*)to)[c] = chunk;
  }
}

// to[0], to[1], ... = the first `valid` of a pack.
template <class T, int n>
__device__ inline void store_pack(T* to, const T (&pack)[n], int64_t valid) {
  if (valid >= n && (size_t)to % Pack<T, n>::width == 0) {
    store_whole(to, pack);
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (i < valid) to[i] = pack[i];
    }
  }
}

// 'dx'. Each block of threads goes down a strip of 256 pixels, 8 rows at
// a time, and keeps the rows of 'in' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) dx_kernel(const float* __restrict__ in, float* __restrict__ dx,
    int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t dx_pitch) {
  __shared__ float in_rows[4352];
  const int32_t rows = 8192 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 64
      : 4096 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 32 : 8;
  for (int32_t x0 = blockIdx.x * 256; x0 < in_w; x0 += gridDim.x * 256) {
    const int32_t columns = min_i32(256, in_w - x0);
    for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
      const int32_t y1 = min_i32(y0 + rows, in_h);
      for (int32_t batch = y0 - 2; batch < y1; batch += 8) {
        __syncthreads();
        for (int32_t i = threadIdx.x; i < 272; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 8, in_w);
          for (int32_t r = 0; r < 8; ++r) {
            const int32_t row = batch + r + 1;
            if (y0 - 1 <= row && row < y1 + 1) {
              in_rows[(row & 15) * 272 + i] = in[clamp_index(row, in_h) * in_pitch + column];
            }
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 8, y1); ++y) {
            const float* in_m1 = in_rows + ((y - 1) & 15) * 272 + 8;
            const float* in_0 = in_rows + (y & 15) * 272 + 8;
            const float* in_p1 = in_rows + ((y + 1) & 15) * 272 + 8;
            dx[y * dx_pitch + x] = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_m1[i + 1]
                - 0.16666667f * in_0[i - 1] + 0.16666667f * in_0[i + 1] - 0.16666667f * in_p1[i - 1]
                + 0.16666667f * in_p1[i + 1];
          }
        }
      }
    }
  }
}

// 'sx' from 'dx'.
__global__ void __launch_bounds__(128, 1) sx_kernel(const float* __restrict__ dx, float* __restrict__ sx,
    int32_t in_w, int32_t in_h, int64_t dx_pitch, int64_t sx_pitch) {
  for (int32_t y = thread_y(); y < in_h; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < in_w; x0 += threads_x() * 4) {
      float dx_pack[4];
      load_pack(dx_pack, dx + y * dx_pitch + x0, in_w - x0);
      float sx_pack[4];
      #pragma unroll
      for (int32_t k_2 = 0; k_2 < 4; ++k_2) {
        sx_pack[k_2] = dx_pack[k_2] * dx_pack[k_2];
      }
      store_pack(sx + y * sx_pitch + x0, sx_pack, in_w - x0);
    }
  }
}

// 'dy'. Each block of threads goes down a strip of 256 pixels, 8 rows at
// a time, and keeps the rows of 'in' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) dy_kernel(const float* __restrict__ in, float* __restrict__ dy,
    int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t dy_pitch) {
  __shared__ float in_rows_2[4352];
  const int32_t rows = 8192 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 64
      : 4096 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 32 : 8;
  for (int32_t x0 = blockIdx.x * 256; x0 < in_w; x0 += gridDim.x * 256) {
    const int32_t columns = min_i32(256, in_w - x0);
    for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
      const int32_t y1 = min_i32(y0 + rows, in_h);
      for (int32_t batch = y0 - 2; batch < y1; batch += 8) {
        __syncthreads();
        for (int32_t i = threadIdx.x; i < 272; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 8, in_w);
          for (int32_t r = 0; r < 8; ++r) {
            const int32_t row = batch + r + 1;
            if (y0 - 1 <= row && row < y1 + 1) {
              in_rows_2[(row & 15) * 272 + i] = in[clamp_index(row, in_h) * in_pitch + column];
            }
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 8, y1); ++y) {
            const float* in_m1 = in_rows_2 + ((y - 1) & 15) * 272 + 8;
            const float* in_p1 = in_rows_2 + ((y + 1) & 15) * 272 + 8;
            dy[y * dy_pitch + x] = -0.16666667f * in_m1[i - 1] - 0.16666667f * in_m1[i]
                - 0.16666667f * in_m1[i + 1] + 0.16666667f * in_p1[i - 1] + 0.16666667f * in_p1[i]
                + 0.16666667f * in_p1[i + 1];
          }
        }
      }
    }
  }
}

// 'sy' from 'dy'.
__global__ void __launch_bounds__(128, 1) sy_kernel(const float* __restrict__ dy, float* __restrict__ sy,
    int32_t in_w, int32_t in_h, int64_t dy_pitch, int64_t sy_pitch) {
  for (int32_t y = thread_y(); y < in_h; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < in_w; x0 += threads_x() * 4) {
      float dy_pack[4];
      load_pack(dy_pack, dy + y * dy_pitch + x0, in_w - x0);
      float sy_pack[4];
      #pragma unroll
      for (int32_t k_2 = 0; k_2 < 4; ++k_2) {
        sy_pack[k_2] = dy_pack[k_2] * dy_pack[k_2];
      }
      store_pack(sy + y * sy_pitch + x0, sy_pack, in_w - x0);
    }
  }
}

// 'sxy' from 'dx', 'dy'.
__global__ void __launch_bounds__(128, 1) sxy_kernel(const float* __restrict__ dx,
    const float* __restrict__ dy, float* __restrict__ sxy, int32_t in_w, int32_t in_h, int64_t dx_pitch,
    int64_t dy_pitch, int64_t sxy_pitch) {
  for (int32_t y = thread_y(); y < in_h; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < in_w; x0 += threads_x() * 4) {
      float dx_pack[4];
      load_pack(dx_pack, dx + y * dx_pitch + x0, in_w - x0);
      float dy_pack[4];
      load_pack(dy_pack, dy + y * dy_pitch + x0, in_w - x0);
      float sxy_pack[4];
      #pragma unroll
      for (int32_t k_2 = 0; k_2 < 4; ++k_2) {
        sxy_pack[k_2] = dx_pack[k_2] * dy_pack[k_2];
      }
      store_pack(sxy + y * sxy_pitch + x0, sxy_pack, in_w - x0);
    }
  }
}

// 'hc'. Each block of threads goes down a strip of 256 pixels, 6 rows at
// a time, and keeps the rows of 'sxy', 'sy', 'sx' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) hc_kernel(float* __restrict__ hc, const float* __restrict__ sx,
    const float* __restrict__ sy, const float* __restrict__ sxy, int32_t in_w, int32_t in_h,
    int64_t hc_pitch, int64_t sx_pitch, int64_t sy_pitch, int64_t sxy_pitch, float k) {
  __shared__ float sxy_rows[2176];
  __shared__ float sy_rows[2176];
  __shared__ float sx_rows[2176];
  const int32_t rows = 8192 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 64
      : 4096 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 32 : 8;
  for (int32_t x0 = blockIdx.x * 256; x0 < in_w; x0 += gridDim.x * 256) {
    const int32_t columns = min_i32(256, in_w - x0);
    for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
      const int32_t y1 = min_i32(y0 + rows, in_h);
      for (int32_t batch = y0 - 2; batch < y1; batch += 6) {
        __syncthreads();
        for (int32_t i = threadIdx.x; i < 272; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 8, in_w);
          for (int32_t r = 0; r < 6; ++r) {
            const int32_t row = batch + r + 1;
            if (y0 - 1 <= row && row < y1 + 1) {
              sxy_rows[(row & 7) * 272 + i] = sxy[clamp_index(row, in_h) * sxy_pitch + column];
            }
          }
        }
        for (int32_t i = threadIdx.x; i < 272; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 8, in_w);
          for (int32_t r = 0; r < 6; ++r) {
            const int32_t row = batch + r + 1;
            if (y0 - 1 <= row && row < y1 + 1) {
              sy_rows[(row & 7) * 272 + i] = sy[clamp_index(row, in_h) * sy_pitch + column];
            }
          }
        }
        for (int32_t i = threadIdx.x; i < 272; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 8, in_w);
          for (int32_t r = 0; r < 6; ++r) {
            const int32_t row = batch + r + 1;
            if (y0 - 1 <= row && row < y1 + 1) {
              sx_rows[(row & 7) * 272 + i] = sx[clamp_index(row, in_h) * sx_pitch + column];
            }
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 6, y1); ++y) {
            const float* sx_m1 = sx_rows + ((y - 1) & 7) * 272 + 8;
            const float* sx_0 = sx_rows + (y & 7) * 272 + 8;
            const float* sx_p1 = sx_rows + ((y + 1) & 7) * 272 + 8;
            const float* sy_m1 = sy_rows + ((y - 1) & 7) * 272 + 8;
            const float* sy_0 = sy_rows + (y & 7) * 272 + 8;
            const float* sy_p1 = sy_rows + ((y + 1) & 7) * 272 + 8;
            const float* sxy_m1 = sxy_rows + ((y - 1) & 7) * 272 + 8;
            const float* sxy_0 = sxy_rows + (y & 7) * 272 + 8;
            const float* sxy_p1 = sxy_rows + ((y + 1) & 7) * 272 + 8;
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

cudaError_t run_harris(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k, float* hc,
    int64_t hc_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  float* dx = nullptr;
  int64_t dx_pitch = (in_w + 31) / 32 * 32;
  float* sx = nullptr;
  int64_t sx_pitch = (in_w + 31) / 32 * 32;
  float* dy = nullptr;
  int64_t dy_pitch = (in_w + 31) / 32 * 32;
  float* sy = nullptr;
  int64_t sy_pitch = (in_w + 31) / 32 * 32;
  float* sxy = nullptr;
  int64_t sxy_pitch = (in_w + 31) / 32 * 32;

  if (status == cudaSuccess) status = allocate(dx, dx_pitch * max_i64(in_h, 1), in_w == 0 || in_h == 0,
      stream);
  if (status == cudaSuccess) {
    status = launch(dx_kernel, {(in_w + 255) / 256 * 256, 8192 <= in_h * ((in_w + 255) / 256)
        ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 255) / 256) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
        {256, 1, 1}, stream, in, dx, in_w, in_h, in_pitch, dx_pitch);
  }

  if (status == cudaSuccess) status = allocate(sx, sx_pitch * max_i64(in_h, 1), in_w == 0 || in_h == 0,
      stream);
  if (status == cudaSuccess) {
    status = launch(sx_kernel, {(in_w + 3) / 4, in_h, 1}, {32, 4, 1}, stream, dx, sx, in_w, in_h, dx_pitch,
        sx_pitch);
  }

  if (status == cudaSuccess) status = allocate(dy, dy_pitch * max_i64(in_h, 1), in_w == 0 || in_h == 0,
      stream);
  if (status == cudaSuccess) {
    status = launch(dy_kernel, {(in_w + 255) / 256 * 256, 8192 <= in_h * ((in_w + 255) / 256)
        ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 255) / 256) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
        {256, 1, 1}, stream, in, dy, in_w, in_h, in_pitch, dy_pitch);
  }

  if (status == cudaSuccess) status = allocate(sy, sy_pitch * max_i64(in_h, 1), in_w == 0 || in_h == 0,
      stream);
  if (status == cudaSuccess) {
    status = launch(sy_kernel, {(in_w + 3) / 4, in_h, 1}, {32, 4, 1}, stream, dy, sy, in_w, in_h, dy_pitch,
        sy_pitch);
  }

  if (status == cudaSuccess) status = allocate(sxy, sxy_pitch * max_i64(in_h, 1), in_w == 0 || in_h == 0,
      stream);
  if (status == cudaSuccess) {
    status = launch(sxy_kernel, {(in_w + 3) / 4, in_h, 1}, {32, 4, 1}, stream, dx, dy, sxy, in_w, in_h,
        dx_pitch, dy_pitch, sxy_pitch);
  }
  release(dx, stream);
  release(dy, stream);

  if (status == cudaSuccess) {
    status = launch(hc_kernel, {(in_w + 255) / 256 * 256, 8192 <= in_h * ((in_w + 255) / 256)
        ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 255) / 256) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
        {256, 1, 1}, stream, hc, sx, sy, sxy, in_w, in_h, hc_pitch, sx_pitch, sy_pitch, sxy_pitch, k);
  }
  release(sx, stream);
  release(sy, stream);
  release(sxy, stream);
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
