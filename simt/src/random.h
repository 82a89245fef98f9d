// Choices. With seed 0 there are none: everything happens in order.
#pragma once

#include <bit>
#include <cstdint>

namespace simt {

class Random {
 public:
  explicit Random(std::uint64_t seed) : ordered_(seed == 0), state_(seed * 0x9e3779b97f4a7c15u | 1u) {}

  bool ordered() const { return ordered_; }

  /// Below n; 0 if everything happens in order.
  std::uint64_t below(std::uint64_t n) { return ordered_ || n < 2 ? 0 : next() % n; }

  /// One of the bits that are set: the first one at or after `from` in order, else any.
  unsigned bit_of(std::uint32_t bits, unsigned from) {
    const unsigned turn = ordered_ ? from & 31u : static_cast<unsigned>(next() & 31u);
    return (static_cast<unsigned>(std::countr_zero(std::rotr(bits, static_cast<int>(turn)))) + turn) & 31u;
  }

 private:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 16;
  }

  bool ordered_;
  std::uint64_t state_;
};

}  // namespace simt
