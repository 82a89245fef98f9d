// A thread's place in its block and grid, barriers and fences.
#pragma once

// A function's result stays the same as long as one thread runs it, so the compiler may keep it (`const`).
#define SIMT_CONSTANT SIMT_UNCHECKED __attribute__((const))

namespace simt {
inline uint3 as_uint3(abi::Dim d) { return {d.x, d.y, d.z}; }
SIMT_CONSTANT inline uint3 thread_index() { return as_uint3(simt_services->thread_index()); }
SIMT_CONSTANT inline uint3 block_index() { return as_uint3(simt_services->block_index()); }
SIMT_CONSTANT inline dim3 block_size() { return as_uint3(simt_services->block_size()); }
SIMT_CONSTANT inline dim3 grid_size() { return as_uint3(simt_services->grid_size()); }
}  // namespace simt

#define threadIdx (::simt::thread_index())
#define blockIdx (::simt::block_index())
#define blockDim (::simt::block_size())
#define gridDim (::simt::grid_size())
inline constexpr int warpSize = 32;

SIMT_UNCHECKED inline void __syncthreads(simt::abi::Site site = simt::abi::Site::here()) {
  simt_services->barrier(simt::abi::Barrier::plain, 0, site);
}
SIMT_UNCHECKED inline int __syncthreads_count(int predicate, simt::abi::Site site = simt::abi::Site::here()) {
  return simt_services->barrier(simt::abi::Barrier::count, predicate, site);
}
SIMT_UNCHECKED inline int __syncthreads_and(int predicate, simt::abi::Site site = simt::abi::Site::here()) {
  return simt_services->barrier(simt::abi::Barrier::conjunction, predicate, site);
}
SIMT_UNCHECKED inline int __syncthreads_or(int predicate, simt::abi::Site site = simt::abi::Site::here()) {
  return simt_services->barrier(simt::abi::Barrier::disjunction, predicate, site);
}

SIMT_UNCHECKED inline void __threadfence_block() { simt_services->fence(simt::abi::Scope::block); }
SIMT_UNCHECKED inline void __threadfence() { simt_services->fence(simt::abi::Scope::device); }
SIMT_UNCHECKED inline void __threadfence_system() { simt_services->fence(simt::abi::Scope::system); }

SIMT_UNCHECKED inline void __trap(simt::abi::Site site = simt::abi::Site::here()) {
  simt_services->trap("__trap()", site);
}

inline void __nanosleep(unsigned) {}
