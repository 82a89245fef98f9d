// What processors can compute: loops on all threads that touch no memory.
#pragma once

#include "runtime/thread_pool.h"

namespace weft::tools {

/// Floats that all threads add, and divide, in a second.
struct ArithmeticSpeed {
  double additions, divisions;
};

/// Measured in vectors, for some milliseconds; the fastest of several tries.
ArithmeticSpeed arithmetic_speed(runtime::ThreadPool& pool);

}  // namespace weft::tools
