// Pipeline 'bilateral', emitted by Weft. How it runs:
//   bilateral  stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c bilateral.cu
#include "bilateral.h"

namespace bilateral {

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

__constant__ float bilateral_mask[169] = {0.01831564f, 0.033746153f, 0.055637997f, 0.082085f, 0.108368024f,
    0.12802169f, 0.13533528f, 0.12802169f, 0.108368024f, 0.082085f, 0.055637997f, 0.033746153f, 0.01831564f,
    0.033746153f, 0.062176526f, 0.102511756f, 0.15123975f, 0.19966564f, 0.23587708f, 0.2493522f, 0.23587708f,
    0.19966564f, 0.15123975f, 0.102511756f, 0.062176526f, 0.033746153f, 0.055637997f, 0.102511756f,
    0.16901332f, 0.2493522f, 0.329193f, 0.38889557f, 0.41111228f, 0.38889557f, 0.329193f, 0.2493522f,
    0.16901332f, 0.102511756f, 0.055637997f, 0.082085f, 0.15123975f, 0.2493522f, 0.36787945f, 0.4856718f,
    0.5737534f, 0.60653067f, 0.5737534f, 0.4856718f, 0.36787945f, 0.2493522f, 0.15123975f, 0.082085f,
    0.108368024f, 0.19966564f, 0.329193f, 0.4856718f, 0.6411804f, 0.7574651f, 0.8007374f, 0.7574651f,
    0.6411804f, 0.4856718f, 0.329193f, 0.19966564f, 0.108368024f, 0.12802169f, 0.23587708f, 0.38889557f,
    0.5737534f, 0.7574651f, 0.89483935f, 0.94595945f, 0.89483935f, 0.7574651f, 0.5737534f, 0.38889557f,
    0.23587708f, 0.12802169f, 0.13533528f, 0.2493522f, 0.41111228f, 0.60653067f, 0.8007374f, 0.94595945f,
    1.0f, 0.94595945f, 0.8007374f, 0.60653067f, 0.41111228f, 0.2493522f, 0.13533528f, 0.12802169f,
    0.23587708f, 0.38889557f, 0.5737534f, 0.7574651f, 0.89483935f, 0.94595945f, 0.89483935f, 0.7574651f,
    0.5737534f, 0.38889557f, 0.23587708f, 0.12802169f, 0.108368024f, 0.19966564f, 0.329193f, 0.4856718f,
    0.6411804f, 0.7574651f, 0.8007374f, 0.7574651f, 0.6411804f, 0.4856718f, 0.329193f, 0.19966564f,
    0.108368024f, 0.082085f, 0.15123975f, 0.2493522f, 0.36787945f, 0.4856718f, 0.5737534f, 0.60653067f,
    0.5737534f, 0.4856718f, 0.36787945f, 0.2493522f, 0.15123975f, 0.082085f, 0.055637997f, 0.102511756f,
    0.16901332f, 0.2493522f, 0.329193f, 0.38889557f, 0.41111228f, 0.38889557f, 0.329193f, 0.2493522f,
    0.16901332f, 0.102511756f, 0.055637997f, 0.033746153f, 0.062176526f, 0.102511756f, 0.15123975f,
    0.19966564f, 0.23587708f, 0.2493522f, 0.23587708f, 0.19966564f, 0.15123975f, 0.102511756f, 0.062176526f,
    0.033746153f, 0.01831564f, 0.033746153f, 0.055637997f, 0.082085f, 0.108368024f, 0.12802169f, 0.13533528f,
    0.12802169f, 0.108368024f, 0.082085f, 0.055637997f, 0.033746153f, 0.01831564f};

// 'bilateral'. Each block of threads goes down a strip of 256 pixels, 8 rows at
// a time, and keeps the rows of 'in' in shared memory while they are read.
__global__ void __launch_bounds__(256, 1) bilateral_kernel(const float* __restrict__ in,
    float* __restrict__ bilateral, int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t bilateral_pitch,
    float sigma_r) {
  __shared__ float in_rows[8704];
  const int32_t rows = 8192 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 64
      : 4096 <= (int64_t)in_h * (int64_t)((in_w + 255) / 256) ? 32 : 8;
  for (int32_t x0 = blockIdx.x * 256; x0 < in_w; x0 += gridDim.x * 256) {
    const int32_t columns = min_i32(256, in_w - x0);
    for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
      const int32_t y1 = min_i32(y0 + rows, in_h);
      for (int32_t batch = y0 - 12; batch < y1; batch += 8) {
        __syncthreads();
        for (int32_t i = threadIdx.x; i < 272; i += blockDim.x) {
          const int32_t column = clamp_index(x0 + i - 8, in_w);
          for (int32_t r = 0; r < 8; ++r) {
            const int32_t row = batch + r + 6;
            if (y0 - 6 <= row && row < y1 + 6) {
              in_rows[(row & 31) * 272 + i] = in[clamp_index(row, in_h) * in_pitch + column];
            }
          }
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < columns; i += blockDim.x) {
          const int32_t x = x0 + i;
          for (int32_t y = max_i32(batch, y0); y < min_i32(batch + 8, y1); ++y) {
            float acc = 0.0f;
            float acc_2 = 0.0f;
            #pragma unroll 1
            for (int32_t ty = -6; ty < 7; ty += 1) {
              #pragma unroll
              for (int32_t tx = -6; tx < 7; tx += 1) {
                const float* in_row = in_rows + ((y + ty) & 31) * 272 + 8;
                const float v = in_row[i + tx];
                const float* in_0 = in_rows + (y & 31) * 272 + 8;
                const float v_2 = v - in_0[i];
                const float v_3 = bilateral_mask[(ty + 6) * 13 + tx + 6]
                    * __expf(-1.0f / (2.0f * sigma_r * sigma_r) * v_2 * v_2);
                const float v_4 = acc + v_3;
                const float v_5 = acc_2 + v_3 * v;
                acc = v_4;
                acc_2 = v_5;
              }
            }
            bilateral[y * bilateral_pitch + x] = acc_2 / acc;
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

cudaError_t run_bilateral(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float sigma_r,
    float* bilateral, int64_t bilateral_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(bilateral_kernel, {(in_w + 255) / 256 * 256, 8192 <= in_h * ((in_w + 255) / 256)
        ? (in_h + 63) / 64 : 4096 <= in_h * ((in_w + 255) / 256) ? (in_h + 31) / 32 : (in_h + 7) / 8, 1},
        {256, 1, 1}, stream, in, bilateral, in_w, in_h, in_pitch, bilateral_pitch, sigma_r);
  }
  return status;
}

cudaError_t run_bilateral_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    float sigma_r, float* bilateral, int64_t bilateral_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_bilateral = nullptr;
  int64_t device_bilateral_pitch = (in_w + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_bilateral, device_bilateral_pitch * max_i64(in_h, 1),
      in_w == 0 || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_bilateral(device_in, device_in_pitch, in_w, in_h, sigma_r, device_bilateral,
        device_bilateral_pitch, stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {bilateral_pitch}, from[] = {device_bilateral_pitch};
    status = copy_rows(bilateral, to, device_bilateral, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_bilateral, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace bilateral
