// Pipeline 'harris', emitted by Weft. How it runs:
//   dx   computed in hc: sx, sxy read it at the same pixel, in one loop: no store, no load
//   sx   in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gx   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   dy   computed in hc: sy, sxy read it at the same pixel, in one loop: no store, no load
//   sy   in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gy   computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   sxy  in rows of hc: computed 1 row ahead of 'hc', which needs 3 of its rows at a time: no store, no load
//   gxy  computed in hc: its only consumer 'hc' reads it at the same pixel: no store, no load
//   hc   stored: it is an output
//
// Compile with: nvcc -std=c++17 -O3 -arch=sm_90 -ftz=true -prec-div=false -prec-sqrt=false -c harris.cu
#include "harris.h"

namespace harris {

namespace {

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

// 'hc' with 'sx', 'sy', 'sxy'. Each warp goes down a strip of 120 pixels, 4 a lane, and keeps the rows of
// 'in', 'sx', 'sy', 'sxy' in registers while they are read.
__global__ void __launch_bounds__(32, 20) hc_kernel(const float* __restrict__ in, float* __restrict__ hc,
    int32_t in_w, int32_t in_h, int64_t in_pitch, int64_t hc_pitch, float k, int32_t hc_room) {
  float in_next[12];
  float in_rows[18] = {};
  float sx_rows[18] = {};
  float sy_rows[18] = {};
  float sxy_rows[18] = {};
  const int32_t rows = (max_i32(div_i32(in_h
      + max_i32(div_i32(hc_room, max_i32((in_w + 119) / 120 + min_i32((in_w + 119) / 120, 2), 1)), 1) - 1,
      max_i32(div_i32(hc_room, max_i32((in_w + 119) / 120 + min_i32((in_w + 119) / 120, 2), 1)), 1)) - 2, 0)
      + 2) / 3 * 3 + 2;
  {
    const int32_t lane = (int32_t)threadIdx.x;
    {
      const int32_t next = blockIdx.x * 120;
      const bool is_end = next < 480;
      const int32_t x0 = next < 240 ? in_w - (in_w - 1) % 120 - 1 : is_end ? 0 : next - 360;
      const int32_t strip_rows = is_end ? (max_i32((rows + 1) / 2 - 2, 0) + 2) / 3 * 3 + 2 : rows;
      const int32_t first = x0 - 4;
      const int32_t left = first + lane * 4;
      const bool has_result = 1 <= lane && lane < 31;
      {
        const int32_t band = blockIdx.y;
        const int32_t y0 = (int32_t)min_i64((int64_t)(is_end ? band * 2 + (next / 120 & 1) : band)
            * (int64_t)strip_rows, (int64_t)in_h);
        if (next < in_w + min_i32((in_w + 119) / 120, 2) * 120 && y0 < in_h) {
          const int32_t y1 = min_i32(y0 + strip_rows, in_h);
          const bool in_aligned = (size_t)(in + (int64_t)first) % 16 == 0;
          const bool hc_aligned = (size_t)(hc + (int64_t)first) % 16 == 0;
          const bool in_lanes = in_aligned && (in_pitch * 4 & 15) == 0
              && (first + 128 <= in_w || (in_w - first) % 4 == 0) && (hc_aligned && (hc_pitch * 4 & 15) == 0);
          const bool is_inside = x0 + 120 <= in_w && 0 <= first && first + 128 <= in_w;
          const int32_t inner = in_lanes && 0 <= y1 + 1
              ? min_i32(max_i32(max_i32(max_i32(y0 - 4, -5), 1), 0), y1) : y1;
          const int32_t inner_end = inner + max_i32(min_i32(min_i32(min_i32(y1, in_h - 5), in_h - 1), in_h)
              - inner, 0) / 3 * 3;
          const int32_t in_column = min_i32(max_i32(left, 0), in_w - 4);
          if (inner == y0 - 4 && inner < inner_end && 0 <= y0 - 2) {
            #pragma unroll
            for (int32_t k_2 = 0; k_2 < 3; ++k_2) {
              float in_next_row[4];
              load_whole(in_next_row, in + (y0 + k_2 - 2) * in_pitch + in_column);
              #pragma unroll
              for (int32_t j = 0; j < 4; ++j) {
                in_next[k_2 * 4 + j] = in_next_row[j];
              }
            }
          } else {
            #pragma unroll
            for (int32_t k_2 = 0; k_2 < 3; ++k_2) {
              const int64_t in_above = clamp_index(y0 + k_2 - 2, in_h) * in_pitch;
              if (in_lanes) {
                float in_next_row[4];
                load_whole(in_next_row, in + in_above + in_column);
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  in_next[k_2 * 4 + j] = in_next_row[j];
                }
              } else {
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  const int32_t across = clamp_index(left + j, in_w);
                  in_next[k_2 * 4 + j] = in[in_above + across];
                }
              }
            }
          }
          int32_t from_ = y0 - 4;
          int32_t until = inner;
          for (int32_t part_ = 0; part_ < 2; ++part_) {
            for (int32_t y = from_; y < until; ++y) {
              #pragma unroll
              for (int32_t j = 0; j < 12; ++j) {
                in_rows[j] = in_rows[j + 6];
              }
              #pragma unroll
              for (int32_t j = 0; j < 12; ++j) {
                sx_rows[j] = sx_rows[j + 6];
              }
              #pragma unroll
              for (int32_t j = 0; j < 12; ++j) {
                sy_rows[j] = sy_rows[j + 6];
              }
              #pragma unroll
              for (int32_t j = 0; j < 12; ++j) {
                sxy_rows[j] = sxy_rows[j + 6];
              }
              #pragma unroll
              for (int32_t j = 0; j < 4; ++j) {
                in_rows[j + 13] = in_next[j];
              }
              #pragma unroll
              for (int32_t j = 0; j < 8; ++j) {
                in_next[j] = in_next[j + 4];
              }
              const int64_t in_above = clamp_index(min_i32(y + 5, y1 + 1), in_h) * in_pitch;
              if (in_lanes) {
                float in_next_row[4];
                load_whole(in_next_row, in + in_above + in_column);
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  in_next[j + 8] = in_next_row[j];
                }
              } else {
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  const int32_t across = clamp_index(left + j, in_w);
                  in_next[j + 8] = in[in_above + across];
                }
              }
              const float in_rows_beside_0 = __shfl_up_sync(~0u, in_rows[16], 1);
              in_rows[12] = in_rows_beside_0;
              const float in_rows_beside_1 = __shfl_down_sync(~0u, in_rows[13], 1);
              in_rows[17] = in_rows_beside_1;
              if (in_lanes) {
                in_rows[12] = left == 0 ? in_rows[13] : in_rows[12];
                in_rows[17] = left + 4 == in_w ? in_rows[16] : in_rows[17];
              }
              {
                const int32_t sx_y = y + 1;
                const float* in_m1 = in_rows + 1;
                const float* in_0 = in_rows + 7;
                const float* in_p1 = in_rows + 13;
                float column[6];
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  column[i] = -0.16666667f * in_m1[i - 1] - 0.16666667f * in_0[i - 1]
                      - 0.16666667f * in_p1[i - 1];
                }
                float column_2[6];
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  column_2[i] = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_p1[i - 1];
                }
                #pragma unroll
                for (int32_t i = 0; i < 4; ++i) {
                  const float dx = column[i] - column[i + 2];
                  sx_rows[i + 13] = dx * dx;
                  const float dy = column_2[i] + column_2[i + 1] + column_2[i + 2];
                  sy_rows[i + 13] = dy * dy;
                  const float dx_2 = column[i] - column[i + 2];
                  const float dy_2 = column_2[i] + column_2[i + 1] + column_2[i + 2];
                  sxy_rows[i + 13] = dx_2 * dy_2;
                }
                if (first < 0) {
                  const float sx_rows_left_0 = __shfl_sync(~0u, min_i32(max_i32(0 - first, 0), 127) % 4 == 3
                      ? sx_rows[16] : min_i32(max_i32(0 - first, 0), 127) % 4 == 2 ? sx_rows[15]
                      : min_i32(max_i32(0 - first, 0), 127) % 4 == 1 ? sx_rows[14] : sx_rows[13],
                      (int64_t)(min_i32(max_i32(0 - first, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    sx_rows[i + 13] = left + i < 0 ? sx_rows_left_0 : sx_rows[i + 13];
                  }
                }
                if (in_w < first + 128) {
                  const float sx_rows_right_0 = __shfl_sync(~0u,
                      min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 3 ? sx_rows[16]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 2 ? sx_rows[15]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 1 ? sx_rows[14] : sx_rows[13],
                      (int64_t)(min_i32(max_i32(in_w - first - 1, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    sx_rows[i + 13] = in_w <= left + i ? sx_rows_right_0 : sx_rows[i + 13];
                  }
                }
                const float sx_rows_beside_0 = __shfl_up_sync(~0u, sx_rows[16], 1);
                sx_rows[12] = sx_rows_beside_0;
                const float sx_rows_beside_1 = __shfl_down_sync(~0u, sx_rows[13], 1);
                sx_rows[17] = sx_rows_beside_1;
                if (sx_y - 2 < 0 || in_h <= sx_y) {
                  if (in_h <= sx_y && clamp_index(sx_y, in_h) == sx_y - 1) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sx_rows[j + 12] = sx_rows[j + 6];
                    }
                  }
                  if (sx_y - 1 < 0 && clamp_index(sx_y - 1, in_h) == sx_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sx_rows[j + 6] = sx_rows[j + 12];
                    }
                  }
                  if (in_h <= sx_y && clamp_index(sx_y, in_h) == sx_y - 2) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sx_rows[j + 12] = sx_rows[j];
                    }
                  }
                  if (sx_y - 2 < 0 && clamp_index(sx_y - 2, in_h) == sx_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sx_rows[j] = sx_rows[j + 12];
                    }
                  }
                }
                if (first < 0) {
                  const float sy_rows_left_0 = __shfl_sync(~0u, min_i32(max_i32(0 - first, 0), 127) % 4 == 3
                      ? sy_rows[16] : min_i32(max_i32(0 - first, 0), 127) % 4 == 2 ? sy_rows[15]
                      : min_i32(max_i32(0 - first, 0), 127) % 4 == 1 ? sy_rows[14] : sy_rows[13],
                      (int64_t)(min_i32(max_i32(0 - first, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    sy_rows[i + 13] = left + i < 0 ? sy_rows_left_0 : sy_rows[i + 13];
                  }
                }
                if (in_w < first + 128) {
                  const float sy_rows_right_0 = __shfl_sync(~0u,
                      min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 3 ? sy_rows[16]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 2 ? sy_rows[15]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 1 ? sy_rows[14] : sy_rows[13],
                      (int64_t)(min_i32(max_i32(in_w - first - 1, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    sy_rows[i + 13] = in_w <= left + i ? sy_rows_right_0 : sy_rows[i + 13];
                  }
                }
                const float sy_rows_beside_0 = __shfl_up_sync(~0u, sy_rows[16], 1);
                sy_rows[12] = sy_rows_beside_0;
                const float sy_rows_beside_1 = __shfl_down_sync(~0u, sy_rows[13], 1);
                sy_rows[17] = sy_rows_beside_1;
                if (sx_y - 2 < 0 || in_h <= sx_y) {
                  if (in_h <= sx_y && clamp_index(sx_y, in_h) == sx_y - 1) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sy_rows[j + 12] = sy_rows[j + 6];
                    }
                  }
                  if (sx_y - 1 < 0 && clamp_index(sx_y - 1, in_h) == sx_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sy_rows[j + 6] = sy_rows[j + 12];
                    }
                  }
                  if (in_h <= sx_y && clamp_index(sx_y, in_h) == sx_y - 2) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sy_rows[j + 12] = sy_rows[j];
                    }
                  }
                  if (sx_y - 2 < 0 && clamp_index(sx_y - 2, in_h) == sx_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sy_rows[j] = sy_rows[j + 12];
                    }
                  }
                }
                if (first < 0) {
                  const float sxy_rows_left_0 = __shfl_sync(~0u, min_i32(max_i32(0 - first, 0), 127) % 4 == 3
                      ? sxy_rows[16] : min_i32(max_i32(0 - first, 0), 127) % 4 == 2 ? sxy_rows[15]
                      : min_i32(max_i32(0 - first, 0), 127) % 4 == 1 ? sxy_rows[14] : sxy_rows[13],
                      (int64_t)(min_i32(max_i32(0 - first, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    sxy_rows[i + 13] = left + i < 0 ? sxy_rows_left_0 : sxy_rows[i + 13];
                  }
                }
                if (in_w < first + 128) {
                  const float sxy_rows_right_0 = __shfl_sync(~0u,
                      min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 3 ? sxy_rows[16]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 2 ? sxy_rows[15]
                      : min_i32(max_i32(in_w - first - 1, 0), 127) % 4 == 1 ? sxy_rows[14] : sxy_rows[13],
                      (int64_t)(min_i32(max_i32(in_w - first - 1, 0), 127) / 4));
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    sxy_rows[i + 13] = in_w <= left + i ? sxy_rows_right_0 : sxy_rows[i + 13];
                  }
                }
                const float sxy_rows_beside_0 = __shfl_up_sync(~0u, sxy_rows[16], 1);
                sxy_rows[12] = sxy_rows_beside_0;
                const float sxy_rows_beside_1 = __shfl_down_sync(~0u, sxy_rows[13], 1);
                sxy_rows[17] = sxy_rows_beside_1;
                if (sx_y - 2 < 0 || in_h <= sx_y) {
                  if (in_h <= sx_y && clamp_index(sx_y, in_h) == sx_y - 1) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sxy_rows[j + 12] = sxy_rows[j + 6];
                    }
                  }
                  if (sx_y - 1 < 0 && clamp_index(sx_y - 1, in_h) == sx_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sxy_rows[j + 6] = sxy_rows[j + 12];
                    }
                  }
                  if (in_h <= sx_y && clamp_index(sx_y, in_h) == sx_y - 2) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sxy_rows[j + 12] = sxy_rows[j];
                    }
                  }
                  if (sx_y - 2 < 0 && clamp_index(sx_y - 2, in_h) == sx_y) {
                    #pragma unroll
                    for (int32_t j = 0; j < 6; ++j) {
                      sxy_rows[j] = sxy_rows[j + 12];
                    }
                  }
                }
              }
              {
                float hc_pack[4];
                const float* sx_m1 = sx_rows + 1;
                const float* sx_0 = sx_rows + 7;
                const float* sx_p1 = sx_rows + 13;
                const float* sy_m1 = sy_rows + 1;
                const float* sy_0 = sy_rows + 7;
                const float* sy_p1 = sy_rows + 13;
                const float* sxy_m1 = sxy_rows + 1;
                const float* sxy_0 = sxy_rows + 7;
                const float* sxy_p1 = sxy_rows + 13;
                float column[6];
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  column[i] = 0.125f * sx_m1[i - 1] + 0.25f * sx_0[i - 1] + 0.125f * sx_p1[i - 1];
                }
                float column_2[6];
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  column_2[i] = 0.125f * sy_m1[i - 1] + 0.25f * sy_0[i - 1] + 0.125f * sy_p1[i - 1];
                }
                float column_3[6];
                #pragma unroll
                for (int32_t i = 0; i < 6; ++i) {
                  column_3[i] = 0.125f * sxy_m1[i - 1] + 0.25f * sxy_0[i - 1] + 0.125f * sxy_p1[i - 1];
                }
                #pragma unroll
                for (int32_t i = 0; i < 4; ++i) {
                  const float gx = 0.5f * column[i] + column[i + 1] + 0.5f * column[i + 2];
                  const float gy = 0.5f * column_2[i] + column_2[i + 1] + 0.5f * column_2[i + 2];
                  const float gxy = 0.5f * column_3[i] + column_3[i + 1] + 0.5f * column_3[i + 2];
                  hc_pack[i] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
                }
                if (has_result && y0 <= y && y < y1) {
                  store_pack(hc + y * hc_pitch + left, hc_pack, in_w - left);
                }
              }
            }
            for (int32_t batch = is_inside ? until : inner_end; batch < inner_end; batch += 3) {
              #pragma unroll
              for (int32_t k_2 = 0; k_2 < 3; ++k_2) {
                const int32_t y = batch + k_2;
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  in_rows[k_2 % 3 * 6 + j + 1] = in_next[k_2 % 3 * 4 + j];
                }
                float in_next_row[4];
                load_whole(in_next_row, in + min_i32(y + 5, y1 + 1) * in_pitch + left);
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  in_next[k_2 % 3 * 4 + j] = in_next_row[j];
                }
                const float in_rows_beside_0 = __shfl_up_sync(~0u, in_rows[k_2 % 3 * 6 + 4], 1);
                in_rows[k_2 % 3 * 6] = in_rows_beside_0;
                const float in_rows_beside_1 = __shfl_down_sync(~0u, in_rows[k_2 % 3 * 6 + 1], 1);
                in_rows[k_2 % 3 * 6 + 5] = in_rows_beside_1;
                {
                  const float* in_m1 = in_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* in_0 = in_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* in_p1 = in_rows + k_2 % 3 * 6 + 1;
                  float column[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column[i] = -0.16666667f * in_m1[i - 1] - 0.16666667f * in_0[i - 1]
                        - 0.16666667f * in_p1[i - 1];
                  }
                  float column_2[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column_2[i] = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_p1[i - 1];
                  }
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const float dx = column[i] - column[i + 2];
                    sx_rows[k_2 % 3 * 6 + i + 1] = dx * dx;
                    const float dy = column_2[i] + column_2[i + 1] + column_2[i + 2];
                    sy_rows[k_2 % 3 * 6 + i + 1] = dy * dy;
                    const float dx_2 = column[i] - column[i + 2];
                    const float dy_2 = column_2[i] + column_2[i + 1] + column_2[i + 2];
                    sxy_rows[k_2 % 3 * 6 + i + 1] = dx_2 * dy_2;
                  }
                  const float sx_rows_beside_0 = __shfl_up_sync(~0u, sx_rows[k_2 % 3 * 6 + 4], 1);
                  sx_rows[k_2 % 3 * 6] = sx_rows_beside_0;
                  const float sx_rows_beside_1 = __shfl_down_sync(~0u, sx_rows[k_2 % 3 * 6 + 1], 1);
                  sx_rows[k_2 % 3 * 6 + 5] = sx_rows_beside_1;
                  const float sy_rows_beside_0 = __shfl_up_sync(~0u, sy_rows[k_2 % 3 * 6 + 4], 1);
                  sy_rows[k_2 % 3 * 6] = sy_rows_beside_0;
                  const float sy_rows_beside_1 = __shfl_down_sync(~0u, sy_rows[k_2 % 3 * 6 + 1], 1);
                  sy_rows[k_2 % 3 * 6 + 5] = sy_rows_beside_1;
                  const float sxy_rows_beside_0 = __shfl_up_sync(~0u, sxy_rows[k_2 % 3 * 6 + 4], 1);
                  sxy_rows[k_2 % 3 * 6] = sxy_rows_beside_0;
                  const float sxy_rows_beside_1 = __shfl_down_sync(~0u, sxy_rows[k_2 % 3 * 6 + 1], 1);
                  sxy_rows[k_2 % 3 * 6 + 5] = sxy_rows_beside_1;
                }
                {
                  float hc_pack[4];
                  const float* sx_m1 = sx_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* sx_0 = sx_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* sx_p1 = sx_rows + k_2 % 3 * 6 + 1;
                  const float* sy_m1 = sy_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* sy_0 = sy_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* sy_p1 = sy_rows + k_2 % 3 * 6 + 1;
                  const float* sxy_m1 = sxy_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* sxy_0 = sxy_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* sxy_p1 = sxy_rows + k_2 % 3 * 6 + 1;
                  float column[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column[i] = 0.125f * sx_m1[i - 1] + 0.25f * sx_0[i - 1] + 0.125f * sx_p1[i - 1];
                  }
                  float column_2[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column_2[i] = 0.125f * sy_m1[i - 1] + 0.25f * sy_0[i - 1] + 0.125f * sy_p1[i - 1];
                  }
                  float column_3[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column_3[i] = 0.125f * sxy_m1[i - 1] + 0.25f * sxy_0[i - 1] + 0.125f * sxy_p1[i - 1];
                  }
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const float gx = 0.5f * column[i] + column[i + 1] + 0.5f * column[i + 2];
                    const float gy = 0.5f * column_2[i] + column_2[i + 1] + 0.5f * column_2[i + 2];
                    const float gxy = 0.5f * column_3[i] + column_3[i + 1] + 0.5f * column_3[i + 2];
                    hc_pack[i] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
                  }
                  if (has_result && y0 <= y) {
                    store_whole(hc + y * hc_pitch + left, hc_pack);
                  }
                }
              }
            }
            for (int32_t batch = !is_inside ? until : inner_end; batch < inner_end; batch += 3) {
              #pragma unroll
              for (int32_t k_2 = 0; k_2 < 3; ++k_2) {
                const int32_t y = batch + k_2;
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  in_rows[k_2 % 3 * 6 + j + 1] = in_next[k_2 % 3 * 4 + j];
                }
                float in_next_row[4];
                load_whole(in_next_row, in + min_i32(y + 5, y1 + 1) * in_pitch + in_column);
                #pragma unroll
                for (int32_t j = 0; j < 4; ++j) {
                  in_next[k_2 % 3 * 4 + j] = in_next_row[j];
                }
                const float in_rows_beside_0 = __shfl_up_sync(~0u, in_rows[k_2 % 3 * 6 + 4], 1);
                in_rows[k_2 % 3 * 6] = in_rows_beside_0;
                const float in_rows_beside_1 = __shfl_down_sync(~0u, in_rows[k_2 % 3 * 6 + 1], 1);
                in_rows[k_2 % 3 * 6 + 5] = in_rows_beside_1;
                in_rows[k_2 % 3 * 6] = left == 0 ? in_rows[k_2 % 3 * 6 + 1] : in_rows[k_2 % 3 * 6];
                in_rows[k_2 % 3 * 6 + 5] = left + 4 == in_w ? in_rows[k_2 % 3 * 6 + 4]
                    : in_rows[k_2 % 3 * 6 + 5];
                {
                  const float* in_m1 = in_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* in_0 = in_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* in_p1 = in_rows + k_2 % 3 * 6 + 1;
                  float column[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column[i] = -0.16666667f * in_m1[i - 1] - 0.16666667f * in_0[i - 1]
                        - 0.16666667f * in_p1[i - 1];
                  }
                  float column_2[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column_2[i] = -0.16666667f * in_m1[i - 1] + 0.16666667f * in_p1[i - 1];
                  }
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const float dx = column[i] - column[i + 2];
                    sx_rows[k_2 % 3 * 6 + i + 1] = dx * dx;
                    const float dy = column_2[i] + column_2[i + 1] + column_2[i + 2];
                    sy_rows[k_2 % 3 * 6 + i + 1] = dy * dy;
                    const float dx_2 = column[i] - column[i + 2];
                    const float dy_2 = column_2[i] + column_2[i + 1] + column_2[i + 2];
                    sxy_rows[k_2 % 3 * 6 + i + 1] = dx_2 * dy_2;
                  }
                  const float sx_rows_beside_0 = __shfl_up_sync(~0u, sx_rows[k_2 % 3 * 6 + 4], 1);
                  sx_rows[k_2 % 3 * 6] = sx_rows_beside_0;
                  const float sx_rows_beside_1 = __shfl_down_sync(~0u, sx_rows[k_2 % 3 * 6 + 1], 1);
                  sx_rows[k_2 % 3 * 6 + 5] = sx_rows_beside_1;
                  sx_rows[k_2 % 3 * 6] = left == 0 ? sx_rows[k_2 % 3 * 6 + 1] : sx_rows[k_2 % 3 * 6];
                  sx_rows[k_2 % 3 * 6 + 5] = left + 4 == in_w ? sx_rows[k_2 % 3 * 6 + 4]
                      : sx_rows[k_2 % 3 * 6 + 5];
                  const float sy_rows_beside_0 = __shfl_up_sync(~0u, sy_rows[k_2 % 3 * 6 + 4], 1);
                  sy_rows[k_2 % 3 * 6] = sy_rows_beside_0;
                  const float sy_rows_beside_1 = __shfl_down_sync(~0u, sy_rows[k_2 % 3 * 6 + 1], 1);
                  sy_rows[k_2 % 3 * 6 + 5] = sy_rows_beside_1;
                  sy_rows[k_2 % 3 * 6] = left == 0 ? sy_rows[k_2 % 3 * 6 + 1] : sy_rows[k_2 % 3 * 6];
                  sy_rows[k_2 % 3 * 6 + 5] = left + 4 == in_w ? sy_rows[k_2 % 3 * 6 + 4]
                      : sy_rows[k_2 % 3 * 6 + 5];
                  const float sxy_rows_beside_0 = __shfl_up_sync(~0u, sxy_rows[k_2 % 3 * 6 + 4], 1);
                  sxy_rows[k_2 % 3 * 6] = sxy_rows_beside_0;
                  const float sxy_rows_beside_1 = __shfl_down_sync(~0u, sxy_rows[k_2 % 3 * 6 + 1], 1);
                  sxy_rows[k_2 % 3 * 6 + 5] = sxy_rows_beside_1;
                  sxy_rows[k_2 % 3 * 6] = left == 0 ? sxy_rows[k_2 % 3 * 6 + 1] : sxy_rows[k_2 % 3 * 6];
                  sxy_rows[k_2 % 3 * 6 + 5] = left + 4 == in_w ? sxy_rows[k_2 % 3 * 6 + 4]
                      : sxy_rows[k_2 % 3 * 6 + 5];
                }
                {
                  float hc_pack[4];
                  const float* sx_m1 = sx_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* sx_0 = sx_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* sx_p1 = sx_rows + k_2 % 3 * 6 + 1;
                  const float* sy_m1 = sy_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* sy_0 = sy_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* sy_p1 = sy_rows + k_2 % 3 * 6 + 1;
                  const float* sxy_m1 = sxy_rows + (k_2 + 1) % 3 * 6 + 1;
                  const float* sxy_0 = sxy_rows + (k_2 + 2) % 3 * 6 + 1;
                  const float* sxy_p1 = sxy_rows + k_2 % 3 * 6 + 1;
                  float column[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column[i] = 0.125f * sx_m1[i - 1] + 0.25f * sx_0[i - 1] + 0.125f * sx_p1[i - 1];
                  }
                  float column_2[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column_2[i] = 0.125f * sy_m1[i - 1] + 0.25f * sy_0[i - 1] + 0.125f * sy_p1[i - 1];
                  }
                  float column_3[6];
                  #pragma unroll
                  for (int32_t i = 0; i < 6; ++i) {
                    column_3[i] = 0.125f * sxy_m1[i - 1] + 0.25f * sxy_0[i - 1] + 0.125f * sxy_p1[i - 1];
                  }
                  #pragma unroll
                  for (int32_t i = 0; i < 4; ++i) {
                    const float gx = 0.5f * column[i] + column[i + 1] + 0.5f * column[i + 2];
                    const float gy = 0.5f * column_2[i] + column_2[i + 1] + 0.5f * column_2[i + 2];
                    const float gxy = 0.5f * column_3[i] + column_3[i + 1] + 0.5f * column_3[i + 2];
                    hc_pack[i] = gx * gy - gxy * gxy - k * (gx + gy) * (gx + gy);
                  }
                  if (has_result && y0 <= y && left < in_w) {
                    store_whole(hc + y * hc_pitch + left, hc_pack);
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

cudaError_t run_harris(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k, float* hc,
    int64_t hc_pitch, cudaStream_t stream) {
  if (in_w > 268435456 || in_h > 268435456) return cudaErrorInvalidValue;
  cudaError_t status = cudaSuccess;
  static thread_local Room rooms[1];
  if (status == cudaSuccess) status = find_room(hc_kernel, 32, rooms[0]);
  const int64_t hc_room = rooms[0].blocks;

  if (status == cudaSuccess) {
    status = launch(hc_kernel, {((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2)) * 32,
        div_i64(in_h + (max_i64(div_i64(in_h
        + max_i64(div_i64(hc_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)), 1) - 1,
        max_i64(div_i64(hc_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)), 1)) - 2,
        0) + 2) / 3 * 3 + 1, (max_i64(div_i64(in_h
        + max_i64(div_i64(hc_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)), 1) - 1,
        max_i64(div_i64(hc_room, max_i64((in_w + 119) / 120 + min_i64((in_w + 119) / 120, 2), 1)), 1)) - 2,
        0) + 2) / 3 * 3 + 2), 1}, {32, 1, 1}, stream, in, hc, in_w, in_h, in_pitch, hc_pitch, k, hc_room);
  }
  return status;
}

