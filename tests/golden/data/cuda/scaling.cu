// Pipeline 'scaling', emitted by Weft. How it runs:
//   scaling_weight_y  stored: 'scaling' reads it at other pixels than its own
//   scaling_weight_x  stored: 'scaling' reads it at other pixels than its own
//   scaling_index_x   stored: 'scaling' reads it at other pixels than its own
//   scaling_index_y   stored: 'scaling' reads it at other pixels than its own
//   scaling           stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c scaling.cu
#include "scaling.h"

namespace scaling {

namespace {

__device__ inline int32_t thread_x() { return (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int32_t thread_y() { return (int32_t)(blockIdx.y * blockDim.y + threadIdx.y); }
__device__ inline int32_t threads_x() { return (int32_t)(blockDim.x * gridDim.x); }
__device__ inline int32_t threads_y() { return (int32_t)(blockDim.y * gridDim.y); }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
__host__ __device__ inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// x % 0 is 0.
__host__ __device__ inline int64_t rem_i64(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
// i itself inside [0, n), else the nearest index.
__host__ __device__ inline int32_t clamp_index(int32_t i, int32_t n) {
  const int32_t last = n - 1;
  i = i < last ? i : last;
  return i > 0 ? i : 0;
}
// x / 0 is 0, and the least value / -1 wraps.
__host__ __device__ inline int64_t div_i64(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? (int64_t)-(uint64_t)a : a / b; }
// The widest accesses that n scalars can be divided into.
template <class T, int n>
struct Pack {
  static const int bytes = n * (int)sizeof(T);
  static const int width = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : sizeof(T);
  static const int scalars = width / (int)sizeof(T), chunks = bytes / width;
  struct __align__(width) Chunk { T at[scalars]; };
};

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

// 'scaling_weight_y'.
__global__ void __launch_bounds__(128, 1) scaling_weight_y_kernel(float* __restrict__ scaling_weight_y,
    int32_t in_h, int64_t scaling_weight_y_pitch) {
  for (int32_t y = thread_y(); y < 2; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < (in_h + 1) / 2; x0 += threads_x() * 4) {
      float scaling_weight_y_pack[4];
      #pragma unroll
      for (int32_t k = 0; k < 4; ++k) {
        const int32_t x = x0 + k;
        if (y == 0) {
          const int32_t v = (in_h + 1) / 2;
          const float v_2 = (float)rem_i64((int64_t)(2 * x + 1) * (int64_t)in_h + v, (int64_t)(2 * v))
              / (float)(2 * v);
          scaling_weight_y_pack[k] = 1.0f - v_2;
        } else {
          const int32_t v_3 = (in_h + 1) / 2;
          const float v_4 = (float)rem_i64((int64_t)(2 * x + 1) * (int64_t)in_h + v_3, (int64_t)(2 * v_3))
              / (float)(2 * v_3);
          scaling_weight_y_pack[k] = v_4;
        }
      }
      store_pack(scaling_weight_y + y * scaling_weight_y_pitch + x0, scaling_weight_y_pack, (in_h + 1) / 2
          - x0);
    }
  }
}

// 'scaling_weight_x'.
__global__ void __launch_bounds__(128, 1) scaling_weight_x_kernel(float* __restrict__ scaling_weight_x,
    int32_t in_w, int64_t scaling_weight_x_pitch) {
  for (int32_t y = thread_y(); y < 2; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < (in_w + 1) / 2; x0 += threads_x() * 4) {
      float scaling_weight_x_pack[4];
      #pragma unroll
      for (int32_t k = 0; k < 4; ++k) {
        const int32_t x = x0 + k;
        if (y == 0) {
          const int32_t v = (in_w + 1) / 2;
          const float v_2 = (float)rem_i64((int64_t)(2 * x + 1) * (int64_t)in_w + v, (int64_t)(2 * v))
              / (float)(2 * v);
          scaling_weight_x_pack[k] = 1.0f - v_2;
        } else {
          const int32_t v_3 = (in_w + 1) / 2;
          const float v_4 = (float)rem_i64((int64_t)(2 * x + 1) * (int64_t)in_w + v_3, (int64_t)(2 * v_3))
              / (float)(2 * v_3);
          scaling_weight_x_pack[k] = v_4;
        }
      }
      store_pack(scaling_weight_x + y * scaling_weight_x_pitch + x0, scaling_weight_x_pack, (in_w + 1) / 2
          - x0);
    }
  }
}

// 'scaling_index_x'.
__global__ void __launch_bounds__(128, 1) scaling_index_x_kernel(int32_t* __restrict__ scaling_index_x,
    int32_t in_w, int64_t scaling_index_x_pitch) {
  for (int32_t y = thread_y(); y < 2; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < (in_w + 1) / 2; x0 += threads_x() * 4) {
      int32_t scaling_index_x_pack[4];
      #pragma unroll
      for (int32_t k = 0; k < 4; ++k) {
        const int32_t x = x0 + k;
        const int32_t v = (in_w + 1) / 2;
        scaling_index_x_pack[k] = (int32_t)min_i64(max_i64(div_i64((int64_t)(2 * x + 1) * (int64_t)in_w + v,
            (int64_t)(2 * v)) - 1 + y, 0), (int64_t)(in_w - 1));
      }
      store_pack(scaling_index_x + y * scaling_index_x_pitch + x0, scaling_index_x_pack, (in_w + 1) / 2 - x0);
    }
  }
}

// 'scaling_index_y'.
__global__ void __launch_bounds__(128, 1) scaling_index_y_kernel(int32_t* __restrict__ scaling_index_y,
    int32_t in_h, int64_t scaling_index_y_pitch) {
  for (int32_t y = thread_y(); y < 2; y += threads_y()) {
    for (int32_t x0 = thread_x() * 4; x0 < (in_h + 1) / 2; x0 += threads_x() * 4) {
      int32_t scaling_index_y_pack[4];
      #pragma unroll
      for (int32_t k = 0; k < 4; ++k) {
        const int32_t x = x0 + k;
        const int32_t v = (in_h + 1) / 2;
        scaling_index_y_pack[k] = (int32_t)min_i64(max_i64(div_i64((int64_t)(2 * x + 1) * (int64_t)in_h + v,
            (int64_t)(2 * v)) - 1 + y, 0), (int64_t)(in_h - 1));
      }
      store_pack(scaling_index_y + y * scaling_index_y_pitch + x0, scaling_index_y_pack, (in_h + 1) / 2 - x0);
    }
  }
}

// 'scaling' from 'scaling_weight_y', 'scaling_weight_x', 'scaling_index_x', 'scaling_index_y', 'in'.
__global__ void __launch_bounds__(128, 1) scaling_kernel(const float* __restrict__ in,
    float* __restrict__ scaling, const float* __restrict__ scaling_weight_y,
    const float* __restrict__ scaling_weight_x, const int32_t* __restrict__ scaling_index_x,
    const int32_t* __restrict__ scaling_index_y, int32_t in_w, int32_t in_h, int64_t in_pitch,
    int64_t scaling_pitch, int64_t scaling_weight_y_pitch, int64_t scaling_weight_x_pitch,
    int64_t scaling_index_x_pitch, int64_t scaling_index_y_pitch) {
  for (int32_t x = thread_x(); x < (in_w + 1) / 2; x += threads_x()) {
    for (int32_t y0 = thread_y() * 4; y0 < (in_h + 1) / 2; y0 += threads_y() * 4) {
      #pragma unroll
      for (int32_t r = 0; r < 4; ++r) {
        const int32_t y = min_i32(y0 + r, (in_h + 1) / 2 - 1);
        const int32_t x_in = clamp_index(scaling_index_x[x], in_w);
        const int32_t v = scaling_index_y[y];
        const int32_t y_in = clamp_index(v, in_h);
        const int32_t x_in_2 = clamp_index(scaling_index_x[scaling_index_x_pitch + x], in_w);
        const int32_t v_2 = scaling_index_y[scaling_index_y_pitch + y];
        const int32_t y_in_2 = clamp_index(v_2, in_h);
        scaling[y * scaling_pitch + x] = scaling_weight_y[y]
            * (scaling_weight_x[x] * in[x_in + y_in * in_pitch]
            + scaling_weight_x[scaling_weight_x_pitch + x] * in[x_in_2 + y_in * in_pitch])
            + scaling_weight_y[scaling_weight_y_pitch + y]
            * (scaling_weight_x[x] * in[x_in + y_in_2 * in_pitch]
            + scaling_weight_x[scaling_weight_x_pitch + x] * in[x_in_2 + y_in_2 * in_pitch]);
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

cudaError_t run_scaling(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* scaling,
    int64_t scaling_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  float* scaling_weight_y = nullptr;
  int64_t scaling_weight_y_pitch = (max_i64((in_h + 1) / 2, 1) + 31) / 32 * 32;
  float* scaling_weight_x = nullptr;
  int64_t scaling_weight_x_pitch = (max_i64((in_w + 1) / 2, 1) + 31) / 32 * 32;
  int32_t* scaling_index_x = nullptr;
  int64_t scaling_index_x_pitch = (max_i64((in_w + 1) / 2, 1) + 31) / 32 * 32;
  int32_t* scaling_index_y = nullptr;
  int64_t scaling_index_y_pitch = (max_i64((in_h + 1) / 2, 1) + 31) / 32 * 32;

  if (status == cudaSuccess) status = allocate(scaling_weight_y, scaling_weight_y_pitch * 2,
      (in_h + 1) / 2 == 0 || (int64_t)2 == 0, stream);
  if (status == cudaSuccess) {
    status = launch(scaling_weight_y_kernel, {((in_h + 1) / 2 + 3) / 4, 2, 1}, {32, 4, 1}, stream,
        scaling_weight_y, in_h, scaling_weight_y_pitch);
  }

  if (status == cudaSuccess) status = allocate(scaling_weight_x, scaling_weight_x_pitch * 2,
      (in_w + 1) / 2 == 0 || (int64_t)2 == 0, stream);
  if (status == cudaSuccess) {
    status = launch(scaling_weight_x_kernel, {((in_w + 1) / 2 + 3) / 4, 2, 1}, {32, 4, 1}, stream,
        scaling_weight_x, in_w, scaling_weight_x_pitch);
  }

  if (status == cudaSuccess) status = allocate(scaling_index_x, scaling_index_x_pitch * 2,
      (in_w + 1) / 2 == 0 || (int64_t)2 == 0, stream);
  if (status == cudaSuccess) {
    status = launch(scaling_index_x_kernel, {((in_w + 1) / 2 + 3) / 4, 2, 1}, {32, 4, 1}, stream,
        scaling_index_x, in_w, scaling_index_x_pitch);
  }

  if (status == cudaSuccess) status = allocate(scaling_index_y, scaling_index_y_pitch * 2,
      (in_h + 1) / 2 == 0 || (int64_t)2 == 0, stream);
  if (status == cudaSuccess) {
    status = launch(scaling_index_y_kernel, {((in_h + 1) / 2 + 3) / 4, 2, 1}, {32, 4, 1}, stream,
        scaling_index_y, in_h, scaling_index_y_pitch);
  }

  if (status == cudaSuccess) {
    status = launch(scaling_kernel, {(in_w + 1) / 2, ((in_h + 1) / 2 + 3) / 4, 1}, {32, 4, 1}, stream, in,
        scaling, scaling_weight_y, scaling_weight_x, scaling_index_x, scaling_index_y, in_w, in_h, in_pitch,
        scaling_pitch, scaling_weight_y_pitch, scaling_weight_x_pitch, scaling_index_x_pitch,
        scaling_index_y_pitch);
  }
  release(scaling_weight_y, stream);
  release(scaling_weight_x, stream);
  release(scaling_index_x, stream);
  release(scaling_index_y, stream);
  return status;
}

cudaError_t run_scaling_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    float* scaling, int64_t scaling_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_scaling = nullptr;
  int64_t device_scaling_pitch = (max_i64((in_w + 1) / 2, 1) + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_scaling,
      device_scaling_pitch * max_i64((in_h + 1) / 2, 1), (in_w + 1) / 2 == 0 || (in_h + 1) / 2 == 0, stream);
  if (status == cudaSuccess) {
    status = run_scaling(device_in, device_in_pitch, in_w, in_h, device_scaling, device_scaling_pitch,
        stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {(in_w + 1) / 2, (in_h + 1) / 2}, to[] = {scaling_pitch},
        from[] = {device_scaling_pitch};
    status = copy_rows(scaling, to, device_scaling, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_scaling, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace scaling
