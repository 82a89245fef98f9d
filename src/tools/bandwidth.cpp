#include "tools/bandwidth.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weft::tools {
namespace {

/// Part `part` of `parts` of the bytes.
template <class Byte>
std::span<Byte> share(std::span<Byte> bytes, std::int64_t part, std::int64_t parts) {
  const std::size_t begin = bytes.size() * part / parts, end = bytes.size() * (part + 1) / parts;
  return bytes.subspan(begin, end - begin);
}

std::span<unsigned char> bytes_of(const Buffer& b) {
  return {static_cast<unsigned char*>(b.data()), static_cast<std::size_t>(b.bytes())};
}

template <class Work>
void for_each_thread(runtime::ThreadPool& pool, Work work) {
  const std::int64_t parts = pool.threads();
  pool.parallel_for(0, parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) work(part, parts);
  });
}

}  // namespace

void copy_past_caches(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  if (bytes == 0) return;
#if defined(__SSE2__)
  constexpr std::size_t word = sizeof(__m128i);
  const std::size_t head = std::min(bytes, -reinterpret_cast<std::uintptr_t>(to) % 64);
  std::memcpy(to, from, head);
  to += head, from += head, bytes -= head;
  for (; bytes >= word; to += word, from += word, bytes -= word)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  _mm_sfence();
#endif
  std::memcpy(to, from, bytes);
}

// A core has more reads of memory on the way, the more bytes each of them asks for.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
std::uint64_t
read_all(Bytes bytes) {
  using Words = std::uint64_t __attribute__((vector_size(64)));
  constexpr std::size_t chains = 4;  // so that no addition waits for the one before
  Words seen[chains] = {};
  std::size_t at = 0;
  for (; at + sizeof seen <= bytes.size(); at += sizeof seen) {
    for (std::size_t c = 0; c < chains; ++c) {
      Words words;
      std::memcpy(&words, bytes.data() + at + c * sizeof words, sizeof words);
      seen[c] += words;
    }
  }
  std::uint64_t sum = 0;
  for (const Words& words : seen) {
    for (std::size_t i = 0; i < sizeof words / sizeof sum; ++i) sum += words[i];
  }
  for (; at < bytes.size(); ++at) sum += bytes[at];
  return sum;
}

PlainCopy::PlainCopy(std::int64_t read, std::int64_t written, runtime::ThreadPool& pool, Stores stores)
    : from_(Buffer::allocate({Scalar::U8}, {read})),
      to_(Buffer::allocate({Scalar::U8}, {written})),
      pool_(pool),
      stores_(stores) {}

void PlainCopy::operator()() {
  for_each_thread(pool_, [&](std::int64_t part, std::int64_t parts) { copy_part(part, parts); });
}

void PlainCopy::copy_part(std::int64_t part, std::int64_t parts) {
  const std::span from = bytes_of(from_), to = bytes_of(to_);
  const std::size_t both = std::min(from.size(), to.size());
  const auto source = share(from.first(both), part, parts);
  const auto target = share(to.first(both), part, parts), rest = share(to.subspan(both), part, parts);
  if (stores_ == Stores::PastCaches)
    copy_past_caches(target.data(), source.data(), source.size());
  else if (!source.empty())
    std::memcpy(target.data(), source.data(), source.size());
  if (!rest.empty()) std::memset(rest.data(), 3, rest.size());
  unread_[part % 64] = read_all(share(from.subspan(both), part, parts));
}

void PlainRead::operator()() {
  for_each_thread(pool_, [&](std::int64_t part, std::int64_t parts) {
    std::uint64_t sum = 0;
    for (const Bytes bytes : memory_) sum += read_all(share(bytes, part, parts));
    unread_[part % 64] = sum;
  });
}

}  // namespace weft::tools
