// Pipeline 'jacobi2d', emitted by Weft. How it runs:
//   jacobi2d  stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c jacobi2d.cu
#include "jacobi2d.h"

namespace jacobi2d {

namespace {

__device__ inline int32_t thread_x() { return (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int32_t thread_y() { return (int32_t)(blockIdx.y * blockDim.y + threadIdx.y); }
__device__ inline int32_t threads_x() { return (int32_t)(blockDim.x * gridDim.x); }
__device__ inline int32_t threads_y() { return (int32_t)(blockDim.y * gridDim.y); }
template <class T>
__host__ __device__ inline void exchange(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}
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

// 'jacobi2d' before the first step: 'in'.
__global__ void __launch_bounds__(128, 1) jacobi2d_start(const float* __restrict__ in,
    float* __restrict__ jacobi2d, int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t jacobi2d_pitch) {
  for (int32_t y = thread_y(); y < in_h; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < in_w; x0 += threads_x() * 4) {
      float in_pack[4];
      load_pack(in_pack, in + y * in_pitch + x0, in_w - x0);
      store_pack(jacobi2d + y * jacobi2d_pitch + x0, in_pack, in_w - x0);
    }
  }
}

// 'jacobi2d'. Each block of threads goes down a strip of 256 pixels, 8 rows at
// a time, and keeps the rows of 'u' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) jacobi2d_kernel(float* __restrict__ jacobi2d,
    const float* __restrict__ jacobi2d_1, int32_t in_w, int32_t in_h, int64_t jacobi2d_pitch,
    int64_t jacobi2d_1_pitch) {
  __shared__ float jacobi2d_1_rows[4352];
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
              jacobi2d_1_rows[(row & 15) * 272 + i] = jacobi2d_1[clamp_index(row, in_h) * jacobi2d_1_pitch
                  + column];
            }
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 8, y1); ++y) {
            const float* jacobi2d_1_0 = jacobi2d_1_rows + (y & 15) * 272 + 8;
            const float* jacobi2d_1_p1 = jacobi2d_1_rows + ((y + 1) & 15) * 272 + 8;
            const float* jacobi2d_1_m1 = jacobi2d_1_rows + ((y - 1) & 15) * 272 + 8;
            if (1 <= x && x < in_w - 1 && 1 <= y && y < in_h - 1) {
              jacobi2d[y * jacobi2d_pitch + x] = 0.2f
                  * (jacobi2d_1_0[i] + jacobi2d_1_0[i - 1] + jacobi2d_1_0[i + 1] + jacobi2d_1_p1[i]
                  + jacobi2d_1_m1[i]);
            } else {
              jacobi2d[y * jacobi2d_pitch + x] = jacobi2d_1_0[i];
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

cudaError_t run_jacobi2d(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, int32_t steps,
    float* jacobi2d, int64_t jacobi2d_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  float* jacobi2d_1 = nullptr;
  int64_t jacobi2d_1_pitch = (in_w + 31) / 32 * 32;
  int32_t step = 0;

  if (status == cudaSuccess) status = allocate(jacobi2d_1, jacobi2d_1_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  for (int64_t turn = 0 < max_i64((int64_t)steps <= 0 ? 1 : 0, 0) + max_i64((int64_t)steps, 0)
      ? (2 - (max_i64((int64_t)steps <= 0 ? 1 : 0, 0) + max_i64((int64_t)steps, 0)) % 2) % 2
      : 0; turn > 0; --turn) {
    exchange(jacobi2d_1, jacobi2d);
    exchange(jacobi2d_1_pitch, jacobi2d_pitch);
  }
  for (step = 0; (int64_t)step < ((int64_t)steps <= 0 ? 1 : 0); ++step) {
    exchange(jacobi2d_1, jacobi2d);
    exchange(jacobi2d_1_pitch, jacobi2d_pitch);
    if (status == cudaSuccess) {
      status = launch(jacobi2d_start, {(in_w + 3) / 4, in_h, 1}, {32, 4, 1}, stream, in, jacobi2d, in_w,
          in_h, in_pitch, jacobi2d_pitch);
    }
  }
  for (step = 0; (int64_t)step < (int64_t)steps; ++step) {
    exchange(jacobi2d_1, jacobi2d);
    exchange(jacobi2d_1_pitch, jacobi2d_pitch);
    auto* const own_jacobi2d_1 = jacobi2d_1;
    const int64_t own_jacobi2d_1_pitch = jacobi2d_1_pitch;
    if (step == 0) {
      // The first step reads what the fields begin with where it lies.
      jacobi2d_1 = const_cast<float*>(in);
      jacobi2d_1_pitch = in_pitch;
    }
    if (status == cudaSuccess) {
      status = launch(jacobi2d_kernel, {(in_w + 255) / 256 * 256, 8192 <= in_h * ((in_w + 255) / 256)
          ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 255) / 256) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
          {256, 1, 1}, stream, jacobi2d, jacobi2d_1, in_w, in_h, jacobi2d_pitch, jacobi2d_1_pitch);
    }
    jacobi2d_1 = own_jacobi2d_1;
    jacobi2d_1_pitch = own_jacobi2d_1_pitch;
  }
  release(jacobi2d_1, stream);
  return status;
}

cudaError_t run_jacobi2d_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    int32_t steps, float* jacobi2d, int64_t jacobi2d_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_jacobi2d = nullptr;
  int64_t device_jacobi2d_pitch = (in_w + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_jacobi2d, device_jacobi2d_pitch * max_i64(in_h, 1),
      in_w == 0 || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_jacobi2d(device_in, device_in_pitch, in_w, in_h, steps, device_jacobi2d,
        device_jacobi2d_pitch, stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {jacobi2d_pitch}, from[] = {device_jacobi2d_pitch};
    status = copy_rows(jacobi2d, to, device_jacobi2d, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_jacobi2d, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace jacobi2d
