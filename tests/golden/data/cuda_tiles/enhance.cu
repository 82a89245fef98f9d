// Pipeline 'enhance', emitted by Weft. How it runs:
//   mean_tap  in rows of gamma: computed 1 row ahead of 'gamma', which needs 3 of its rows at a time: no store, no load
//   mean      computed in bright: its only consumer 'bright' reads it at the same pixel: no store, no load
//   bright    computed in gamma: its only consumer 'gamma' reads it at the same pixel: no store, no load
//   gamma     stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c enhance.cu
#include "enhance.h"

namespace enhance {

namespace {

__host__ __device__ inline float max_f32(float a, float b) { return a < b ? b : a; }
__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
__host__ __device__ inline int64_t min_i64(int64_t a, int64_t b) { return b < a ? b : a; }
// i itself inside [0, n), else the nearest index.
__host__ __device__ inline int32_t clamp_index(int32_t i, int32_t n) {
  const int32_t last = n - 1;
  i = i < last ? i : last;
  return i > 0 ? i : 0;
}
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

// 'gamma' with 'mean_tap'. Each warp goes down a strip of 120 pixels, 4 a lane, and keeps the rows of
// 'mean_tap' in registers while they are read.
__global__ void __launch_bounds__(32, 1) gamma_kernel(const float* __restrict__ in,
    float* __restrict__ gamma, int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t gamma_pitch, float gain,
    int32_t gamma_room) {
  float mean_tap_rows[18] = {};
  const int32_t rows = (max_i32(div_i32(in_h
      + max_i32(div_i32(gamma_room, max_i32((in_w + 119) / 120 + min_i32((in_w + 119) / 120, 2), 1)), 1) - 1,
      max_i32(div_i32(gamma_room, max_i32((in_w + 119) / 120 + min_i32((in_w + 119) / 120, 2), 1)), 1)) - 4,
      0) + 2) / 3 * 3 + 4;
  {
    const int32_t lane = (int32_t)threadIdx.x;
    {
      const int32_t next = blockIdx.x * 120;
      const bool is_end = next < 480;
      const int32_t x0 = next < 240 ? in_w - (in_w - 1) % 120 - 1 : is_end ? 0 : next - 360;
      const int32_t strip_rows = is_end ? (max_i32((rows + 1) / 2 - 4, 0) + 2) / 3 * 3 + 4 : rows;
      const int32_t first = x0 - 4;
      const int32_t left = first + lane * 4;
      const bool has_result = 1 <= lane && lane < 31;
      {
        const int32_t band = blockIdx.y;
        const int32_t y0 = (int32_t)min_i64((int64_t)(is_end ? band * 2 + (next / 120 & 1) : band)
            * (int64_t)strip_rows, (int64_t)in_h);
        if (next < in_w + min_i32((in_w + 119) / 120, 2) * 120 && y0 < in_h) {
          const int32_t y1 = min_i32(y0 + strip_rows, in_h);
          const bool gamma_aligned = (size_t)(gamma + (int64_t)first) % 16 == 0;
          const bool in_lanes = (first + 128 <= in_w || (in_w - first) % 4 == 0)
              && (gamma_aligned && (gamma_pitch * 4 & 15) == 0);
          const bool is_inside = x0 + 120 <= in_w && 0 <= first && first + 128 <= in_w;
          const int32_t inner = in_lanes ? min_i32(max_i32(max_i32(y0 - 2, 1), 0), y1) : y1;
          const int32_t inner_end = inner + max_i32(min_i32(min_i32(y1, in_h - 1), in_h) - inner, 0) / 3 * 3;
          int32_t from_ = y0 - 2;
          int32_t until = inner;
          for (int32_t part_ = 0; part_ < 2; ++part_) {
            for (int32_t y = from_; y < until; ++y) {
              #pragma unroll
              for (int32_t j = 0; j < 12; ++j) {
                mean_tap_rows[j] = mean_tap_rows[j + 6];
              }
              {
                const int32_t mean_tap_y = y + 1;
                const int32_t mean_tap_place = min_i32(max_i32(mean_tap_y, 0), in_h - 1);
                #pragma unroll
                for (int32_t i = 0; i < 4; ++i) {
                  const int32_t x = min_i32(max_i32(left + i, 0), in_w - 1);
                  mean_tap_rows[i + 13] = logf(in[mean_tap_place * in_pitch + x] + 1.0f);
                }
                if (first < 0) {
                  const float mean_tap_rows_left_0 = __shfl_sync(~0u,
                      min_i32(max_i32(0 - first, 0), 127) % 4 == 3 ? mean_tap_rows[16]
                      : min_i32(max_i32(0 - first, 0), 127) % 4 == 2 ? mean_tap_rows[15]
                      : min_i32(max_i32(0 - first, 0), 127) % 4 == 1 ? mean_tap_rows[14] : mean_tap_rows[13],
                      (int64_t)(min_i32(max_i32(0 - first, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    mean_tap_rows[i + 13] = left + i < 0 ? mean_tap_rows_left_0 : mean_tap_rows[i + 13];
                  }
                }
                if (in_w < first + 128) {
                  const float mean_tap_rows_right_0 = __shfl_sync(~0u,
                      min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 3 ? mean_tap_rows[16]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 2 ? mean_tap_rows[15]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 1 ? mean_tap_rows[14]
                      : mean_tap_rows[13], (int64_t)(min_i32(max_i32(in_w - first - 1, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    mean_tap_rows[i + 13] = in_w <= left + i ? mean_tap_rows_right_0 : mean_tap_rows[i + 13];
                  }
                }
                const float mean_tap_rows_beside_0 = __shfl_up_sync(~0u, mean_tap_rows[16], 1);
                mean_tap_rows[12] = mean_tap_rows_beside_0;
                const float mean_tap_rows_beside_1 = __shfl_down_sync(~0u, mean_tap_rows[13], 1);
                mean_tap_rows[17] = mean_tap_rows_beside_1;
                if (mean_tap_y - 2 < 0 || in_h <= mean_tap_y) {
                  if (in_h <= mean_tap_y && clamp_index(mean_tap_y, in_h) == mean_tap_y - 1) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      mean_tap_rows[j + 12] = mean_tap_rows[j + 6];
                    }
                  }
                  if (mean_tap_y - 1 < 0 && clamp_index(mean_tap_y - 1, in_h) == mean_tap_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      mean_tap_rows[j + 6] = mean_tap_rows[j + 12];
                    }
                  }
                  if (in_h <= mean_tap_y && clamp_index(mean_tap_y, in_h) == mean_tap_y - 2) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      mean_tap_rows[j + 12] = mean_tap_rows[j];
                    }
                  }
                  if (mean_tap_y - 2 < 0 && clamp_index(mean_tap_y - 2, in_h) == mean_tap_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      mean_tap_rows[j] = mean_tap_rows[j + 12];
                    }
                  }
                }
              }
              {
                float gamma_pack[4];
                const float* mean_tap_m1 = mean_tap_rows + 1;
                const float* mean_tap_0 = mean_tap_rows + 7;
                const float* mean_tap_p1 = mean_tap_rows + 13;
                float column[6];
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  column[i] = mean_tap_m1[i - 1] + mean_tap_0[i - 1] + mean_tap_p1[i - 1];
                }
                #pragma unroll
                for (int32_t i = 0; i < 4; ++i) {
                  const float mean = max_f32(0.0f,
                      __expf((column[i] + column[i + 1] + column[i + 2]) * (1.0f / 9.0f)) - 1.0f);
                  const float bright = mean * gain;
                  gamma_pack[i] = 255.0f * exp2f(0.6f * __log2f(bright * (1.0f / 255.0f)));
                }
                if (has_result && y0 <= y && y < y1) {
                  store_pack(gamma + y * gamma_pitch + left, gamma_pack, in_w - left);
                }
              }
            }
            for (int32_t batch = is_inside ? until : inner_end; batch < inner_end; batch += 3) {
              #pragma unroll
              for (int32_t k = 0; k < 3; ++k) {
                const int32_t y = batch + k;
                {
                  const int32_t mean_tap_y = y + 1;
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const int32_t x = left + i;
                    mean_tap_rows[k % 3 * 6 + i + 1] = logf(in[mean_tap_y * in_pitch + x] + 1.0f);
                  }
                  const float mean_tap_rows_beside_0 = __shfl_up_sync(~0u, mean_tap_rows[k % 3 * 6 + 4], 1);
                  mean_tap_rows[k % 3 * 6] = mean_tap_rows_beside_0;
                  const float mean_tap_rows_beside_1 = __shfl_down_sync(~0u, mean_tap_rows[k % 3 * 6 + 1], 1);
                  mean_tap_rows[k % 3 * 6 + 5] = mean_tap_rows_beside_1;
                }
                {
                  float gamma_pack[4];
                  const float* mean_tap_m1 = mean_tap_rows + (k + 1) % 3 * 6 + 1;
                  const float* mean_tap_0 = mean_tap_rows + (k + 2) % 3 * 6 + 1;
                  const float* mean_tap_p1 = mean_tap_rows + k % 3 * 6 + 1;
                  float column[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column[i] = mean_tap_m1[i - 1] + mean_tap_0[i - 1] + mean_tap_p1[i - 1];
                  }
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const float mean = max_f32(0.0f,
                        __expf((column[i] + column[i + 1] + column[i + 2]) * (1.0f / 9.0f)) - 1.0f);
                    const float bright = mean * gain;
                    gamma_pack[i] = 255.0f * exp2f(0.6f * __log2f(bright * (1.0f / 255.0f)));
                  }
                  if (has_result && y0 <= y) {
                    store_whole(gamma + y * gamma_pitch + left, gamma_pack);
                  }
                }
              }
            }
            for (int32_t batch = !is_inside ? until : inner_end; batch < inner_end; batch += 3) {
              #pragma unroll
              for (int32_t k = 0; k < 3; ++k) {
                const int32_t y = batch + k;
                {
                  const int32_t mean_tap_y = y + 1;
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const int32_t x = min_i32(max_i32(left + i, 0), in_w - 1);
                    mean_tap_rows[k % 3 * 6 + i + 1] = logf(in[mean_tap_y * in_pitch + x] + 1.0f);
                  }
                  const float mean_tap_rows_beside_0 = __shfl_up_sync(~0u, mean_tap_rows[k % 3 * 6 + 4], 1);
                  mean_tap_rows[k % 3 * 6] = mean_tap_rows_beside_0;
                  const float mean_tap_rows_beside_1 = __shfl_down_sync(~0u, mean_tap_rows[k % 3 * 6 + 1], 1);
                  mean_tap_rows[k % 3 * 6 + 5] = mean_tap_rows_beside_1;
                  mean_tap_rows[k % 3 * 6] = left == 0 ? mean_tap_rows[k % 3 * 6 + 1]
                      : mean_tap_rows[k % 3 * 6];
                  mean_tap_rows[k % 3 * 6 + 5] = left + 4 == in_w ? mean_tap_rows[k % 3 * 6 + 4]
                      : mean_tap_rows[k % 3 * 6 + 5];
                }
                {
                  float gamma_pack[4];
                  const float* mean_tap_m1 = mean_tap_rows + (k + 1) % 3 * 6 + 1;
                  const float* mean_tap_0 = mean_tap_rows + (k + 2) % 3 * 6 + 1;
                  const float* mean_tap_p1 = mean_tap_rows + k % 3 * 6 + 1;
                  float column[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column[i] = mean_tap_m1[i - 1] + mean_tap_0[i - 1] + mean_tap_p1[i - 1];
                  }
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const float mean = max_f32(0.0f,
                        __expf((column[i] + column[i + 1] + column[i + 2]) * (1.0f / 9.0f)) - 1.0f);
                    const float bright = mean * gain;
                    gamma_pack[i] = 255.0f * exp2f(0.6f * __log2f(bright * (1.0f / 255.0f)));
                  }
                  if (has_result && y0 <= y && left < in_w) {
                    store_whole(gamma + y * gamma_pitch + left, gamma_pack);
                  }
                }
              }
            }
            from_ = inner_end;
            until = y1;
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

// How many blocks of a kernel the current device has room for at a time. A thread asks once, unless it changes the device.
struct Room {
  int device = -1;
  int64_t blocks = 0;
};

template <class... Parameters>
cudaError_t find_room(void (*kernel)(Parameters...), int threads, Room& room) {
  int device = 0, multiprocessors = 0, of_one = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess || device == room.device) return status;
  status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess) status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, kernel, threads, 0);
  if (status == cudaSuccess) room = {device, (int64_t)multiprocessors * of_one};
  return status;
}

}  // namespace

cudaError_t run_enhance(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float gain,
    float* gamma, int64_t gamma_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  static thread_local Room rooms[1];
  if (status == cudaSuccess) status = find_room(gamma_kernel, 32, rooms[0]);
  const int64_t gamma_room = rooms[0].blocks;

  if (status == cudaSuccess) {
    status = launch(gamma_kernel, {((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2)) * 32,
        div_i64(in_h + (max_i64(div_i64(in_h
        + max_i64(div_i64(gamma_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)), 1)
        - 1, max_i64(div_i64(gamma_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)),
        1)) - 4, 0) + 2) / 3 * 3 + 3, (max_i64(div_i64(in_h
        + max_i64(div_i64(gamma_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)), 1)
        - 1, max_i64(div_i64(gamma_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)),
        1)) - 4, 0) + 2) / 3 * 3 + 4), 1}, {32, 1, 1}, stream, in, gamma, in_w, in_h, in_pitch, gamma_pitch,
        gain, gamma_room);
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
