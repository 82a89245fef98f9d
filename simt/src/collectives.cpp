#include "executor.h"

#include <algorithm>

namespace simt {
namespace {

using abi::Collective;

/// The lane whose value a shuffle gives to `lane`.
unsigned source_of(Collective kind, unsigned lane, int argument, int width) {
  const int self = static_cast<int>(lane), base = self & ~(width - 1), end = base + width;
  int source = self;
  switch (kind) {
    case Collective::shuffle: source = base + (argument & (width - 1)); break;
    case Collective::shuffle_up: source = self - argument < base ? self : self - argument; break;
    case Collective::shuffle_down: source = self + argument >= end ? self : self + argument; break;
    case Collective::shuffle_xor: source = (self ^ argument) >= end ? self : self ^ argument; break;
    default: break;
  }
  return static_cast<unsigned>(source) & (warp_size - 1);
}

template <class T, class Combine>
std::uint64_t reduced(std::uint32_t lanes, const std::array<std::uint64_t, warp_size>& values,
                      Combine combine) {
  T result{};
  bool first = true;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const T value = static_cast<T>(values[std::countr_zero(rest)]);
    result = first ? value : combine(result, value);
    first = false;
  }
  return static_cast<std::uint32_t>(result);
}

std::uint32_t ballot(std::uint32_t lanes, const std::array<std::uint64_t, warp_size>& values,
                     std::uint64_t wanted) {
  std::uint32_t bits = 0;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (values[lane] == wanted) bits |= 1u << lane;
  }
  return bits;
}

}  // namespace

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::syncwarp: return "__syncwarp";
    case Collective::shuffle: return "__shfl_sync";
    case Collective::shuffle_up: return "__shfl_up_sync";
    case Collective::shuffle_down: return "__shfl_down_sync";
    case Collective::shuffle_xor: return "__shfl_xor_sync";
    case Collective::ballot: return "__ballot_sync";
    case Collective::any: return "__any_sync";
    case Collective::all: return "__all_sync";
    case Collective::match_any: return "__match_any_sync";
    case Collective::reduce_add: return "__reduce_add_sync";
    case Collective::reduce_min:
    case Collective::reduce_min_signed: return "__reduce_min_sync";
    case Collective::reduce_max:
    case Collective::reduce_max_signed: return "__reduce_max_sync";
    case Collective::reduce_and: return "__reduce_and_sync";
    case Collective::reduce_or: return "__reduce_or_sync";
    case Collective::reduce_xor: return "__reduce_xor_sync";
  }
  return "?";
}

std::uint64_t collective_result(Collective kind, unsigned lane, std::uint32_t lanes,
                                const std::array<std::uint64_t, warp_size>& values, int argument, int width,
                                int& bad_source) {
  using U = std::uint32_t;
  using S = std::int32_t;
  switch (kind) {
    case Collective::syncwarp: return 0;
    case Collective::shuffle:
    case Collective::shuffle_up:
    case Collective::shuffle_down:
    case Collective::shuffle_xor: {
      const unsigned source = source_of(kind, lane, argument, width);
      if (lanes >> source & 1u) return values[source];
      bad_source = static_cast<int>(source);
      return 0x7fc0dead7fc0deadu;  // a NaN that shows up in results
    }
    case Collective::ballot: return ballot(lanes, values, 1);
    case Collective::any: return ballot(lanes, values, 1) != 0;
    case Collective::all: return ballot(lanes, values, 1) == lanes;
    case Collective::match_any: return ballot(lanes, values, values[lane]);
    case Collective::reduce_add: return reduced<U>(lanes, values, [](U a, U b) { return a + b; });
    case Collective::reduce_min: return reduced<U>(lanes, values, [](U a, U b) { return std::min(a, b); });
    case Collective::reduce_max: return reduced<U>(lanes, values, [](U a, U b) { return std::max(a, b); });
    case Collective::reduce_min_signed:
      return reduced<S>(lanes, values, [](S a, S b) { return std::min(a, b); });
    case Collective::reduce_max_signed:
      return reduced<S>(lanes, values, [](S a, S b) { return std::max(a, b); });
    case Collective::reduce_and: return reduced<U>(lanes, values, [](U a, U b) { return a & b; });
    case Collective::reduce_or: return reduced<U>(lanes, values, [](U a, U b) { return a | b; });
    case Collective::reduce_xor: return reduced<U>(lanes, values, [](U a, U b) { return a ^ b; });
  }
  return 0;
}

}  // namespace simt
