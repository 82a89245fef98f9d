// What the lanes of a warp do together: shuffles, votes, reductions, __syncwarp.
#pragma once

#include <type_traits>

SIMT_UNCHECKED inline void __syncwarp(unsigned mask = 0xffffffffu,
                                      simt::abi::Site site = simt::abi::Site::here()) {
  simt_services->collective(simt::abi::Collective::syncwarp, mask, 0, 0, 32, site);
}
SIMT_UNCHECKED inline unsigned __activemask(simt::abi::Site site = simt::abi::Site::here()) {
  return simt_services->active_mask(site);
}

namespace simt {
template <class T>
SIMT_UNCHECKED T exchange(abi::Collective kind, unsigned mask, T value, int argument, int width,
                          abi::Site site) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = simt_services->collective(kind, mask, bits, argument, width, site);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
}  // namespace simt

#define SIMT_SHUFFLE(name, kind, argument_type)                                                        \
  template <class T>                                                                                   \
  inline T name(unsigned mask, T value, argument_type argument, int width = 32,                        \
                simt::abi::Site site = simt::abi::Site::here()) {                                      \
    return simt::exchange(simt::abi::Collective::kind, mask, value, static_cast<int>(argument), width, \
                          site);                                                                       \
  }
SIMT_SHUFFLE(__shfl_sync, shuffle, int)
SIMT_SHUFFLE(__shfl_up_sync, shuffle_up, unsigned)
SIMT_SHUFFLE(__shfl_down_sync, shuffle_down, unsigned)
SIMT_SHUFFLE(__shfl_xor_sync, shuffle_xor, int)
#undef SIMT_SHUFFLE

#define SIMT_VOTE(name, kind, result)                                                               \
  SIMT_UNCHECKED inline result name(unsigned mask, int predicate,                                   \
                                    simt::abi::Site site = simt::abi::Site::here()) {               \
    return static_cast<result>(                                                                     \
        simt_services->collective(simt::abi::Collective::kind, mask, predicate != 0, 0, 32, site)); \
  }
SIMT_VOTE(__ballot_sync, ballot, unsigned)
SIMT_VOTE(__any_sync, any, int)
SIMT_VOTE(__all_sync, all, int)
#undef SIMT_VOTE

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, simt::abi::Site site = simt::abi::Site::here()) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return static_cast<unsigned>(simt::exchange(simt::abi::Collective::match_any, mask, bits, 0, 32, site));
}

#define SIMT_REDUCE(name, type, kind)                                                           \
  inline type name(unsigned mask, type value, simt::abi::Site site = simt::abi::Site::here()) { \
    return simt::exchange(simt::abi::Collective::kind, mask, value, 0, 32, site);               \
  }
SIMT_REDUCE(__reduce_add_sync, unsigned, reduce_add)
SIMT_REDUCE(__reduce_add_sync, int, reduce_add)
SIMT_REDUCE(__reduce_min_sync, unsigned, reduce_min)
SIMT_REDUCE(__reduce_min_sync, int, reduce_min_signed)
SIMT_REDUCE(__reduce_max_sync, unsigned, reduce_max)
SIMT_REDUCE(__reduce_max_sync, int, reduce_max_signed)
SIMT_REDUCE(__reduce_and_sync, unsigned, reduce_and)
SIMT_REDUCE(__reduce_or_sync, unsigned, reduce_or)
SIMT_REDUCE(__reduce_xor_sync, unsigned, reduce_xor)
#undef SIMT_REDUCE
