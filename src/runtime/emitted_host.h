// The interface of emitted code, which prints the same declarations (src/emit/cpp.cpp says what they mean).
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::runtime {

struct EmittedHost {
  void* context;
  void* (*allocate)(void* context, std::size_t bytes, bool clear);
  void (*release)(void* context, void* memory);
  void (*parallel_for)(void* context, std::int64_t count,
                       void (*body)(const void* frame, std::int64_t first, std::int64_t last),
                       const void* frame);
  std::int64_t least_portion = 0;
};
using Entry = int (*)(void* const* arrays, const std::int64_t* integers, const void* const* params,
                      const EmittedHost* host);

}  // namespace weft::runtime
