// Emits C++ with kernels for GPUs: one file per pipeline, readable, and usable without Weft. In CUDA's
// spelling, or in another of target/dialect.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emit/module_text.h"
#include "kernel/ir.h"
#include "target/dialect.h"

namespace weft::emit {

/// Files by name for a user's own project. NAME.h declares two functions that take buffers, sizes and
/// parameters: one for device memory, which runs on a stream, and one for host memory; NAME.cu defines them;
/// CMakeLists.txt makes a library of them. `architecture` is what these say to compile for: "sm_90". For the
/// namespace see emit/cpp.h.
std::map<std::string, std::string> emit_gpu_for_users(const kernel::Module& module,
                                                      const std::string& architecture,
                                                      const std::optional<std::string>& name_space = {},
                                                      const target::Dialect& dialect = target::cuda());
/// What the vendor's compiler needs for the same meaning as in Weft.
std::string gpu_flags(const kernel::Module& module, const std::string& architecture,
                      const target::Dialect& dialect = target::cuda());

/// The same functions, and an entry of fixed signature that takes host memory,
///     extern "C" int weft_entry(void* const* arrays, const int64_t* integers, const void* const* params)
/// with inputs then outputs in `arrays`, the module's sizes then strides in `integers`. It returns the error
/// of the vendor's runtime. weft_entry_on_device takes device memory, and queues the work on the default stream.
std::string emit_gpu_for_loading(const kernel::Module& module,
                                 const target::Dialect& dialect = target::cuda());
/// One text for several modules: each has a namespace to itself, and module m the entry `entry_name(m)`,
/// and that with _on_device.
std::string emit_gpu_for_loading_together(const std::vector<const kernel::Module*>& modules,
                                          const target::Dialect& dialect = target::cuda());

/// The kernels alone, for NVRTC, which has no headers; a host program that is not text launches them. Each is
/// extern "C" under its function's name, and takes host::parameters_of (host/plan.h).
std::string emit_cuda_kernels(const kernel::Module& module);

}  // namespace weft::emit
