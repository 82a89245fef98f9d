// Pipeline 'unsharp_mask', emitted by Weft. How it runs:
//   blurx    in rows of mask: computed 0 rows ahead of 'mask', which needs 1 of its rows at a time: no store, no load
//   blury    computed in mask: sharpen, mask read it at the same pixel, in one kernel: no store, no load
//   sharpen  computed in mask: its only consumer 'mask' reads it at the same pixel: no store, no load
//   mask     stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c unsharp_mask.cu
#include "unsharp_mask.h"

namespace unsharp_mask {

namespace {

__host__ __device__ inline int32_t max_i32(int32_t a, int32_t b) { return a < b ? b : a; }
__host__ __device__ inline int64_t max_i64(int64_t a, int64_t b) { return a < b ? b : a; }
__host__ __device__ inline int32_t min_i32(int32_t a, int32_t b) { return b < a ? b : a; }
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

// 'mask' with 'blurx'. Each warp goes down a strip of 60 pixels, 2 a lane, and keeps the rows of
// 'in', 'blurx' in registers while they are read.
__global__ void __launch_bounds__(32, 1) mask_kernel(const float* __restrict__ in, float* __restrict__ mask,
    int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t mask_pitch, float threshold, float weight,
    int32_t mask_room) {
  float in_next[30];
  float in_rows[30] = {};
  float blurx_rows[18] = {};
  const int32_t rows = (max_i32(div_i32(in_h
      + max_i32(div_i32(mask_room, max_i32((in_w + 59) / 60 + min_i32((in_w + 59) / 60, 2), 1)), 1) - 1,
      max_i32(div_i32(mask_room, max_i32((in_w + 59) / 60 + min_i32((in_w + 59) / 60, 2), 1)), 1)) - 6, 0)
      + 4) / 5 * 5 + 6;
  {
    const int32_t lane = (int32_t)threadIdx.x;
    {
      const int32_t next = blockIdx.x * 60;
      const bool is_end = next < 240;
      const int32_t x0 = next < 120 ? in_w - (in_w - 1) % 60 - 1 : is_end ? 0 : next - 180;
      const int32_t strip_rows = is_end ? (max_i32((rows + 1) / 2 - 6, 0) + 4) / 5 * 5 + 6 : rows;
      const int32_t first = x0 - 2;
      const int32_t left = first + lane * 2;
      const bool has_result = 1 <= lane && lane < 31;
      {
        const int32_t band = blockIdx.y;
        const int32_t y0 = (int32_t)min_i64((int64_t)(is_end ? band * 2 + (next / 60 & 1) : band)
            * (int64_t)strip_rows, (int64_t)in_h);
        if (next < in_w + min_i32((in_w + 59) / 60, 2) * 60 && y0 < in_h) {
          const int32_t y1 = min_i32(y0 + strip_rows, in_h);
          const bool in_aligned = (size_t)(in + (int64_t)(first * 3)) % 8 == 0;
          const bool mask_aligned = (size_t)(mask + (int64_t)(first * 3)) % 8 == 0;
          const bool in_lanes = in_aligned && (in_pitch * 4 & 7) == 0
              && (first + 64 <= in_w || (in_w - first) % 2 == 0)
              && (mask_aligned && (mask_pitch * 4 & 7) == 0);
          const bool is_inside = x0 + 60 <= in_w && 0 <= first && first + 64 <= in_w;
          const int32_t inner = in_lanes && 0 <= y1 + 1 ? min_i32(max_i32(max_i32(y0 - 4, -7), 0), y1) : y1;
          const int32_t inner_end = inner + max_i32(min_i32(min_i32(y1, in_h - 7), in_h) - inner, 0) / 5 * 5;
          const int32_t in_column = min_i32(max_i32(left, 0), in_w - 2);
          if (inner == y0 - 4 && inner < inner_end && 0 <= y0 - 2) {
            #pragma unroll
            for (int32_t k = 0; k < 5; ++k) {
              float in_next_row[6];
              load_whole(in_next_row, in + (y0 + k - 2) * in_pitch + in_column * 3);
              #pragma unroll
              for (int32_t j = 0; j < 6; ++j) {
                in_next[k * 6 + j] = in_next_row[j];
              }
            }
          } else {
            #pragma unroll
            for (int32_t k = 0; k < 5; ++k) {
              const int64_t in_above = (y0 + k - 2) * in_pitch;
              if (in_lanes && (0 <= y0 + k - 2 && y0 + k - 2 < in_h)) {
                float in_next_row[6];
                load_whole(in_next_row, in + in_above + in_column * 3);
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  in_next[k * 6 + j] = in_next_row[j];
                }
              } else {
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  const int32_t across = (left + j / 3) * 3 + j % 3;
                  in_next[k * 6 + j] = 0 <= left + j / 3 && left + j / 3 < in_w
                      && (0 <= y0 + k - 2 && y0 + k - 2 < in_h) ? in[in_above + across] : 0.0f;
                }
              }
            }
          }
          int32_t from_ = y0 - 4;
          int32_t until = inner;
          for (int32_t part_ = 0; part_ < 2; ++part_) {
            for (int32_t y = from_; y < until; ++y) {
              #pragma unroll
              for (int32_t j = 0; j < 24; ++j) {
                in_rows[j] = in_rows[j + 6];
              }
              #pragma unroll
              for (int32_t j = 0; j < 6; ++j) {
                in_rows[j + 24] = in_next[j];
              }
              #pragma unroll
              for (int32_t j = 0; j < 24; ++j) {
                in_next[j] = in_next[j + 6];
              }
              const int64_t in_above = min_i32(y + 7, y1 + 1) * in_pitch;
              if (in_lanes && (0 <= min_i32(y + 7, y1 + 1) && min_i32(y + 7, y1 + 1) < in_h)) {
                float in_next_row[6];
                load_whole(in_next_row, in + in_above + in_column * 3);
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  in_next[j + 24] = in_next_row[j];
                }
              } else {
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  const int32_t across = (left + j / 3) * 3 + j % 3;
                  in_next[j + 24] = 0 <= left + j / 3 && left + j / 3 < in_w
                      && (0 <= min_i32(y + 7, y1 + 1) && min_i32(y + 7, y1 + 1) < in_h)
                      ? in[in_above + across] : 0.0f;
                }
              }
              {
                const int32_t blurx_y = y;
                const float* in_m2 = in_rows;
                const float* in_m1 = in_rows + 6;
                const float* in_0 = in_rows + 12;
                const float* in_p1 = in_rows + 18;
                const float* in_p2 = in_rows + 24;
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  blurx_rows[i + 6] = 0.0625f * in_m2[i] + 0.25f * in_m1[i] + 0.375f * in_0[i]
                      + 0.25f * in_p1[i] + 0.0625f * in_p2[i];
                }
                if (first < 0 || in_w < first + 64) {
                  #pragma unroll
                  for (int32_t i = 0; i < 2; ++i) {
                    const bool is_there = 0 <= left + i && left + i < in_w
                        && (0 <= blurx_y && blurx_y < in_h);
                    blurx_rows[i * 3 + 6] = is_there ? blurx_rows[i * 3 + 6] : 0.0f;
                    blurx_rows[i * 3 + 7] = is_there ? blurx_rows[i * 3 + 7] : 0.0f;
                    blurx_rows[i * 3 + 8] = is_there ? blurx_rows[i * 3 + 8] : 0.0f;
                  }
                }
                const float blurx_rows_beside_0 = __shfl_up_sync(~0u, blurx_rows[6], 1);
                blurx_rows[0] = blurx_rows_beside_0;
                const float blurx_rows_beside_1 = __shfl_up_sync(~0u, blurx_rows[7], 1);
                blurx_rows[1] = blurx_rows_beside_1;
                const float blurx_rows_beside_2 = __shfl_up_sync(~0u, blurx_rows[8], 1);
                blurx_rows[2] = blurx_rows_beside_2;
                const float blurx_rows_beside_3 = __shfl_up_sync(~0u, blurx_rows[9], 1);
                blurx_rows[3] = blurx_rows_beside_3;
                const float blurx_rows_beside_4 = __shfl_up_sync(~0u, blurx_rows[10], 1);
                blurx_rows[4] = blurx_rows_beside_4;
                const float blurx_rows_beside_5 = __shfl_up_sync(~0u, blurx_rows[11], 1);
                blurx_rows[5] = blurx_rows_beside_5;
                const float blurx_rows_beside_6 = __shfl_down_sync(~0u, blurx_rows[6], 1);
                blurx_rows[12] = blurx_rows_beside_6;
                const float blurx_rows_beside_7 = __shfl_down_sync(~0u, blurx_rows[7], 1);
                blurx_rows[13] = blurx_rows_beside_7;
                const float blurx_rows_beside_8 = __shfl_down_sync(~0u, blurx_rows[8], 1);
                blurx_rows[14] = blurx_rows_beside_8;
                const float blurx_rows_beside_9 = __shfl_down_sync(~0u, blurx_rows[9], 1);
                blurx_rows[15] = blurx_rows_beside_9;
                const float blurx_rows_beside_10 = __shfl_down_sync(~0u, blurx_rows[10], 1);
                blurx_rows[16] = blurx_rows_beside_10;
                const float blurx_rows_beside_11 = __shfl_down_sync(~0u, blurx_rows[11], 1);
                blurx_rows[17] = blurx_rows_beside_11;
              }
              {
                float mask_pack[6];
                const float* in_0 = in_rows + 12;
                const float* blurx_0 = blurx_rows + 6;
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  const float v = 0.0625f * blurx_0[i - 6] + 0.25f * blurx_0[i - 3] + 0.375f * blurx_0[i]
                      + 0.25f * blurx_0[i + 3] + 0.0625f * blurx_0[i + 6];
                  mask_pack[i] = fabsf(in_0[i] - v) < threshold ? in_0[i] : (1.0f + weight) * in_0[i]
                      - weight * v;
                }
                if (has_result && y0 <= y && y < y1) {
                  store_pack(mask + y * mask_pitch + left * 3, mask_pack, (in_w - left) * 3);
                }
              }
            }
            for (int32_t batch = is_inside ? until : inner_end; batch < inner_end; batch += 5) {
              #pragma unroll
              for (int32_t k = 0; k < 5; ++k) {
                const int32_t y = batch + k;
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  in_rows[k % 5 * 6 + j] = in_next[k % 5 * 6 + j];
                }
                float in_next_row[6];
                load_whole(in_next_row, in + min_i32(y + 7, y1 + 1) * in_pitch + left * 3);
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  in_next[k % 5 * 6 + j] = in_next_row[j];
                }
                {
                  const float* in_m2 = in_rows + (k + 1) % 5 * 6;
                  const float* in_m1 = in_rows + (k + 2) % 5 * 6;
                  const float* in_0 = in_rows + (k + 3) % 5 * 6;
                  const float* in_p1 = in_rows + (k + 4) % 5 * 6;
                  const float* in_p2 = in_rows + k % 5 * 6;
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    blurx_rows[i + 6] = 0.0625f * in_m2[i] + 0.25f * in_m1[i] + 0.375f * in_0[i]
                        + 0.25f * in_p1[i] + 0.0625f * in_p2[i];
                  }
                  const float blurx_rows_beside_0 = __shfl_up_sync(~0u, blurx_rows[6], 1);
                  blurx_rows[0] = blurx_rows_beside_0;
                  const float blurx_rows_beside_1 = __shfl_up_sync(~0u, blurx_rows[7], 1);
                  blurx_rows[1] = blurx_rows_beside_1;
                  const float blurx_rows_beside_2 = __shfl_up_sync(~0u, blurx_rows[8], 1);
                  blurx_rows[2] = blurx_rows_beside_2;
                  const float blurx_rows_beside_3 = __shfl_up_sync(~0u, blurx_rows[9], 1);
                  blurx_rows[3] = blurx_rows_beside_3;
                  const float blurx_rows_beside_4 = __shfl_up_sync(~0u, blurx_rows[10], 1);
                  blurx_rows[4] = blurx_rows_beside_4;
                  const float blurx_rows_beside_5 = __shfl_up_sync(~0u, blurx_rows[11], 1);
                  blurx_rows[5] = blurx_rows_beside_5;
                  const float blurx_rows_beside_6 = __shfl_down_sync(~0u, blurx_rows[6], 1);
                  blurx_rows[12] = blurx_rows_beside_6;
                  const float blurx_rows_beside_7 = __shfl_down_sync(~0u, blurx_rows[7], 1);
                  blurx_rows[13] = blurx_rows_beside_7;
                  const float blurx_rows_beside_8 = __shfl_down_sync(~0u, blurx_rows[8], 1);
                  blurx_rows[14] = blurx_rows_beside_8;
                  const float blurx_rows_beside_9 = __shfl_down_sync(~0u, blurx_rows[9], 1);
                  blurx_rows[15] = blurx_rows_beside_9;
                  const float blurx_rows_beside_10 = __shfl_down_sync(~0u, blurx_rows[10], 1);
                  blurx_rows[16] = blurx_rows_beside_10;
                  const float blurx_rows_beside_11 = __shfl_down_sync(~0u, blurx_rows[11], 1);
                  blurx_rows[17] = blurx_rows_beside_11;
                }
                {
                  float mask_pack[6];
                  const float* in_0 = in_rows + (k + 3) % 5 * 6;
                  const float* blurx_0 = blurx_rows + 6;
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    const float v = 0.0625f * blurx_0[i - 6] + 0.25f * blurx_0[i - 3] + 0.375f * blurx_0[i]
                        + 0.25f * blurx_0[i + 3] + 0.0625f * blurx_0[i + 6];
                    mask_pack[i] = fabsf(in_0[i] - v) < threshold ? in_0[i] : (1.0f + weight) * in_0[i]
                        - weight * v;
                  }
                  if (has_result && y0 <= y) {
                    store_whole(mask + y * mask_pitch + left * 3, mask_pack);
                  }
                }
              }
            }
            for (int32_t batch = !is_inside ? until : inner_end; batch < inner_end; batch += 5) {
              #pragma unroll
              for (int32_t k = 0; k < 5; ++k) {
                const int32_t y = batch + k;
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  in_rows[k % 5 * 6 + j] = in_next[k % 5 * 6 + j];
                }
                float in_next_row[6];
                load_whole(in_next_row, in + min_i32(y + 7, y1 + 1) * in_pitch + in_column * 3);
                #pragma unroll
                for (int32_t j = 0; j < 6; ++j) {
                  in_next[k % 5 * 6 + j] = in_next_row[j];
                }
                {
                  const float* in_m2 = in_rows + (k + 1) % 5 * 6;
                  const float* in_m1 = in_rows + (k + 2) % 5 * 6;
                  const float* in_0 = in_rows + (k + 3) % 5 * 6;
                  const float* in_p1 = in_rows + (k + 4) % 5 * 6;
                  const float* in_p2 = in_rows + k % 5 * 6;
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    blurx_rows[i + 6] = 0.0625f * in_m2[i] + 0.25f * in_m1[i] + 0.375f * in_0[i]
                        + 0.25f * in_p1[i] + 0.0625f * in_p2[i];
                  }
                  const float blurx_rows_beside_0 = __shfl_up_sync(~0u, blurx_rows[6], 1);
                  blurx_rows[0] = blurx_rows_beside_0;
                  const float blurx_rows_beside_1 = __shfl_up_sync(~0u, blurx_rows[7], 1);
                  blurx_rows[1] = blurx_rows_beside_1;
                  const float blurx_rows_beside_2 = __shfl_up_sync(~0u, blurx_rows[8], 1);
                  blurx_rows[2] = blurx_rows_beside_2;
                  const float blurx_rows_beside_3 = __shfl_up_sync(~0u, blurx_rows[9], 1);
                  blurx_rows[3] = blurx_rows_beside_3;
                  const float blurx_rows_beside_4 = __shfl_up_sync(~0u, blurx_rows[10], 1);
                  blurx_rows[4] = blurx_rows_beside_4;
                  const float blurx_rows_beside_5 = __shfl_up_sync(~0u, blurx_rows[11], 1);
                  blurx_rows[5] = blurx_rows_beside_5;
                  const float blurx_rows_beside_6 = __shfl_down_sync(~0u, blurx_rows[6], 1);
                  blurx_rows[12] = blurx_rows_beside_6;
                  const float blurx_rows_beside_7 = __shfl_down_sync(~0u, blurx_rows[7], 1);
                  blurx_rows[13] = blurx_rows_beside_7;
                  const float blurx_rows_beside_8 = __shfl_down_sync(~0u, blurx_rows[8], 1);
                  blurx_rows[14] = blurx_rows_beside_8;
                  const float blurx_rows_beside_9 = __shfl_down_sync(~0u, blurx_rows[9], 1);
                  blurx_rows[15] = blurx_rows_beside_9;
                  const float blurx_rows_beside_10 = __shfl_down_sync(~0u, blurx_rows[10], 1);
                  blurx_rows[16] = blurx_rows_beside_10;
                  const float blurx_rows_beside_11 = __shfl_down_sync(~0u, blurx_rows[11], 1);
                  blurx_rows[17] = blurx_rows_beside_11;
                  blurx_rows[3] = left == 0 ? 0.0f : blurx_rows[3];
                  blurx_rows[4] = left == 0 ? 0.0f : blurx_rows[4];
                  blurx_rows[5] = left == 0 ? 0.0f : blurx_rows[5];
                  blurx_rows[0] = left == 0 ? 0.0f : blurx_rows[0];
                  blurx_rows[1] = left == 0 ? 0.0f : blurx_rows[1];
                  blurx_rows[2] = left == 0 ? 0.0f : blurx_rows[2];
                  blurx_rows[12] = left + 2 == in_w ? 0.0f : blurx_rows[12];
                  blurx_rows[13] = left + 2 == in_w ? 0.0f : blurx_rows[13];
                  blurx_rows[14] = left + 2 == in_w ? 0.0f : blurx_rows[14];
                  blurx_rows[15] = left + 2 == in_w ? 0.0f : blurx_rows[15];
                  blurx_rows[16] = left + 2 == in_w ? 0.0f : blurx_rows[16];
                  blurx_rows[17] = left + 2 == in_w ? 0.0f : blurx_rows[17];
                }
                {
                  float mask_pack[6];
                  const float* in_0 = in_rows + (k + 3) % 5 * 6;
                  const float* blurx_0 = blurx_rows + 6;
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    const float v = 0.0625f * blurx_0[i - 6] + 0.25f * blurx_0[i - 3] + 0.375f * blurx_0[i]
                        + 0.25f * blurx_0[i + 3] + 0.0625f * blurx_0[i + 6];
                    mask_pack[i] = fabsf(in_0[i] - v) < threshold ? in_0[i] : (1.0f + weight) * in_0[i]
                        - weight * v;
                  }
                  if (has_result && y0 <= y && left < in_w) {
                    store_whole(mask + y * mask_pitch + left * 3, mask_pack);
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

cudaError_t run_unsharp_mask(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float threshold,
    float weight, float* mask, int64_t mask_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  static thread_local Room rooms[1];
  if (status == cudaSuccess) status = find_room(mask_kernel, 32, rooms[0]);
  const int64_t mask_room = rooms[0].blocks;

  if (status == cudaSuccess) {
    status = launch(mask_kernel, {((in_w + 59) / 60 + min_i64((in_w + 59) / 60, 2)) * 32,
        div_i64(in_h + (max_i64(div_i64(in_h
        + max_i64(div_i64(mask_room, max_i64((in_w + 59) / 60 + min_i64((in_w + 59) / 60, 2), 1)), 1) - 1,
        max_i64(div_i64(mask_room, max_i64((in_w + 59) / 60 + min_i64((in_w + 59) / 60, 2), 1)), 1)) - 6, 0)
        + 4) / 5 * 5 + 5, (max_i64(div_i64(in_h
        + max_i64(div_i64(mask_room, max_i64((in_w + 59) / 60 + min_i64((in_w + 59) / 60, 2), 1)), 1) - 1,
        max_i64(div_i64(mask_room, max_i64((in_w + 59) / 60 + min_i64((in_w + 59) / 60, 2), 1)), 1)) - 6, 0)
        + 4) / 5 * 5 + 6), 1}, {32, 1, 1}, stream, in, mask, in_w, in_h, in_pitch, mask_pitch, threshold,
        weight, mask_room);
  }
  return status;
}

cudaError_t run_unsharp_mask_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h,
    float threshold, float weight, float* mask, int64_t mask_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w * 3 + 31) / 32 * 32;
  float* device_mask = nullptr;
  int64_t device_mask_pitch = (in_w * 3 + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w * 3, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_mask, device_mask_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_unsharp_mask(device_in, device_in_pitch, in_w, in_h, threshold, weight, device_mask,
        device_mask_pitch, stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w * 3, in_h}, to[] = {mask_pitch}, from[] = {device_mask_pitch};
    status = copy_rows(mask, to, device_mask, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_mask, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace unsharp_mask
