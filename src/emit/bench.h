// Emits a program that checks a pipeline's CUDA against its C++ and times it, for machines that have a GPU
// and the compilers, and nothing of Weft.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/ir.h"

namespace weft::emit {

/// What the program is to run the pipeline on: one size, which is a part of its text.
struct BenchPlan {
  std::string options;  ///< For people: "steps=3", or nothing.
  std::string size;     ///< For people: "2048x2048".
  std::map<kernel::Symbol, std::vector<std::int64_t>>
      extents;                                  ///< Of inputs and outputs, in pixels, x first.
  std::map<kernel::Symbol, ir::Number> fields;  ///< The module's sizes and parameters.
  double range = 255;                           ///< Random floats are in 0 … range.
  bool rounded = false;           ///< Whether integers come from floats, and may differ by 1 here and there.
  std::int64_t kernel_bytes = 0;  ///< What the kernels read and write, each array once per launch or repeat.
};

/// Files by name: those that emit_gpu_for_users and emit_for_users give for the two modules of one pipeline,
/// in cuda/ and cpp/, but for what CMake needs; bench.cu, which runs both; bench_kit.h and bench_pixels.h, which it
/// includes; and the shell script `build`. `architecture` is what is compiled for unless ARCH says else. Throws
/// weft::Error for images of halves.
std::map<std::string, std::string> emit_bench(const kernel::Module& cuda, const kernel::Module& cpp,
                                              const std::string& architecture, const BenchPlan& plan);

/// The texts of bench_kit.h and of bench_pixels.h.
extern const char* const bench_kit;
extern const char* const bench_pixels;

}  // namespace weft::emit
