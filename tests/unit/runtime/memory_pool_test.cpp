#include "runtime/memory_pool.h"

#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers end the program when an allocation is too large, where malloc returns null.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace weft::runtime {
namespace {

using namespace testing_support;

constexpr std::size_t MiB = std::size_t{1} << 20;

bool is_aligned(void* block, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

TEST(MemoryPool, AlignsBlocks) {
  MemoryPool pool;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{65}, 4 * MiB - 64, 4 * MiB - 1,
                                  4 * MiB, 4 * MiB + 1, 7 * MiB}) {
    void* block = pool.take(bytes);
    EXPECT_TRUE(is_aligned(block, bytes >= 4 * MiB ? 2 * MiB : 64)) << bytes;
    std::memset(block, 1, bytes);
  }
}

TEST(MemoryPool, ReusesBlocks) {
  MemoryPool pool;
  void* block = pool.take(1000);
  EXPECT_NE(pool.take(1000), block);
  pool.give(block);
  EXPECT_EQ(pool.take(900), block);
  pool.give(block);
  EXPECT_EQ(pool.take(1024), block);  // Sizes are rounded up to 64.
}

TEST(MemoryPool, TakesTheBestFitWithinTwice) {
  MemoryPool pool;
  void *small = pool.take(640), *middle = pool.take(1280), *large = pool.take(2560);
  for (void* block : {large, small, middle}) pool.give(block);
  EXPECT_EQ(pool.take(704), middle);
  EXPECT_EQ(pool.take(1280), large);  // Just twice as large.
  EXPECT_NE(pool.take(256), small);   // 640 is more than 2 * 256.
  EXPECT_EQ(pool.take(320), small);
}

TEST(MemoryPool, RemembersTheTrueSizeOfAReusedBlock) {
  MemoryPool pool;
  void* block = pool.take(1280);
  pool.give(block);
  EXPECT_EQ(pool.take(640), block);
  pool.give(block);
  EXPECT_EQ(pool.take(1280), block);
}

TEST(MemoryPool, TrimsWhatItKeeps) {
  MemoryPool pool;
  void* used = pool.take(8 * MiB);
  std::memset(used, 7, 8 * MiB);
  pool.give(pool.take(8 * MiB));
  pool.trim();
  pool.trim();
  EXPECT_EQ(static_cast<char*>(used)[8 * MiB - 1], 7);
  pool.give(used);
  EXPECT_EQ(pool.take(8 * MiB), used);
}

TEST(MemoryPool, SaysWhenMemoryIsShort) {
  MemoryPool pool;
  const std::size_t highest = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes :
       {highest, highest - 63, highest / 2, highest / 2 - 4 * MiB, std::size_t{1} << 60}) {
    EXPECT_EQ(message_of([&] { pool.take(bytes); }),
              "not enough memory for an intermediate image of " + std::to_string(bytes) +
                  " bytes\n  help: use a smaller image, or process it in parts");
  }
  EXPECT_NE(pool.take(100), nullptr);
}

TEST(MemoryPool, KnowsItsBlocks) {
  MemoryPool pool;
  pool.give(nullptr);
  int foreign = 0;
  EXPECT_THROW(pool.give(&foreign), InternalError);
  void* block = pool.take(1);
  pool.give(block);
  EXPECT_THROW(pool.give(block), InternalError);
}

TEST(MemoryPool, IsSafeForThreads) {
  MemoryPool pool;
  std::vector<std::thread> threads;
  std::vector<char> own(4, true);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 500; ++round) {
        const std::size_t bytes = 64u * (1 + round % 5);
        auto* block = static_cast<unsigned char*>(pool.take(bytes));
        std::memset(block, t, bytes);
        for (std::size_t i = 0; i < bytes; ++i) own[t] = own[t] && block[i] == t;
        pool.give(block);
        if (round % 100 == 0) pool.trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(own, std::vector<char>(4, true));
}

}  // namespace
}  // namespace weft::runtime
