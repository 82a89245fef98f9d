// Pipeline 'harris_corner', emitted by Weft. How it runs:
//   Ix      computed in harris: Ixx, Ixy read it at the same pixel, in one loop: no store, no load
//   Ixx     in rows of harris: computed before 'harris' in each of its tiles, with what lies around them: no store, no load
//   Sxx     computed in harris: det, trace read it at the same pixel, in one kernel: no store, no load
//   Iy      computed in harris: Iyy, Ixy read it at the same pixel, in one loop: no store, no load
//   Iyy     in rows of harris: computed before 'harris' in each of its tiles, with what lies around them: no store, no load
//   Syy     computed in harris: det, trace read it at the same pixel, in one kernel: no store, no load
//   Ixy     in rows of harris: computed before 'harris' in each of its tiles, with what lies around them: no store, no load
//   Sxy     computed in det: its only consumer 'det' reads it at the same pixel: no store, no load
//   det     computed in harris: its only consumer 'harris' reads it at the same pixel: no store, no load
//   trace   computed in harris: its only consumer 'harris' reads it at the same pixel: no store, no load
//   harris  stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c harris_corner.cu
#include "harris_corner.h"

namespace harris_corner {

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

// 'harris' with 'Ixx', 'Iyy', 'Ixy'. Each warp computes a tile of 60x4 pixels, 2 a lane, all of a stage
// before the next, and keeps 25 % of the rows of 'in', 'Ixx', 'Iyy', 'Ixy' in registers, the others in shared memory.
__global__ void __launch_bounds__(32, 1) harris_kernel(const float* __restrict__ in,
    float* __restrict__ harris, int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t harris_pitch) {
  float in_next[2];
  __shared__ __align__(16) float in_rest[384];
  __shared__ __align__(16) float Ixx_rest[256];
  __shared__ __align__(16) float Iyy_rest[256];
  __shared__ __align__(16) float Ixy_rest[256];
  float in_rows[20] = {};
  float Ixx_rows[20] = {};
  float Iyy_rows[20] = {};
  float Ixy_rows[20] = {};
  const int32_t rows = 4;
  {
    const int32_t lane = (int32_t)threadIdx.x;
    for (int32_t next = blockIdx.x * 60; next < in_w; next += gridDim.x * 60) {
      const int32_t x0 = next == 0 ? in_w - (in_w - 1) % 60 - 1 : next - 60;
      const int32_t first = x0 - 2;
      const int32_t left = first + lane * 2;
      const bool has_result = 1 <= lane && lane < 31;
      for (int32_t y0 = blockIdx.y * rows; y0 < in_h; y0 += gridDim.y * rows) {
        const int32_t y1 = min_i32(y0 + rows, in_h);
        const bool in_aligned = (size_t)(in + (int64_t)first) % 8 == 0;
        const bool harris_aligned = (size_t)(harris + (int64_t)first) % 8 == 0;
        const bool in_lanes = in_aligned && (in_pitch * 4 & 7) == 0
            && (first + 64 <= in_w || (in_w - first) % 2 == 0)
            && (harris_aligned && (harris_pitch * 4 & 7) == 0);
        const int32_t in_column = min_i32(max_i32(left, 0), in_w - 2);
        if (in_lanes && (x0 + 60 <= in_w && 0 <= first && first + 64 <= in_w && 2 <= x0 && x0 + 60 <= in_w
            - 2) && (0 <= y0 - 2 && y0 + 6 <= in_h && 2 <= y0 && y0 + 4 <= in_h - 2)) {
          #pragma unroll
          for (int32_t k = 0; k < 8; ++k) {
            float in_next_row[2];
            load_whole(in_next_row, in + (y0 + k - 2) * in_pitch + left);
            if (k < 2) {
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                in_rows[k * 4 + j + 1] = in_next_row[j];
              }
              const float in_rows_beside_0 = __shfl_up_sync(~0u, in_rows[k * 4 + 2], 1);
              in_rows[k * 4] = in_rows_beside_0;
              const float in_rows_beside_1 = __shfl_down_sync(~0u, in_rows[k * 4 + 1], 1);
              in_rows[k * 4 + 3] = in_rows_beside_1;
            } else {
              store_whole(in_rest + (int64_t)((k - 2) * 64 + lane * 2), in_next_row);
            }
          }
          #pragma unroll
          for (int32_t k = 0; k < 2; ++k) {
            if (2 <= k) {
              float in_next_row[2];
              load_whole(in_next_row, in_rest + (int64_t)((k - 2) * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                in_rows[((k - 2) % 3 + 2) * 4 + j + 1] = in_next_row[j];
              }
              const float in_rows_beside_0 = __shfl_up_sync(~0u, in_rows[((k - 2) % 3 + 2) * 4 + 2], 1);
              in_rows[((k - 2) % 3 + 2) * 4] = in_rows_beside_0;
              const float in_rows_beside_1 = __shfl_down_sync(~0u, in_rows[((k - 2) % 3 + 2) * 4 + 1], 1);
              in_rows[((k - 2) % 3 + 2) * 4 + 3] = in_rows_beside_1;
            }
          }
          #pragma unroll
          for (int32_t k = 0; k < 6; ++k) {
            if (2 <= k + 2) {
              float in_next_row[2];
              load_whole(in_next_row, in_rest + (int64_t)(k * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                in_rows[(k % 3 + 2) * 4 + j + 1] = in_next_row[j];
              }
              const float in_rows_beside_0 = __shfl_up_sync(~0u, in_rows[(k % 3 + 2) * 4 + 2], 1);
              in_rows[(k % 3 + 2) * 4] = in_rows_beside_0;
              const float in_rows_beside_1 = __shfl_down_sync(~0u, in_rows[(k % 3 + 2) * 4 + 1], 1);
              in_rows[(k % 3 + 2) * 4 + 3] = in_rows_beside_1;
            }
            {
              float Ixx_own[2];
              float Iyy_own[2];
              float Ixy_own[2];
              const float* in_m1 = in_rows + (k < 2 ? k : (k - 2) % 3 + 2) * 4 + 1;
              const float* in_p1 = in_rows + (k + 2 < 2 ? k + 2 : k % 3 + 2) * 4 + 1;
              const float* in_0 = in_rows + (k + 1 < 2 ? k + 1 : (k - 1) % 3 + 2) * 4 + 1;
              float column[4];
              #pragma unroll
              for (int32_t i = 0; i < 4; ++i) {
                column[i] = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_p1[i - 1];
              }
              float column_2[4];
              #pragma unroll
              for (int32_t i = 0; i < 4; ++i) {
                column_2[i] = -0.083333336f * in_m1[i - 1] - 0.16666667f * in_0[i - 1]
                    - 0.083333336f * in_p1[i - 1];
              }
              #pragma unroll
              for (int32_t i = 0; i < 2; ++i) {
                const float Ix = 0.5f * column[i] + column[i + 1] + 0.5f * column[i + 2];
                Ixx_own[i] = Ix * Ix;
                const float Iy = column_2[i] - column_2[i + 2];
                Iyy_own[i] = Iy * Iy;
                const float Ix_2 = 0.5f * column[i] + column[i + 1] + 0.5f * column[i + 2];
                const float Iy_2 = column_2[i] - column_2[i + 2];
                Ixy_own[i] = Ix_2 * Iy_2;
              }
              if (k < 2) {
                #pragma unroll
                for (int32_t j = 0; j < 2; ++j) {
                  Ixx_rows[k * 4 + j + 1] = Ixx_own[j];
                }
                const float Ixx_rows_beside_0 = __shfl_up_sync(~0u, Ixx_rows[k * 4 + 2], 1);
                Ixx_rows[k * 4] = Ixx_rows_beside_0;
                const float Ixx_rows_beside_1 = __shfl_down_sync(~0u, Ixx_rows[k * 4 + 1], 1);
                Ixx_rows[k * 4 + 3] = Ixx_rows_beside_1;
              } else {
                store_whole(Ixx_rest + (int64_t)((k - 2) * 64 + lane * 2), Ixx_own);
              }
              if (k < 2) {
                #pragma unroll
                for (int32_t j = 0; j < 2; ++j) {
                  Iyy_rows[k * 4 + j + 1] = Iyy_own[j];
                }
                const float Iyy_rows_beside_0 = __shfl_up_sync(~0u, Iyy_rows[k * 4 + 2], 1);
                Iyy_rows[k * 4] = Iyy_rows_beside_0;
                const float Iyy_rows_beside_1 = __shfl_down_sync(~0u, Iyy_rows[k * 4 + 1], 1);
                Iyy_rows[k * 4 + 3] = Iyy_rows_beside_1;
              } else {
                store_whole(Iyy_rest + (int64_t)((k - 2) * 64 + lane * 2), Iyy_own);
              }
              if (k < 2) {
                #pragma unroll
                for (int32_t j = 0; j < 2; ++j) {
                  Ixy_rows[k * 4 + j + 1] = Ixy_own[j];
                }
                const float Ixy_rows_beside_0 = __shfl_up_sync(~0u, Ixy_rows[k * 4 + 2], 1);
                Ixy_rows[k * 4] = Ixy_rows_beside_0;
                const float Ixy_rows_beside_1 = __shfl_down_sync(~0u, Ixy_rows[k * 4 + 1], 1);
                Ixy_rows[k * 4 + 3] = Ixy_rows_beside_1;
              } else {
                store_whole(Ixy_rest + (int64_t)((k - 2) * 64 + lane * 2), Ixy_own);
              }
            }
          }
          #pragma unroll
          for (int32_t k = 0; k < 2; ++k) {
            if (2 <= k) {
              float Ixx_next_row[2];
              load_whole(Ixx_next_row, Ixx_rest + (int64_t)((k - 2) * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                Ixx_rows[((k - 2) % 3 + 2) * 4 + j + 1] = Ixx_next_row[j];
              }
              const float Ixx_rows_beside_0 = __shfl_up_sync(~0u, Ixx_rows[((k - 2) % 3 + 2) * 4 + 2], 1);
              Ixx_rows[((k - 2) % 3 + 2) * 4] = Ixx_rows_beside_0;
              const float Ixx_rows_beside_1 = __shfl_down_sync(~0u, Ixx_rows[((k - 2) % 3 + 2) * 4 + 1], 1);
              Ixx_rows[((k - 2) % 3 + 2) * 4 + 3] = Ixx_rows_beside_1;
            }
          }
          #pragma unroll
          for (int32_t k = 0; k < 2; ++k) {
            if (2 <= k) {
              float Iyy_next_row[2];
              load_whole(Iyy_next_row, Iyy_rest + (int64_t)((k - 2) * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                Iyy_rows[((k - 2) % 3 + 2) * 4 + j + 1] = Iyy_next_row[j];
              }
              const float Iyy_rows_beside_0 = __shfl_up_sync(~0u, Iyy_rows[((k - 2) % 3 + 2) * 4 + 2], 1);
              Iyy_rows[((k - 2) % 3 + 2) * 4] = Iyy_rows_beside_0;
              const float Iyy_rows_beside_1 = __shfl_down_sync(~0u, Iyy_rows[((k - 2) % 3 + 2) * 4 + 1], 1);
              Iyy_rows[((k - 2) % 3 + 2) * 4 + 3] = Iyy_rows_beside_1;
            }
          }
          #pragma unroll
          for (int32_t k = 0; k < 2; ++k) {
            if (2 <= k) {
              float Ixy_next_row[2];
              load_whole(Ixy_next_row, Ixy_rest + (int64_t)((k - 2) * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                Ixy_rows[((k - 2) % 3 + 2) * 4 + j + 1] = Ixy_next_row[j];
              }
              const float Ixy_rows_beside_0 = __shfl_up_sync(~0u, Ixy_rows[((k - 2) % 3 + 2) * 4 + 2], 1);
              Ixy_rows[((k - 2) % 3 + 2) * 4] = Ixy_rows_beside_0;
              const float Ixy_rows_beside_1 = __shfl_down_sync(~0u, Ixy_rows[((k - 2) % 3 + 2) * 4 + 1], 1);
              Ixy_rows[((k - 2) % 3 + 2) * 4 + 3] = Ixy_rows_beside_1;
            }
          }
          #pragma unroll
          for (int32_t k = 0; k < 4; ++k) {
            if (2 <= k + 2) {
              float Ixx_next_row[2];
              load_whole(Ixx_next_row, Ixx_rest + (int64_t)(k * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                Ixx_rows[(k % 3 + 2) * 4 + j + 1] = Ixx_next_row[j];
              }
              const float Ixx_rows_beside_0 = __shfl_up_sync(~0u, Ixx_rows[(k % 3 + 2) * 4 + 2], 1);
              Ixx_rows[(k % 3 + 2) * 4] = Ixx_rows_beside_0;
              const float Ixx_rows_beside_1 = __shfl_down_sync(~0u, Ixx_rows[(k % 3 + 2) * 4 + 1], 1);
              Ixx_rows[(k % 3 + 2) * 4 + 3] = Ixx_rows_beside_1;
            }
            if (2 <= k + 2) {
              float Iyy_next_row[2];
              load_whole(Iyy_next_row, Iyy_rest + (int64_t)(k * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                Iyy_rows[(k % 3 + 2) * 4 + j + 1] = Iyy_next_row[j];
              }
              const float Iyy_rows_beside_0 = __shfl_up_sync(~0u, Iyy_rows[(k % 3 + 2) * 4 + 2], 1);
              Iyy_rows[(k % 3 + 2) * 4] = Iyy_rows_beside_0;
              const float Iyy_rows_beside_1 = __shfl_down_sync(~0u, Iyy_rows[(k % 3 + 2) * 4 + 1], 1);
              Iyy_rows[(k % 3 + 2) * 4 + 3] = Iyy_rows_beside_1;
            }
            if (2 <= k + 2) {
              float Ixy_next_row[2];
              load_whole(Ixy_next_row, Ixy_rest + (int64_t)(k * 64 + lane * 2));
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                Ixy_rows[(k % 3 + 2) * 4 + j + 1] = Ixy_next_row[j];
              }
              const float Ixy_rows_beside_0 = __shfl_up_sync(~0u, Ixy_rows[(k % 3 + 2) * 4 + 2], 1);
              Ixy_rows[(k % 3 + 2) * 4] = Ixy_rows_beside_0;
              const float Ixy_rows_beside_1 = __shfl_down_sync(~0u, Ixy_rows[(k % 3 + 2) * 4 + 1], 1);
              Ixy_rows[(k % 3 + 2) * 4 + 3] = Ixy_rows_beside_1;
            }
            {
              const int32_t y = y0 + k;
              float harris_pack[2];
              const float* Ixx_m1 = Ixx_rows + (k < 2 ? k : (k - 2) % 3 + 2) * 4 + 1;
              const float* Ixx_0 = Ixx_rows + (k + 1 < 2 ? k + 1 : (k - 1) % 3 + 2) * 4 + 1;
              const float* Ixx_p1 = Ixx_rows + (k + 2 < 2 ? k + 2 : k % 3 + 2) * 4 + 1;
              const float* Iyy_m1 = Iyy_rows + (k < 2 ? k : (k - 2) % 3 + 2) * 4 + 1;
              const float* Iyy_0 = Iyy_rows + (k + 1 < 2 ? k + 1 : (k - 1) % 3 + 2) * 4 + 1;
              const float* Iyy_p1 = Iyy_rows + (k + 2 < 2 ? k + 2 : k % 3 + 2) * 4 + 1;
              const float* Ixy_m1 = Ixy_rows + (k < 2 ? k : (k - 2) % 3 + 2) * 4 + 1;
              const float* Ixy_0 = Ixy_rows + (k + 1 < 2 ? k + 1 : (k - 1) % 3 + 2) * 4 + 1;
              const float* Ixy_p1 = Ixy_rows + (k + 2 < 2 ? k + 2 : k % 3 + 2) * 4 + 1;
              float column[4];
              #pragma unroll
              for (int32_t i = 0; i < 4; ++i) {
                column[i] = Ixx_m1[i - 1] + Ixx_0[i - 1] + Ixx_p1[i - 1];
              }
              float column_2[4];
              #pragma unroll
              for (int32_t i = 0; i < 4; ++i) {
                column_2[i] = Iyy_m1[i - 1] + Iyy_0[i - 1] + Iyy_p1[i - 1];
              }
              float column_3[4];
              #pragma unroll
              for (int32_t i = 0; i < 4; ++i) {
                column_3[i] = Ixy_m1[i - 1] + Ixy_0[i - 1] + Ixy_p1[i - 1];
              }
              #pragma unroll
              for (int32_t i = 0; i < 2; ++i) {
                const float Sxx = column[i] + column[i + 1] + column[i + 2];
                const float Syy = column_2[i] + column_2[i + 1] + column_2[i + 2];
                const float Sxy = column_3[i] + column_3[i + 1] + column_3[i + 2];
                const float det = Sxx * Syy - Sxy * Sxy;
                const float trace = Sxx + Syy;
                harris_pack[i] = det - 0.04f * trace * trace;
              }
              if (has_result && y0 <= y) {
                store_whole(harris + y * harris_pitch + left, harris_pack);
              }
            }
          }
        } else {
          #pragma unroll
          for (int32_t k = 0; k < 1; ++k) {
            const int64_t in_above = clamp_index(y0 + k - 2, in_h) * in_pitch;
            if (in_lanes) {
              float in_next_row[2];
              load_whole(in_next_row, in + in_above + in_column);
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                in_next[k * 2 + j] = in_next_row[j];
              }
            } else {
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                const int32_t across = clamp_index(left + j, in_w);
                in_next[k * 2 + j] = in[in_above + across];
              }
            }
          }
          for (int32_t y = y0 - 4; y < y1; ++y) {
            #pragma unroll
            for (int32_t j = 0; j < 8; ++j) {
              in_rows[j] = in_rows[j + 4];
            }
            #pragma unroll
            for (int32_t j = 0; j < 8; ++j) {
              Ixx_rows[j] = Ixx_rows[j + 4];
            }
            #pragma unroll
            for (int32_t j = 0; j < 8; ++j) {
              Iyy_rows[j] = Iyy_rows[j + 4];
            }
            #pragma unroll
            for (int32_t j = 0; j < 8; ++j) {
              Ixy_rows[j] = Ixy_rows[j + 4];
            }
            #pragma unroll
            for (int32_t j = 0; j < 2; ++j) {
              in_rows[j + 9] = in_next[j];
            }
            const int64_t in_above = clamp_index(min_i32(y + 3, y1 + 1), in_h) * in_pitch;
            if (in_lanes) {
              float in_next_row[2];
              load_whole(in_next_row, in + in_above + in_column);
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                in_next[j] = in_next_row[j];
              }
            } else {
              #pragma unroll
              for (int32_t j = 0; j < 2; ++j) {
                const int32_t across = clamp_index(left + j, in_w);
                in_next[j] = in[in_above + across];
              }
            }
            const float in_rows_beside_0 = __shfl_up_sync(~0u, in_rows[10], 1);
            in_rows[8] = in_rows_beside_0;
            const float in_rows_beside_1 = __shfl_down_sync(~0u, in_rows[9], 1);
            in_rows[11] = in_rows_beside_1;
            if (in_lanes) {
              in_rows[8] = left == 0 ? in_rows[9] : in_rows[8];
              in_rows[11] = left + 2 == in_w ? in_rows[10] : in_rows[11];
            }
            {
              const int32_t Ixx_y = y + 1;
              const float* in_m1 = in_rows + 1;
              const float* in_p1 = in_rows + 9;
              const float* in_0 = in_rows + 5;
              float column[4];
              #pragma unroll
              for (int32_t i = 0; i < 4; ++i) {
                column[i] = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_p1[i - 1];
              }
              float column_2[4];
              #pragma unroll
              for (int32_t i = 0; i < 4; ++i) {
                column_2[i] = -0.083333336f * in_m1[i - 1] - 0.16666667f * in_0[i - 1]
                    - 0.083333336f * in_p1[i - 1];
              }
              #pragma unroll
              for (int32_t i = 0; i < 2; ++i) {
                const float Ix = 0.5f * column[i] + column[i + 1] + 0.5f * column[i + 2];
                Ixx_rows[i + 9] = Ix * Ix;
                const float Iy = column_2[i] - column_2[i + 2];
                Iyy_rows[i + 9] = Iy * Iy;
                const float Ix_2 = 0.5f * column[i] + column[i + 1] + 0.5f * column[i + 2];
                const float Iy_2 = column_2[i] - column_2[i + 2];
                Ixy_rows[i + 9] = Ix_2 * Iy_2;
              }
              if (first < 0) {
                const float Ixx_rows_left_0 = __shfl_sync(~0u, min_i32(max_i32(0 - first, 0), 63) % 2 == 1
                    ? Ixx_rows[10] : Ixx_rows[9], (int64_t)(min_i32(max_i32(0 - first, 0), 63) / 2));
                #pragma unroll
                for (int32_t i = 0; i < 2; ++i) {
                  Ixx_rows[i + 9] = left + i < 0 ? Ixx_rows_left_0 : Ixx_rows[i + 9];
                }
              }
              if (in_w < first + 64) {
                const float Ixx_rows_right_0 = __shfl_sync(~0u,
                    min_i32(max_i32(in_w - first - 1, 0), 63) % 2 == 1 ? Ixx_rows[10] : Ixx_rows[9],
                    (int64_t)(min_i32(max_i32(in_w - first - 1, 0), 63) / 2));
                #pragma unroll
                for (int32_t i = 0; i < 2; ++i) {
                  Ixx_rows[i + 9] = in_w <= left + i ? Ixx_rows_right_0 : Ixx_rows[i + 9];
                }
              }
              const float Ixx_rows_beside_0 = __shfl_up_sync(~0u, Ixx_rows[10], 1);
              Ixx_rows[8] = Ixx_rows_beside_0;
              const float Ixx_rows_beside_1 = __shfl_down_sync(~0u, Ixx_rows[9], 1);
              Ixx_rows[11] = Ixx_rows_beside_1;
              if (Ixx_y - 2 < 0 || in_h <= Ixx_y) {
                if (in_h <= Ixx_y && clamp_index(Ixx_y, in_h) == Ixx_y - 1) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixx_rows[j + 8] = Ixx_rows[j + 4];
                  }
                }
                if (Ixx_y - 1 < 0 && clamp_index(Ixx_y - 1, in_h) == Ixx_y) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixx_rows[j + 4] = Ixx_rows[j + 8];
                  }
                }
                if (in_h <= Ixx_y && clamp_index(Ixx_y, in_h) == Ixx_y - 2) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixx_rows[j + 8] = Ixx_rows[j];
                  }
                }
                if (Ixx_y - 2 < 0 && clamp_index(Ixx_y - 2, in_h) == Ixx_y) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixx_rows[j] = Ixx_rows[j + 8];
                  }
                }
              }
              if (first < 0) {
                const float Iyy_rows_left_0 = __shfl_sync(~0u, min_i32(max_i32(0 - first, 0), 63) % 2 == 1
                    ? Iyy_rows[10] : Iyy_rows[9], (int64_t)(min_i32(max_i32(0 - first, 0), 63) / 2));
                #pragma unroll
                for (int32_t i = 0; i < 2; ++i) {
                  Iyy_rows[i + 9] = left + i < 0 ? Iyy_rows_left_0 : Iyy_rows[i + 9];
                }
              }
              if (in_w < first + 64) {
                const float Iyy_rows_right_0 = __shfl_sync(~0u,
                    min_i32(max_i32(in_w - first - 1, 0), 63) % 2 == 1 ? Iyy_rows[10] : Iyy_rows[9],
                    (int64_t)(min_i32(max_i32(in_w - first - 1, 0), 63) / 2));
                #pragma unroll
                for (int32_t i = 0; i < 2; ++i) {
                  Iyy_rows[i + 9] = in_w <= left + i ? Iyy_rows_right_0 : Iyy_rows[i + 9];
                }
              }
              const float Iyy_rows_beside_0 = __shfl_up_sync(~0u, Iyy_rows[10], 1);
              Iyy_rows[8] = Iyy_rows_beside_0;
              const float Iyy_rows_beside_1 = __shfl_down_sync(~0u, Iyy_rows[9], 1);
              Iyy_rows[11] = Iyy_rows_beside_1;
              if (Ixx_y - 2 < 0 || in_h <= Ixx_y) {
                if (in_h <= Ixx_y && clamp_index(Ixx_y, in_h) == Ixx_y - 1) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Iyy_rows[j + 8] = Iyy_rows[j + 4];
                  }
                }
                if (Ixx_y - 1 < 0 && clamp_index(Ixx_y - 1, in_h) == Ixx_y) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Iyy_rows[j + 4] = Iyy_rows[j + 8];
                  }
                }
                if (in_h <= Ixx_y && clamp_index(Ixx_y, in_h) == Ixx_y - 2) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Iyy_rows[j + 8] = Iyy_rows[j];
                  }
                }
                if (Ixx_y - 2 < 0 && clamp_index(Ixx_y - 2, in_h) == Ixx_y) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Iyy_rows[j] = Iyy_rows[j + 8];
                  }
                }
              }
              if (first < 0) {
                const float Ixy_rows_left_0 = __shfl_sync(~0u, min_i32(max_i32(0 - first, 0), 63) % 2 == 1
                    ? Ixy_rows[10] : Ixy_rows[9], (int64_t)(min_i32(max_i32(0 - first, 0), 63) / 2));
                #pragma unroll
                for (int32_t i = 0; i < 2; ++i) {
                  Ixy_rows[i + 9] = left + i < 0 ? Ixy_rows_left_0 : Ixy_rows[i + 9];
                }
              }
              if (in_w < first + 64) {
                const float Ixy_rows_right_0 = __shfl_sync(~0u,
                    min_i32(max_i32(in_w - first - 1, 0), 63) % 2 == 1 ? Ixy_rows[10] : Ixy_rows[9],
                    (int64_t)(min_i32(max_i32(in_w - first - 1, 0), 63) / 2));
                #pragma unroll
                for (int32_t i = 0; i < 2; ++i) {
                  Ixy_rows[i + 9] = in_w <= left + i ? Ixy_rows_right_0 : Ixy_rows[i + 9];
                }
              }
              const float Ixy_rows_beside_0 = __shfl_up_sync(~0u, Ixy_rows[10], 1);
              Ixy_rows[8] = Ixy_rows_beside_0;
              const float Ixy_rows_beside_1 = __shfl_down_sync(~0u, Ixy_rows[9], 1);
              Ixy_rows[11] = Ixy_rows_beside_1;
              if (Ixx_y - 2 < 0 || in_h <= Ixx_y) {
                if (in_h <= Ixx_y && clamp_index(Ixx_y, in_h) == Ixx_y - 1) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixy_rows[j + 8] = Ixy_rows[j + 4];
                  }
                }
                if (Ixx_y - 1 < 0 && clamp_index(Ixx_y - 1, in_h) == Ixx_y) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixy_rows[j + 4] = Ixy_rows[j + 8];
                  }
                }
                if (in_h <= Ixx_y && clamp_index(Ixx_y, in_h) == Ixx_y - 2) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixy_rows[j + 8] = Ixy_rows[j];
                  }
                }
                if (Ixx_y - 2 < 0 && clamp_index(Ixx_y - 2, in_h) == Ixx_y) {
                  #pragma unroll
                  for (int32_t j = 0; j < 4; ++j) {
                    Ixy_rows[j] = Ixy_rows[j + 8];
                  }
                }
              }
            }
            {
              const int32_t harris_place = min_i32(max_i32(y, 0), in_h - 1);
              float harris_pack[2];
              const float* Ixx_m1 = Ixx_rows + 1;
              const float* Ixx_0 = Ixx_rows + 5;
              const float* Ixx_p1 = Ixx_rows + 9;
              const float* Iyy_m1 = Iyy_rows + 1;
              const float* Iyy_0 = Iyy_rows + 5;
              const float* Iyy_p1 = Iyy_rows + 9;
              const float* Ixy_m1 = Ixy_rows + 1;
              const float* Ixy_0 = Ixy_rows + 5;
              const float* Ixy_p1 = Ixy_rows + 9;
              #pragma unroll
              for (int32_t i = 0; i < 2; ++i) {
                const int32_t x = min_i32(max_i32(left + i, 0), in_w - 1);
                if (2 <= x && 2 <= harris_place && x < in_w - 2 && harris_place < in_h - 2) {
                  const float Sxx = Ixx_m1[i - 1] + Ixx_m1[i] + Ixx_m1[i + 1] + Ixx_0[i - 1] + Ixx_0[i]
                      + Ixx_0[i + 1] + Ixx_p1[i - 1] + Ixx_p1[i] + Ixx_p1[i + 1];
                  const float Syy = Iyy_m1[i - 1] + Iyy_m1[i] + Iyy_m1[i + 1] + Iyy_0[i - 1] + Iyy_0[i]
                      + Iyy_0[i + 1] + Iyy_p1[i - 1] + Iyy_p1[i] + Iyy_p1[i + 1];
                  const float Sxy = Ixy_m1[i - 1] + Ixy_m1[i] + Ixy_m1[i + 1] + Ixy_0[i - 1] + Ixy_0[i]
                      + Ixy_0[i + 1] + Ixy_p1[i - 1] + Ixy_p1[i] + Ixy_p1[i + 1];
                  const float det = Sxx * Syy - Sxy * Sxy;
                  const float trace = Sxx + Syy;
                  harris_pack[i] = det - 0.04f * trace * trace;
                } else {
                  harris_pack[i] = 0.0f;
                }
              }
              if (has_result && y0 <= y && y < y1) {
                store_pack(harris + y * harris_pitch + left, harris_pack, in_w - left);
              }
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

cudaError_t run_harris_corner(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float* harris,
    int64_t harris_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;

  if (status == cudaSuccess) {
    status = launch(harris_kernel, {(in_w + 59) / 60 * 32, (in_h + 3) / 4, 1}, {32, 1, 1}, stream, in,
        harris, in_w, in_h, in_pitch, harris_pitch);
  }
  return status;
}

cudaError_t run_harris_corner_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    float* harris, int64_t harris_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_harris = nullptr;
  int64_t device_harris_pitch = (in_w + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_harris, device_harris_pitch * max_i64(in_h, 1),
      in_w == 0 || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_harris_corner(device_in, device_in_pitch, in_w, in_h, device_harris, device_harris_pitch,
        stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {harris_pitch}, from[] = {device_harris_pitch};
    status = copy_rows(harris, to, device_harris, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_harris, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace harris_corner
