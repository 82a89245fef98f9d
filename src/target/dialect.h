// How a target's C++ with kernels is spelt. The languages of GPUs' vendors are one, with kernels over grids
// of blocks of threads, shared memory and barriers under the same names. What differs is a row here, which
// emit/gpu reads: adding such a target is adding its row.
//
//     target::cuda().runtime    "cuda", so that emitted functions return a cudaError_t
//     target::hip().runtime     "hip"
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/value.h"
#include "machine/architecture.h"

namespace weft::target {

struct Dialect {
  std::string_view name;    ///< In --target, and in the library's name: "cuda", for sobel_cuda.
  std::string_view brand;   ///< "CUDA": the language is CUDA C++.
  std::string_view needs;   ///< "CUDA 11.2 or later": what users have to have.
  std::string_view suffix;  ///< Of files: "cu".

  // The language.
  std::string_view header;   ///< "cuda_runtime.h"
  std::string_view runtime;  ///< Begins all names of its runtime: "cuda".
  std::string_view
      launch_bounds;  ///< Of a kernel: "__launch_bounds__({}, {})", with its threads and blocks at a time.
  std::string_view kernel_address;          ///< Of a kernel `kernel`, for cudaLaunchKernel.
  std::string_view multiprocessor_count;    ///< The attribute of a device: "cudaDevAttrMultiProcessorCount".
  std::array<std::int64_t, 3> most_blocks;  ///< Of a grid along x, y and z, whatever the size of a block.
  std::string_view ignoring;  ///< Before a call whose error does not matter, if that has to be said.
  /// What makes a float an int, or an unsigned int, in one instruction: NaN is 0, and what is out of range the nearest end.
  /// "__float2{}_rz"; empty if nothing does for sure.
  std::string_view truncation;
  /// Between lanes of a warp: before the value, with "_up", "_down" or nothing, and after the lane.
  std::string_view shuffle, shuffle_ends;
  /// A statement: all lanes of a warp get here, and see what the others have written.
  std::string_view warp_barrier;
  /// Whether there is an instruction, atomicAdd or its like, for a type of 32 or 64 bits. Other updates
  /// exchange words.
  bool (*has_atomic)(ir::BinaryOp op, Scalar type);

  // Compiling.
  std::string_view compiler;             ///< "nvcc"
  std::string_view architecture_option;  ///< "-arch=", before the name.
  /// How floats are computed as written, under `strict`, and otherwise: products and sums fused, subnormals zeros,
  /// quotients and square roots within two units in the last place.
  std::string_view strict_options, fast_options;
  std::string_view cmake_requires;  ///< A line, if emitted projects need more of CMake for this language.
  std::string_view cmake_language;  ///< "CUDA", as in enable_language() and CMAKE_CUDA_ARCHITECTURES.
  std::string_view cmake_package, cmake_library;  ///< Of the runtime: "CUDAToolkit", "CUDA::cudart".

  // Architectures.
  std::string_view usual_architecture;         ///< Unless a user names another: "sm_90".
  std::string_view architecture_prefix;        ///< Of such names: "sm_".
  std::string_view cmake_architecture_prefix;  ///< What CMake writes instead: "".
  /// What is known of the named one. Throws weft::Error for a name of none.
  const machine::Architecture& (*architecture)(std::string_view name);
};

/// The compiler's options for floats.
constexpr std::string_view float_options(const Dialect& dialect, bool strict) {
  return strict ? dialect.strict_options : dialect.fast_options;
}
/// Each by itself.
std::vector<std::string> float_option_words(const Dialect& dialect, bool strict);

const Dialect& cuda();
const Dialect& hip();

/// All of them.
std::span<const Dialect* const> dialects();

}  // namespace weft::target
