// Atomic operations. Threads take turns only where they wait, so a plain read and write is atomic already;
// the checker hears of each, with the place that it was called from.
#pragma once

#include <type_traits>

namespace simt {
template <class T>
inline constexpr bool is_atomic_number = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
}  // namespace simt

// The second argument takes any number that converts, as CUDA's overloads do: atomicAdd(float*, 1).
#define SIMT_ATOMIC(name, expression)                                                     \
  template <class T>                                                                      \
  SIMT_UNCHECKED T name(T* address, std::common_type_t<T> value) {                        \
    static_assert(simt::is_atomic_number<T>, #name " is for numbers of 4 or 8 bytes");    \
    simt_services->access(address, sizeof(T), simt::abi::is_write | simt::abi::is_atomic, \
                          __builtin_return_address(0));                                   \
    const T old = *address;                                                               \
    *address = static_cast<T>(expression);                                                \
    return old;                                                                           \
  }                                                                                       \
  template <class T>                                                                      \
  SIMT_UNCHECKED T name##_block(T* address, std::common_type_t<T> value) {                \
    simt_services->access(address, sizeof(T), simt::abi::is_write | simt::abi::is_atomic, \
                          __builtin_return_address(0));                                   \
    const T old = *address;                                                               \
    *address = static_cast<T>(expression);                                                \
    return old;                                                                           \
  }
SIMT_ATOMIC(atomicAdd, (old + value))
SIMT_ATOMIC(atomicSub, (old - value))
SIMT_ATOMIC(atomicMin, (value < old ? value : old))
SIMT_ATOMIC(atomicMax, (old < value ? value : old))
SIMT_ATOMIC(atomicExch, (value))
SIMT_ATOMIC(atomicAnd, (old & value))
SIMT_ATOMIC(atomicOr, (old | value))
SIMT_ATOMIC(atomicXor, (old ^ value))
SIMT_ATOMIC(atomicInc, (old >= value ? T{0} : old + 1))
SIMT_ATOMIC(atomicDec, (old == 0 || old > value ? value : old - 1))
#undef SIMT_ATOMIC

template <class T>
SIMT_UNCHECKED T atomicCAS(T* address, std::common_type_t<T> expected, std::common_type_t<T> desired) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8));
  simt_services->access(address, sizeof(T), simt::abi::is_write | simt::abi::is_atomic,
                        __builtin_return_address(0));
  const T old = *address;
  if (old == expected) *address = desired;
  return old;
}
