// Where g++'s instrumentation leads. Texts are compiled with -fsanitize=thread, or address and undefined, but
// linked without the libraries of these: the functions that instrumented code calls are here, and hand every
// access to the checker. They are hidden, so that they stay apart from a sanitizer of the host program.
#pragma once

#define SIMT_HOOK extern "C" SIMT_UNCHECKED __attribute__((visibility("hidden"), used)) inline
#define SIMT_PC __builtin_return_address(0)
#define SIMT_EACH_SIZE(define) define(1) define(2) define(4) define(8) define(16)

namespace simt {
static const abi::Global* globals = nullptr;
static std::size_t global_count = 0;
}  // namespace simt

#if defined(__SANITIZE_THREAD__)

#define SIMT_ACCESS(name, size, flags) \
  SIMT_HOOK void name(void* address) { simt_services->access(address, size, flags, SIMT_PC); }
#define SIMT_ACCESSES(size)                                                                \
  SIMT_ACCESS(__tsan_read##size, size, simt::abi::is_read)                                 \
  SIMT_ACCESS(__tsan_write##size, size, simt::abi::is_write)                               \
  SIMT_ACCESS(__tsan_unaligned_read##size, size, simt::abi::is_read)                       \
  SIMT_ACCESS(__tsan_unaligned_write##size, size, simt::abi::is_write)                     \
  SIMT_ACCESS(__tsan_volatile_read##size, size, simt::abi::is_read | simt::abi::is_atomic) \
  SIMT_ACCESS(__tsan_volatile_write##size, size, simt::abi::is_write)
SIMT_EACH_SIZE(SIMT_ACCESSES)
#undef SIMT_ACCESSES
#undef SIMT_ACCESS

SIMT_HOOK void __tsan_read_range(void* address, std::size_t size) {
  simt_services->access(address, size, simt::abi::is_read, SIMT_PC);
}
SIMT_HOOK void __tsan_write_range(void* address, std::size_t size) {
  simt_services->access(address, size, simt::abi::is_write, SIMT_PC);
}
SIMT_HOOK void __tsan_vptr_read(void**) {}
SIMT_HOOK void __tsan_vptr_update(void**, void*) {}
SIMT_HOOK void __tsan_init() {}
SIMT_HOOK void __tsan_func_entry(void*) {}
SIMT_HOOK void __tsan_func_exit() {}

#elif defined(__SANITIZE_ADDRESS__)

#define SIMT_ACCESSES(size)                                             \
  SIMT_HOOK void __asan_load##size(void* address) {                     \
    simt_services->access(address, size, simt::abi::is_read, SIMT_PC);  \
  }                                                                     \
  SIMT_HOOK void __asan_store##size(void* address) {                    \
    simt_services->access(address, size, simt::abi::is_write, SIMT_PC); \
  }
SIMT_EACH_SIZE(SIMT_ACCESSES)
#undef SIMT_ACCESSES

SIMT_HOOK void __asan_loadN(void* address, std::size_t size) {
  simt_services->access(address, size, simt::abi::is_read, SIMT_PC);
}
SIMT_HOOK void __asan_storeN(void* address, std::size_t size) {
  simt_services->access(address, size, simt::abi::is_write, SIMT_PC);
}
SIMT_HOOK void __asan_register_globals(void* globals, std::size_t count) {
  simt::globals = static_cast<const simt::abi::Global*>(globals);
  simt::global_count = count;
}
SIMT_HOOK void __asan_unregister_globals(void*, std::size_t) {}
SIMT_HOOK void __asan_init() {}
SIMT_HOOK void __asan_version_mismatch_check_v8() {}
SIMT_HOOK void __asan_handle_no_return() {}
SIMT_HOOK void __asan_before_dynamic_init(const char*) {}
SIMT_HOOK void __asan_after_dynamic_init() {}

#endif

// The undefined-behaviour checks: what the compiler laid down, then up to two values.
#define SIMT_UNDEFINED_0(name, kind)                                  \
  SIMT_HOOK void __ubsan_handle_##name(void* data) {                  \
    simt_services->undefined(simt::abi::Undefined::kind, data, 0, 0); \
  }
#define SIMT_UNDEFINED_1(name, kind)                                       \
  SIMT_HOOK void __ubsan_handle_##name(void* data, std::uintptr_t value) { \
    simt_services->undefined(simt::abi::Undefined::kind, data, value, 0);  \
  }
#define SIMT_UNDEFINED_2(name, kind)                                                            \
  SIMT_HOOK void __ubsan_handle_##name(void* data, std::uintptr_t left, std::uintptr_t right) { \
    simt_services->undefined(simt::abi::Undefined::kind, data, left, right);                    \
  }
SIMT_UNDEFINED_1(type_mismatch_v1, type_mismatch)
SIMT_UNDEFINED_1(out_of_bounds, out_of_bounds)
SIMT_UNDEFINED_2(add_overflow, add)
SIMT_UNDEFINED_2(sub_overflow, subtract)
SIMT_UNDEFINED_2(mul_overflow, multiply)
SIMT_UNDEFINED_1(negate_overflow, negate)
SIMT_UNDEFINED_2(divrem_overflow, divide)
SIMT_UNDEFINED_2(shift_out_of_bounds, shift)
SIMT_UNDEFINED_2(pointer_overflow, pointer_overflow)
SIMT_UNDEFINED_1(load_invalid_value, invalid_value)
SIMT_UNDEFINED_1(vla_bound_not_positive, vla_bound)
SIMT_UNDEFINED_0(builtin_unreachable, unreachable)
SIMT_UNDEFINED_0(missing_return, missing_return)
#undef SIMT_UNDEFINED_0
#undef SIMT_UNDEFINED_1
#undef SIMT_UNDEFINED_2

/// How the checker and this text are introduced to one another; see simt::abi::Attach.
extern "C" SIMT_UNCHECKED __attribute__((visibility("default"), used)) inline void simt_attach_text(
    simt::abi::Services* services, simt::abi::TextMemory* memory) {
  simt_services = services;
  *memory = {__start_simt_shared, __stop_simt_shared, simt_dynamic_memory, simt::globals, simt::global_count};
}