cudaError_t run_harris_on_host(const float* in, int64_t in_pitch, int64_t in_w, int64_t in_h, float k,
    float* hc, int64_t hc_pitch) {
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) return status;
  float* device_in = nullptr;
  int64_t device_in_pitch = (in_w + 31) / 32 * 32;
  float* device_hc = nullptr;
  int64_t device_hc_pitch = (in_w + 31) / 32 * 32;
  if (status == cudaSuccess) status = allocate(device_in, device_in_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {device_in_pitch}, from[] = {in_pitch};
    status = copy_rows(device_in, to, in, from, extents, 2, cudaMemcpyHostToDevice, stream);
  }
  if (status == cudaSuccess) status = allocate(device_hc, device_hc_pitch * max_i64(in_h, 1), in_w == 0
      || in_h == 0, stream);
  if (status == cudaSuccess) {
    status = run_harris(device_in, device_in_pitch, in_w, in_h, k, device_hc, device_hc_pitch, stream);
  }
  if (status == cudaSuccess) {
    const int64_t extents[] = {in_w, in_h}, to[] = {hc_pitch}, from[] = {device_hc_pitch};
    status = copy_rows(hc, to, device_hc, from, extents, 2, cudaMemcpyDeviceToHost, stream);
  }
  release(device_in, stream);
  release(device_hc, stream);
  const cudaError_t finished = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return status != cudaSuccess ? status : finished;
}

}  // namespace harris
