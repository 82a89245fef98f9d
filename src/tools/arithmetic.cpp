#include "tools/arithmetic.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace weft::tools {
namespace {

using Floats = float __attribute__((vector_size(64)));
constexpr int lanes = sizeof(Floats) / sizeof(float);
constexpr int chains = 8;  // so that no operation waits for the one before
constexpr int tries = 5;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define WEFT_FOR_EACH_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WEFT_FOR_EACH_WIDTH
#endif

WEFT_FOR_EACH_WIDTH float add(std::int64_t rounds) {
  Floats sums[chains] = {}, one = Floats{} + 1.f;
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 8
    for (int c = 0; c < chains; ++c) sums[c] += one;
  }
  Floats total = {};
  for (const Floats& sum : sums) total += sum;
  return total[0];
}

WEFT_FOR_EACH_WIDTH float divide(std::int64_t rounds) {
  Floats quotients[chains], two = Floats{} + 2.f;
  for (Floats& quotient : quotients) quotient = two;
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 8
    for (int c = 0; c < chains; ++c) quotients[c] = two / quotients[c];
  }
  Floats total = {};
  for (const Floats& quotient : quotients) total += quotient;
  return total[0];
}

/// Operations per second where every thread goes through the loop.
double speed(runtime::ThreadPool& pool, float (*loop)(std::int64_t), std::int64_t rounds) {
  const std::int64_t threads = pool.threads();
  double least = 1e30;
  for (int i = 0; i < tries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(0, threads, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t thread = first; thread < last; ++thread) {
        volatile float unused = loop(rounds);
        (void)unused;
      }
    });
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return static_cast<double>(threads * rounds * chains * lanes) / least;
}

}  // namespace

ArithmeticSpeed arithmetic_speed(runtime::ThreadPool& pool) {
  return {speed(pool, add, 1 << 20), speed(pool, divide, 1 << 17)};
}

}  // namespace weft::tools
