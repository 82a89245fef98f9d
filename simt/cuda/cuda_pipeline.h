// Stands in for CUDA's header of this name: asynchronous copies from global to shared memory.
#pragma once

#include "cuda_runtime.h"

SIMT_UNCHECKED inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t size,
                                                   std::size_t zeros = 0) {
  simt_services->copy_to_shared(to, from, size, zeros, __builtin_return_address(0));
}
SIMT_UNCHECKED inline void __pipeline_commit() { simt_services->commit_copies(); }
SIMT_UNCHECKED inline void __pipeline_wait_prior(unsigned groups) { simt_services->wait_for_copies(groups); }
