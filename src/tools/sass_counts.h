// The instructions that kernels of a pipeline take per pixel, of a tile in the middle, on a GPU that need not be here: those
// of each loop of the compiled code, times how often the tile goes through it. Both repeat exactly.
//
// What is exact: the compiled code, its loops, what each instruction is, and, from the kernel, how often its loops run
// for a tile. What is taken: the way through a loop that forks is that which stores most, else loads most, else is
// shortest; loops of both are brought together by lines of the source; how often the compiler unrolled one follows
// from the bytes that it stores, or loads where it stores none, which is marked.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compile/cubin.h"
#include "compile/device_compiler.h"
#include "compile/sass.h"
#include "kernel/evaluate.h"
#include "kernel/ir.h"
#include "machine/architecture.h"

namespace weft::tools {

struct SassLoopCount {
  std::string text;  ///< How it begins in the emitted code; empty: what lies in no loop.
  int unrolled = 1;  ///< Iterations of the source that a trip does.
  bool is_estimated = false;
  double instructions = 0;  ///< Of a trip, in the mean, without those of loops inside.
  double trips = 0;         ///< For a pixel.
  double clocks = 0;        ///< Of a trip, of a warp that nothing else delays (compile/sass.h).
};

struct SassCount {
  kernel::Symbol kernel;
  compile::KernelResources resources;
  int local = 0;  ///< Instructions in the text that load or store local memory.
  std::vector<SassLoopCount> loops;
  double pixels = 0;  ///< That a block stores, or a thread whose pixels are its own.
  /// Per pixel of the result, of each kind; of those that move bytes, by how many, too.
  std::array<double, compile::sass_kinds> kinds{};
  std::map<std::pair<compile::SassKind, int>, double> widths;

  double total() const;
  double clocks() const;  ///< Per pixel, as instructions are: a warp's, divided by its lanes.
};

/// What a compiler makes of a module's kernels.
struct CompiledKernels {
  std::string text;  ///< Emitted, with the lines that the code names.
  std::map<std::string, compile::KernelResources> resources;
  std::map<std::string, compile::SassCode> codes;
};

/// The module is for a GPU. Throws weft::Error if the compiler does not know the architecture.
CompiledKernels compiled_kernels(const kernel::Module& module, const machine::Architecture& architecture,
                                 const compile::DeviceCompiler& compiler);

/// In the order of the module, of images and room of the sizes in `fields`.
std::vector<SassCount> sass_counts(const kernel::Module& module, const CompiledKernels& compiled,
                                   const kernel::FieldValues& fields);
/// Of images in which tiles have their full size, 4096 pixels along each dimension.
std::vector<SassCount> sass_counts(const kernel::Module& module, const CompiledKernels& compiled);

std::vector<std::string> sass_columns();
std::vector<std::vector<std::string>> to_rows(const std::vector<SassCount>& kernels);
/// Of loops that take at least a hundredth of their kernel's instructions.
std::vector<std::string> sass_loop_columns();
std::vector<std::vector<std::string>> to_loop_rows(const std::vector<SassCount>& kernels);
nlohmann::ordered_json to_json(const std::vector<SassCount>& kernels);

}  // namespace weft::tools
