// Pipeline 'gaussian', emitted by Weft. How it runs:
//   gaussian  stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c gaussian.cu
#include "gaussian.h"

namespace gaussian {

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

// 'gaussian'. Each block of threads goes down a strip of 1024 pixels, 8 rows at
// a time, and keeps the rows of 'in' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) gaussian_kernel(const uint8_t* __restrict__ in,
    uint8_t* __restrict__ gaussian, int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t gaussian_pitch) {
  __shared__ uint8_t in_rows[17408];
  const int32_t rows = 8192 <= (int64_t)in_h * (int64_t)((in_w + 1023) / 1024) ? 64
      : 4096 <= (int64_t)in_h * (int64_t)((in_w + 1023) / 1024) ? 32 : 8;
  for (int32_t x0 = blockIdx.x * 1024; x0 < in_w; x0 += gridDim.x * 1024) {
    const int32_t columns = min_i32(1024, in_w - x0);
    for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
      const int32_t y1 = min_i32(y0 + rows, in_h);
      for (int32_t batch = y0 - 2; batch < y1; batch += 8) {
        __syncthreads();
        for (int32_t i = threadIdx.x; i < 1088; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 32, in_w);
          for (int32_t r = 0; r < 8; ++r) {
            const int32_t row = batch + r + 1;
            if (y0 - 1 <= row && row < y1 + 1) {
              in_rows[(row & 15) * 1088 + i] = in[clamp_index(row, in_h) * in_pitch + column];
            }
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 8, y1); ++y) {
            const uint8_t* in_m1 = in_rows + ((y - 1) & 15) * 1088 + 32;
            const uint8_t* in_0 = in_rows + (y & 15) * 1088 + 32;
            const uint8_t* in_p1 = in_rows + ((y + 1) & 15) * 1088 + 32;
            const int32_t v = in_m1[i - 1] + 2 * in_m1[i] + in_m1[i + 1] + 2 * in_0[i - 1] + 4 * in_0[i]
                + 2 * in_0[i + 1] + in_p1[i - 1] + 2 * in_p1[i] + in_p1[i + 1];
            gaussian[y * gaussian_pitch + x] = (uint8_t)((v + 7 + ((v >> 4) & 1)) >> 4);
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

cudaError_t run_gaussian(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* gaussian,
    int64_t gaussian_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(gaussian_kernel, {(in_w + 1023) / 1024 * 256, 8192 <= in_h * ((in_w + 1023) / 1024)
        ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 1023) / 1024) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
        {256, 1, 1}, stream, in, gaussian, in_w, in_h, in_pitch, gaussian_pitch);
  }
  return status;
}

cudaError_t run_gaussian_on_host(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    uint8_t* gaussian, int64_t gaussian_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  uint8_t* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 127) / 128 * 128;
  uint8_t* device_gaussian = nullptr;
  int64_t device_gaussian_pitch = (in_w + 127) / 128 * 128;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_gaussian, device_gaussian_pitch * max_i64(in_h, 1),
      in_w == 0 || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_gaussian(device_in, device_in_pitch, in_w, in_h, device_gaussian, device_gaussian_pitch,
        stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {gaussian_pitch}, from[] = {device_gaussian_pitch};
    status = copy_rows(gaussian, to, device_gaussian, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_gaussian, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace gaussian
