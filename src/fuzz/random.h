// Chance that is the same on every machine.
#pragma once

#include <cstdint>

namespace weft::fuzz {

/// A tiny generator of uniform numbers (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  ///< In [0, 1).

 private:
  std::uint64_t state_;
};

}  // namespace weft::fuzz
