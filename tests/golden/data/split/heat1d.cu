// Pipeline 'heat1d', emitted by Weft. How it runs:
//   heat1d  stored: it is an output; a step takes least if one kernel takes 32 in split tiles (by the model, 1: 0.035 ms, 4 split: 0.02, 8 split: 0.0156, 16 split: 0.0134, 32 split: 0.0128)
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c heat1d.cu
#include "heat1d.h"

namespace heat1d {

namespace {

__device__ inline int64_t wide_thread_x() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline int64_t wide_threads_x() { return (int64_t)blockDim.x * gridDim.x; }
template <class T>
__host__ __device__ inline void exchange(T& a, T& b) {
  const T old = a;
  a = b;
  b = old;
}
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// x % 0 is 0.
__host__ __device__ inline int64_t rem_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
// i itself inside [0, n), else the nearest index.
__host__ __device__ inline int64_t wide_clamp_index(int64_t i, int64_t n) {
  const int64_t last = n - 1;
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

// row[first], row[first + 1], ... = from[0], from[1], ..., n of them, which lie at a multiple of the width.
template <int first, int n, class T, int columns>
__device__ inline void load_columns(T (&row)[columns], const T* from) {
  T pack[n];
  load_whole(pack, from);
#pragma unroll
  for (int i = 0; i < n; ++i) row[first + i] = pack[i];
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

// 'heat1d' before the first step: 'in'.
__global__ void __launch_bounds__(128, 1) heat1d_start(const float* __restrict__ in,
    float* __restrict__ heat1d, float* __restrict__ heat1d_1, int64_t in_w) {
  for (int64_t x0 = wide_thread_x() * 4; x0 < in_w; x0 += wide_threads_x() * 4) {
    float in_pack[4];
    load_pack(in_pack, in + x0, in_w - x0);
    store_pack(heat1d + x0, in_pack, in_w - x0);
    store_pack(heat1d_1 + x0, in_pack, in_w - x0);
  }
}

// Up to 32 steps of 'heat1d' from the step `step` on, in the tiles that are upright.
__global__ void __launch_bounds__(256, 1) heat1d_split(float* __restrict__ heat1d,
    float* __restrict__ heat1d_1, int64_t in_w, int32_t steps, int32_t step) {
  const int64_t x_tiles = max_i64((in_w + 4126) / 4096, 0);
  const int64_t taken = min_i64(32, (int64_t)(steps / 2 * 2) - (int64_t)step);
  for (int64_t tile = blockIdx.x; tile < x_tiles; tile += gridDim.x) {
    const int64_t x_tile = rem_i64(tile, x_tiles);
    const int64_t x_begin = x_tile * 4096;
    const int32_t x_begin_lean = -1;
    const int64_t x_end = x_tile * 4096 + 4034;
    const int32_t x_end_lean = 1;
    __syncthreads();
    for (int64_t done = 0; done < taken; done += 2) {
      {
        {
          const int64_t levels = taken - done - 1;
          const int64_t x_first = max_i64(x_begin + x_begin_lean * levels, 1);
          const int64_t x_count = max_i64(min_i64(x_end + x_end_lean * levels, in_w - 1) - x_first, 0);
          __syncthreads();
          for (int64_t thread = threadIdx.x; thread < x_count; thread += blockDim.x) {
            const int64_t x = x_first + thread;
            heat1d_1[x] = 0.25f * (heat1d[x + 1] - 2.0f * heat1d[x] + heat1d[x - 1]) + heat1d[x];
          }
        }
      }
      {
        {
          const int64_t levels = taken - done - 2;
          const int64_t x_first = max_i64(x_begin + x_begin_lean * levels, 1);
          const int64_t x_count = max_i64(min_i64(x_end + x_end_lean * levels, in_w - 1) - x_first, 0);
          __syncthreads();
          for (int64_t thread = threadIdx.x; thread < x_count; thread += blockDim.x) {
            const int64_t x = x_first + thread;
            heat1d[x] = 0.25f * (heat1d_1[x + 1] - 2.0f * heat1d_1[x] + heat1d_1[x - 1]) + heat1d_1[x];
          }
        }
      }
    }
  }
}

// Up to 32 steps of 'heat1d' from the step `step` on, in the tiles that are inverted along x.
__global__ void __launch_bounds__(256, 1) heat1d_split_2(float* __restrict__ heat1d,
    float* __restrict__ heat1d_1, int64_t in_w, int32_t steps, int32_t step) {
  const int64_t x_tiles = max_i64((in_w + 4126) / 4096, 0);
  const int64_t taken = min_i64(32, (int64_t)(steps / 2 * 2) - (int64_t)step);
  for (int64_t tile = blockIdx.x; tile < x_tiles; tile += gridDim.x) {
    const int64_t x_tile = rem_i64(tile, x_tiles);
    const int64_t x_begin = x_tile * 4096 + 4034;
    const int32_t x_begin_lean = 1;
    const int64_t x_end = x_tile * 4096 + 4096;
    const int32_t x_end_lean = -1;
    __syncthreads();
    for (int64_t done = 0; done < taken; done += 2) {
      {
        {
          const int64_t levels = taken - done - 1;
          const int64_t x_first = max_i64(x_begin + x_begin_lean * levels, 1);
          const int64_t x_count = max_i64(min_i64(x_end + x_end_lean * levels, in_w - 1) - x_first, 0);
          __syncthreads();
          for (int64_t thread = threadIdx.x; thread < x_count; thread += blockDim.x) {
            const int64_t x = x_first + thread;
            heat1d_1[x] = 0.25f * (heat1d[x + 1] - 2.0f * heat1d[x] + heat1d[x - 1]) + heat1d[x];
          }
        }
      }
      {
        {
          const int64_t levels = taken - done - 2;
          const int64_t x_first = max_i64(x_begin + x_begin_lean * levels, 1);
          const int64_t x_count = max_i64(min_i64(x_end + x_end_lean * levels, in_w - 1) - x_first, 0);
          __syncthreads();
          for (int64_t thread = threadIdx.x; thread < x_count; thread += blockDim.x) {
            const int64_t x = x_first + thread;
            heat1d[x] = 0.25f * (heat1d_1[x + 1] - 2.0f * heat1d_1[x] + heat1d_1[x - 1]) + heat1d_1[x];
          }
        }
      }
    }
  }
}

// 'heat1d' from 'u'.
__global__ void __launch_bounds__(128, 1) heat1d_kernel(float* __restrict__ heat1d,
    const float* __restrict__ heat1d_1, int64_t in_w) {
  const bool heat1d_aligned = (size_t)(heat1d) % 16 == 0;
  const bool heat1d_1_aligned = (size_t)(heat1d_1) % 16 == 0;
  for (int64_t x0 = wide_thread_x() * 4; x0 < in_w - 1; x0 += wide_threads_x() * 4) {
    if (heat1d_aligned && heat1d_1_aligned && 1 <= x0 && x0 + 4 <= in_w - 1 && x0 + 4 <= in_w) {
      float heat1d_1_row[6];
      load_columns<1, 4>(heat1d_1_row, heat1d_1 + x0);
      const int64_t x_m1 = wide_clamp_index(x0 - 1, in_w);
      heat1d_1_row[0] = heat1d_1[x_m1];
      const int64_t x_p4 = wide_clamp_index(x0 + 4, in_w);
      heat1d_1_row[5] = heat1d_1[x_p4];
      float heat1d_pack[4];
      #pragma unroll
      for (int32_t k = 0; k < 4; ++k) {
        heat1d_pack[k] = 0.25f * (heat1d_1_row[k + 2] - 2.0f * heat1d_1_row[k + 1] + heat1d_1_row[k])
            + heat1d_1_row[k + 1];
      }
      store_whole(heat1d + x0, heat1d_pack);
    } else {
      #pragma unroll 1
      for (int64_t x = max_i64(x0, 1); x < min_i64(x0 + 4, in_w - 1); ++x) {
        heat1d[x] = 0.25f * (heat1d_1[x + 1] - 2.0f * heat1d_1[x] + heat1d_1[x - 1]) + heat1d_1[x];
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

cudaError_t run_heat1d(const float* in, int64_t in_w, int32_t steps, float* heat1d, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  float* heat1d_1 = nullptr;
  int32_t step = 0;

  if (status == cudaSuccess) status = allocate(heat1d_1, max_i64(in_w, 1), in_w == 0, stream);
  if (status == cudaSuccess) {
    status = launch(heat1d_start, {(in_w + 3) / 4, 1, 1}, {128, 1, 1}, stream, in, heat1d, heat1d_1, in_w);
  }

  for (int64_t turn = 0 < max_i64(steps - (int64_t)steps / 2 * 2, 0)
      ? (2 - max_i64(steps - (int64_t)steps / 2 * 2, 0) % 2) % 2 : 0; turn > 0; --turn) {
    exchange(heat1d_1, heat1d);
  }
  for (step = 0; step < ((int64_t)steps / 2 * 2 + 31) / 32 * 32; step += 32) {
    if (status == cudaSuccess) {
      status = launch(heat1d_split, {max_i64((in_w + 4126) / 4096, 0) * 256, 1, 1}, {256, 1, 1}, stream,
          heat1d, heat1d_1, in_w, steps, step);
    }
    if (status == cudaSuccess) {
      status = launch(heat1d_split_2, {max_i64((in_w + 4126) / 4096, 0) * 256, 1, 1}, {256, 1, 1}, stream,
          heat1d, heat1d_1, in_w, steps, step);
    }
  }
  for (step = (int32_t)((int64_t)steps / 2 * 2); (int64_t)step < (int64_t)steps; ++step) {
    exchange(heat1d_1, heat1d);
    if (status == cudaSuccess) {
      status = launch(heat1d_kernel, {(in_w + 2) / 4, 1, 1}, {128, 1, 1}, stream, heat1d, heat1d_1, in_w);
    }
  }
  release(heat1d_1, stream);
  return status;
}

cudaError_t run_heat1d_on_host(const float* in, int64_t in_w, int32_t steps, float* heat1d) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  float* device_heat1d = nullptr;
  if (status == cudaSuccess) status = allocate(device_in, max_i64(in_w, 1), in_w == 0, stream);
  if (status == cudaSuccess) {
    status = copy_row(device_in, in, in_w, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_heat1d, max_i64(in_w, 1), in_w == 0, stream);
  if (status == cudaSuccess) {
    status = run_heat1d(device_in, in_w, steps, device_heat1d, stream);
  }
  if (status == cudaSuccess) {
    status = copy_row(heat1d, device_heat1d, in_w, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_heat1d, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace heat1d
