// Compiles many small pipelines at once: most of the time that one of them takes is the start of the compiler
// and of the linker. Tests that try thousands of pipelines need it.
#pragma once

#include <weft/pipeline.h>

#include <chrono>
#include <string>
#include <vector>

#include "compile/cache.h"

namespace weft::runtime {

/// Usually it is a few seconds.
constexpr std::chrono::minutes longest_compilation{3};

/// For the CPU: one program per pipeline, in their order. Pipelines that need the same flags share a shared
/// object. The code of each is what it would be alone. Unless `schedules` is empty, each has its own instead
/// of the options'. Throws what the first bad pipeline throws, or
/// weft::Error if the compiler rejects the code of any or takes longer than `longest_compilation`.
std::vector<Program> compile_together(const std::vector<Pipeline>& pipelines, const CompileOptions& options,
                                      const compile::ContentCache& cache,
                                      const std::vector<std::string>& schedules = {});

}  // namespace weft::runtime
