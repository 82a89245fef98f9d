// Pipeline 'histogram', emitted by Weft. How it runs:
//   histogram  stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c histogram.cu
#include "histogram.h"

namespace histogram {

namespace {

__device__ inline int32_t thread_x() { return (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline int32_t threads_x() { return (int32_t)(blockDim.x * gridDim.x); }
__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// x / 0 is 0, and the least value / -1 wraps.
__host__ __device__ inline int32_t div_i32(int32_t a, int32_t b) { return b == 0 ? 0 : b == -1 ? (int32_t)-(uint32_t)a : a / b; }
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
__device__ inline void atomic_add_u32(uint32_t* at, uint32_t value) { atomicAdd((unsigned*)at, (unsigned)value); }

// 'histogram' before its updates.
__global__ void __launch_bounds__(128, 1) histogram_start(uint32_t* __restrict__ histogram) {
  for (int32_t x = thread_x(); x < 256; x += threads_x()) {
    histogram[x] = 0u;
  }
}

// The updates of 'histogram', each block's together, from 'in'.
__global__ void __launch_bounds__(256, 1) histogram_fill(const uint8_t* __restrict__ in,
    uint32_t* __restrict__ histogram, int32_t in_w, int32_t in_h, int64_t in_pitch) {
  __shared__ uint32_t histogram_copy[256];
  for (int32_t i = threadIdx.x; i < 256; i += blockDim.x) {
    histogram_copy[i] = 0u;
  }
  const int32_t parts = max_i32(div_i32(in_h + max_i32(div_i32(16384, max_i32(in_w, 1)), 1) - 1,
      max_i32(div_i32(16384, max_i32(in_w, 1)), 1)), 1);
  __syncthreads();
  for (int32_t part = blockIdx.x; part < parts; part += gridDim.x) {
    const int32_t rows = max_i32(div_i32(16384, max_i32(in_w, 1)), 1);
    const int64_t row0 = (int64_t)part * (int64_t)rows;
    for (int64_t row = row0; row < min_i64(row0 + rows, (int64_t)in_h); ++row) {
      const int64_t y = row;
      for (int32_t first = threadIdx.x * 8; first < in_w; first += blockDim.x * 8) {
        uint8_t in_pack[8];
        load_pack(in_pack, in + y * in_pitch + first, in_w - first);
        #pragma unroll
        for (int32_t k = 0; k < 8; ++k) {
          const int32_t x = first + k;
          if (x < in_w) {
            const int32_t bin = in_pack[k];
            if (0 <= bin && bin < 256) {
              atomic_add_u32(&histogram_copy[bin], 1u);
            }
          }
        }
      }
    }
  }
  __syncthreads();
  for (int32_t i = threadIdx.x; i < 256; i += blockDim.x) {
    atomic_add_u32(&histogram[i], histogram_copy[i]);
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

cudaError_t run_histogram(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    uint32_t* histogram, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(histogram_start, {256, 1, 1}, {128, 1, 1}, stream, histogram);
  }

  if (status == cudaSuccess) {
    status = launch(histogram_fill, {max_i64(div_i64(in_h + max_i64(div_i64(16384, max_i64(in_w, 1)), 1) - 1,
        max_i64(div_i64(16384, max_i64(in_w, 1)), 1)), 1) * 256, 1, 1}, {256, 1, 1}, stream, in, histogram,
        in_w, in_h, in_pitch);
  }
  return status;
}

cudaError_t run_histogram_on_host(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    uint32_t* histogram) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  uint8_t* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 127) / 128 * 128;
  uint32_t* device_histogram = nullptr;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_histogram, 256, (int64_t)256 == 0, stream);
  if (status == cudaSuccess) {
    status = run_histogram(device_in, device_in_pitch, in_w, in_h, device_histogram, stream);
  }
  if (status == cudaSuccess) {
    status = copy_row(histogram, device_histogram, 256, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_histogram, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace histogram
