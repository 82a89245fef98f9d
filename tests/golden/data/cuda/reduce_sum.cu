// Pipeline 'reduce_sum', emitted by Weft. How it runs:
//   sum  stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c reduce_sum.cu
#include "reduce_sum.h"

namespace reduce_sum {

namespace {

__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
__host__ __device__ inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// x / 0 is 0, and the least value / -1 wraps.
__host__ __device__ inline int32_t div_i32(int32_t a, int32_t b) { return b == 0 ? 0 : b == -1 ? (int32_t)-(uint32_t)a : a / b; }
// x / 0 is 0, and the least value / -1 wraps.
__host__ __device__ inline int64_t div_i64(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? (int64_t)-(uint64_t)a : a / b; }

// Parts of the elements of 'sum', each combined by a block.
__global__ void __launch_bounds__(256, 1) sum_part(const float* __restrict__ in,
    float* __restrict__ sum_parts, int32_t in_w, int32_t in_h, int64_t in_pitch) {
  __shared__ float acc[256];
  const int32_t strips = (in_w + 255) / 256;
  const int32_t rows = max_i32(div_i32(256, max_i32(in_w, 1)), 1) * 16;
  const int32_t bands = div_i32(in_h + rows - 1, rows);
  for (int32_t strip = blockIdx.x; strip < strips; strip += gridDim.x) {
    const int32_t x0 = strip * 256;
    for (int32_t band = blockIdx.y; band < bands; band += gridDim.y) {
      const int32_t row0 = (int32_t)min_i64((int64_t)band * (int64_t)rows, (int64_t)in_h);
      const int32_t row_count = min_i32(rows, in_h - row0);
      __syncthreads();
      for (int32_t l = threadIdx.x; l < 256; l += blockDim.x) {
        float own[1];
        own[0] = 0.0f;
        if (x0 + l < in_w) {
          if (row_count == 16) {
            #pragma unroll
            for (int32_t row = 0; row < 16; ++row) {
              const int32_t y = row0 + row;
              own[0] = own[0] + in[y * in_pitch + (x0 + l)];
            }
          } else {
            for (int32_t row = 0; row < row_count; ++row) {
              const int32_t y = row0 + row;
              own[0] = own[0] + in[y * in_pitch + (x0 + l)];
            }
          }
        }
        acc[l] = own[0];
      }
      for (int32_t level = 1; level < 9; ++level) {
        const int32_t half = 256 >> (level & 31);
        __syncthreads();
        for (int32_t l = threadIdx.x; l < half; l += blockDim.x) {
          acc[l] = acc[l] + acc[l + half];
        }
      }
      if (threadIdx.x == 0) {
        sum_parts[(int64_t)band * (int64_t)strips + strip] = acc[0];
      }
    }
  }
}

// The parts of 'sum', combined in pairs of neighbours.
__global__ void __launch_bounds__(256, 1) sum_total(float* __restrict__ sum, float* __restrict__ sum_parts,
    int32_t in_w, int32_t in_h) {
  const int64_t parts = (int64_t)div_i32(in_h + max_i32(div_i32(256, max_i32(in_w, 1)), 1) * 16 - 1,
      max_i32(div_i32(256, max_i32(in_w, 1)), 1) * 16) * (int64_t)((in_w + 255) / 256);
  if (threadIdx.x == 0) {
    if (parts <= 0) {
      sum_parts[0] = 0.0f;
    }
  }
  for (int32_t level = 0; level < 13; ++level) {
    const int64_t stride = (int64_t)1 << ((int64_t)(level * 4) & 63);
    if (stride < parts) {
      __syncthreads();
      for (int64_t i = threadIdx.x; i < div_i64(parts + stride * 16 - 1, stride * 16); i += blockDim.x) {
        const int64_t begin = i * (stride * 16);
        float near[16] = {};
        #pragma unroll
        for (int32_t k = 0; k < 16; ++k) {
          if (begin + k * stride < parts) {
            near[k] = sum_parts[begin + k * stride];
          }
        }
        #pragma unroll
        for (int32_t k = 0; k < 8; ++k) {
          if (begin + (k * 2 + 1) * stride < parts) {
            near[k * 2] = near[k * 2] + near[k * 2 + 1];
          }
        }
        #pragma unroll
        for (int32_t k = 0; k < 4; ++k) {
          if (begin + (k * 4 + 2) * stride < parts) {
            near[k * 4] = near[k * 4] + near[k * 4 + 2];
          }
        }
        #pragma unroll
        for (int32_t k = 0; k < 2; ++k) {
          if (begin + (k * 8 + 4) * stride < parts) {
            near[k * 8] = near[k * 8] + near[k * 8 + 4];
          }
        }
        #pragma unroll
        for (int32_t k = 0; k < 1; ++k) {
          if (begin + (k * 16 + 8) * stride < parts) {
            near[k * 16] = near[k * 16] + near[k * 16 + 8];
          }
        }
        sum_parts[begin] = near[0];
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const float total = sum_parts[0];
    sum[0] = total;
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

cudaError_t run_reduce_sum(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* sum,
    cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  float* sum_parts = nullptr;

  if (status == cudaSuccess) status = allocate(sum_parts,
      max_i64(div_i64(in_h + max_i64(div_i64(256, max_i64(in_w, 1)), 1) * 16 - 1,
      max_i64(div_i64(256, max_i64(in_w, 1)), 1) * 16) * ((in_w + 255) / 256), 1),
      div_i64(in_h + max_i64(div_i64(256, max_i64(in_w, 1)), 1) * 16 - 1,
      max_i64(div_i64(256, max_i64(in_w, 1)), 1) * 16) * ((in_w + 255) / 256) == 0, stream);
  if (status == cudaSuccess) {
    status = launch(sum_part, {(in_w + 255) / 256 * 256,
        div_i64(in_h + max_i64(div_i64(256, max_i64(in_w, 1)), 1) * 16 - 1,
        max_i64(div_i64(256, max_i64(in_w, 1)), 1) * 16), 1}, {256, 1, 1}, stream, in, sum_parts, in_w, in_h,
        in_pitch);
  }

  if (status == cudaSuccess) {
    status = launch(sum_total, {256, 1, 1}, {256, 1, 1}, stream, sum, sum_parts, in_w, in_h);
  }
  release(sum_parts, stream);
  return status;
}

cudaError_t run_reduce_sum_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    float* sum) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_sum = nullptr;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_sum, 1, false, stream);
  if (status == cudaSuccess) {
    status = run_reduce_sum(device_in, device_in_pitch, in_w, in_h, device_sum, stream);
  }
  if (status == cudaSuccess) {
    status = copy_row(sum, device_sum, 1, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_sum, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace reduce_sum
