// Pipeline 'median', emitted by Weft.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef WEFT_HOST
#define WEFT_HOST
// Who provides memory and threads. Pass null for the C++ library's.
struct weft_host {
  void* context;
  // 64-byte aligned; cleared if asked; null when there is no memory left.
  void* (*allocate)(void* context, size_t bytes, bool clear);
  void (*release)(void* context, void* memory);
  // Calls body(frame, first, last) for parts that make up [0, count), in parallel, and returns when all are done.
  void (*parallel_for)(void* context, int64_t count, void (*body)(const void* frame, int64_t first, int64_t last),
                       const void* frame);
  // Loops over rows that take little are loops over portions of them, which take this many nanoseconds or more: less is
  // done before another thread hears of it. 0 stands for 2500, which suits threads that are there and sleep.
  int64_t least_portion = 0;
};
#endif

namespace median {

// input  in: in_w x in_h pixels; in_pitch counts uint8_ts from row to row
// output median: in_w x in_h pixels; median_pitch_ counts uint8_ts from row to row
// Returns 0, or 1 if there was not enough memory.
int run_median(const uint8_t* in, int64_t in_pitch, int64_t in_w, int64_t in_h, uint8_t* median,
    int64_t median_pitch_, const weft_host* host = nullptr);

}  // namespace median
