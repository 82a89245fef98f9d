// Pipeline 'enhance', emitted by Weft. How it runs:
//   mean_tap  in rows of gamma: computed 1 row ahead of 'gamma', which needs 3 of its rows at a time: no store, no load
//   mean      computed in bright: its only consumer 'bright' reads it at the same pixel: no store, no load
//   bright    computed in gamma: its only consumer 'gamma' reads it at the same pixel: no store, no load
//   gamma     stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -c enhance.cu
#include "enhance.h"

namespace enhance {

namespace {

__host__ __device__ inline float max_f32(float a, float b) { return a < b ? b : a; }
__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
// i itself inside [0, n), else the nearest index.
__host__ __device__ inline int32_t clamp_index(int32_t i, int32_t n) {
  i = i < n ? i : n - 1;
  return i > 0 ? i : 0;
}

// 'gamma' with 'mean_tap'. Each block of threads goes down a strip of 248 pixels, 8 rows at
// a time, and keeps the rows of 'mean_tap' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) gamma_kernel(const float* __restrict__ in,
    float* __restrict__ gamma, int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t gamma_pitch,
    float gain) {
  __shared__ float mean_tap_rows[4000];
  const int32_t rows = 8192 <= (int64_t)in_h * (int64_t)((in_w + 247) / 248) ? 64
      : 4096 <= (int64_t)in_h * (int64_t)((in_w + 247) / 248) ? 32 : 8;
  for (int32_t x0 = blockIdx.x * 248; x0 < in_w; x0 += gridDim.x * 248) {
    const int32_t columns = min_i32(248, in_w - x0);
    for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
      const int32_t y1 = min_i32(y0 + rows, in_h);
      for (int32_t batch = y0 - 2; batch < y1; batch += 8) {
        __syncthreads();
        for (int32_t t = threadIdx.x; t < columns + 2; t += blockDim.x) {
          const int32_t x = clamp_index(x0 + t - 1, in_w);
          const int32_t last = min_i32(min_i32(batch + 9, y1 + 1), in_h);
          for (int32_t row = max_i32(batch + 1, 0); row < last; ++row) {
            float* mean_tap_row = mean_tap_rows + (row & 15) * 250;
            mean_tap_row[t] = logf(in[row * in_pitch + x] + 1.0f);
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 8, y1); ++y) {
            const float* mean_tap_m1 = mean_tap_rows + (clamp_index(y - 1, in_h) & 15) * 250 + 1;
            const float* mean_tap_0 = mean_tap_rows + (clamp_index(y, in_h) & 15) * 250 + 1;
            const float* mean_tap_p1 = mean_tap_rows + (clamp_index(y + 1, in_h) & 15) * 250 + 1;
            const float mean = max_f32(0.0f, expf((mean_tap_m1[i - 1] + mean_tap_m1[i] + mean_tap_m1[i + 1]
                + mean_tap_0[i - 1] + mean_tap_0[i] + mean_tap_0[i + 1] + mean_tap_p1[i - 1] + mean_tap_p1[i]
                + mean_tap_p1[i + 1]) / 9.0f) - 1.0f);
            const float bright = mean * gain;
            gamma[y * gamma_pitch + x] = 255.0f * powf(bright / 255.0f, 0.6f);
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

cudaError_t run_enhance(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float gain,
    float* gamma, int64_t gamma_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(gamma_kernel, {(in_w + 247) / 248 * 256, 8192 <= in_h * ((in_w + 247) / 248)
        ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 247) / 248) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
        {256, 1, 1}, stream, in, gamma, in_w, in_h, in_pitch, gamma_pitch, gain);
  }
  return status;
}

cudaError_t run_enhance_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float gain,
    float* gamma, int64_t gamma_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_gamma = nullptr;
  int64_t device_gamma_pitch = (in_w + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_gamma, device_gamma_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_enhance(device_in, device_in_pitch, in_w, in_h, gain, device_gamma, device_gamma_pitch,
        stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {gamma_pitch}, from[] = {device_gamma_pitch};
    status = copy_rows(gamma, to, device_gamma, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_gamma, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace enhance
