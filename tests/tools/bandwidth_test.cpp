#include "tools/bandwidth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace weft::tools {
namespace {

/// The words of the vectors, then the bytes of the rest, as read_all adds them.
std::uint64_t expected_sum(const std::vector<unsigned char>& bytes) {
  constexpr std::size_t block = 256, word = sizeof(std::uint64_t);
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at < bytes.size() / block * block; at += word) {
    for (std::size_t b = 0; b < word; ++b) sum += std::uint64_t{bytes[at + b]} << (8 * b);
  }
  return std::accumulate(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), sum);
}

TEST(Bandwidth, EveryByteIsRead) {
  for (const std::size_t size : {0, 1, 7, 63, 64, 255, 256, 257, 1000, 4096}) {
    std::vector<unsigned char> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 5);
    EXPECT_EQ(read_all(bytes), expected_sum(bytes)) << size;
  }
}

TEST(Bandwidth, EveryByteIsCopiedPastCaches) {
  for (const std::size_t size : {0, 1, 15, 16, 63, 64, 65, 200, 1000}) {
    for (const std::size_t at : {0, 1, 63}) {
      std::vector<unsigned char> from(size + 64), to(size + 64, 9), expected = to;
      std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
      copy_past_caches(to.data() + at, from.data() + 3, size);
      std::copy_n(from.begin() + 3, size, expected.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_EQ(to, expected) << size << " at " << at;
    }
  }
}

TEST(Bandwidth, PartsOfAnyNumberOfBytes) {
  runtime::ThreadPool pool(3);
  for (const auto& [read, written] : {std::pair{0, 0}, {1, 0}, {0, 1}, {2, 5}, {1000, 999}, {7, 4097}}) {
    for (const auto stores : {PlainCopy::Stores::Plain, PlainCopy::Stores::PastCaches}) {
      PlainCopy copy(read, written, pool, stores);
      copy();
    }
  }
  const std::vector<unsigned char> a(5), b(4097);
  PlainRead({a, {}, b}, pool)();
}

}  // namespace
}  // namespace weft::tools
