// The words that CUDA adds to C++'s declarations, and how this text reaches the checker.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__ __attribute__((aligned(16)))
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
/// What simt::compile makes of them.
#define SIMT_LAUNCH_BOUNDS(...) \
  static const unsigned simt_launch_bounds[] __attribute__((used)) = {__VA_ARGS__};
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_assume(condition) ((void)0)

// All shared variables lie in one section: its ends tell shared memory from other memory. One block runs at a
// time, so one copy is enough.
#define __shared__ static __attribute__((section("simt_shared"), aligned(16)))

// Functions of this folder are not the text under test: their own accesses are not checked. They stay
// functions, since inlined code would be checked as part of its caller.
#define SIMT_UNCHECKED __attribute__((noinline, no_sanitize("thread", "address", "undefined")))

// Not inline: the dynamic loader would make one variable of those of several texts.
static simt::abi::Services* simt_services = nullptr;

extern "C" {
extern const char __start_simt_shared[] __attribute__((weak, visibility("hidden")));
extern const char __stop_simt_shared[] __attribute__((weak, visibility("hidden")));
}

/// All arrays `extern __shared__ T name[]` are this one: simt::compile makes them other names of it.
extern "C" {
__attribute__((visibility("hidden"),
               aligned(1024))) char simt_dynamic_memory[simt::abi::dynamic_shared_bytes] = {};
}

/// What `assert` calls.
SIMT_UNCHECKED inline void simt_assertion_failed(const char* what,
                                                 simt::abi::Site site = simt::abi::Site::here()) {
  simt_services->trap(what, site);
}
