// The CMakeLists.txt beside emitted code, which makes a library of it. A folder may hold several pipelines:
// the file has a head and then a part for each, which other parts leave alone.
#pragma once

#include <optional>
#include <string>

#include "kernel/ir.h"
#include "target/dialect.h"

namespace weft::emit {

/// The target: "sobel_cpp", "sobel_cuda". The ending keeps it apart from the target of a user's program,
/// which may well have the pipeline's name, and the two libraries of one pipeline from each other.
std::string library_name(const kernel::Module& module, const std::string& target);

/// Of NAME.cpp, for the flags "-std=c++17 -O3 …".
std::string cmake_for_cpp(const kernel::Module& module, const std::string& flags);
/// Of NAME.cu, for "sm_90" unless the project's CMAKE_CUDA_ARCHITECTURES says what to compile for; or of what
/// another dialect has instead.
std::string cmake_for_gpu(const kernel::Module& module, const target::Dialect& dialect,
                          const std::string& architecture);

/// The old file with the parts of the added one in place of its parts of the same pipelines, or after them.
/// Nothing if the old file is not Weft's.
std::optional<std::string> merged_cmake(const std::string& old, const std::string& added);

}  // namespace weft::emit
