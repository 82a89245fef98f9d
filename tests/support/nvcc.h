// The CUDA toolkit's compiler as a judge of emitted text: whoever uses that text compiles it so, with all
// warnings on.
//
//     if (!find_nvcc()) GTEST_SKIP() << no_nvcc;
//     const NvccRun run = compile_with_nvcc(folder / "blur.cu", folder / "blur.cubin", {.architecture =
//     "sm_90"}); EXPECT_TRUE(run.clean()) << run.output;
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft::testing_support {

/// On PATH, in $CUDA_PATH/bin or in /usr/local/cuda/bin.
std::optional<std::filesystem::path> find_nvcc();
constexpr const char* no_nvcc = "nvcc was found neither on PATH nor in CUDA_PATH nor in /usr/local/cuda";

struct NvccOptions {
  std::string architecture;  ///< "sm_90"
  /// An object file instead of a cubin. Only then is the host's compiler run, and warns; it takes about three
  /// times as long.
  bool object = false;
  bool strict = false;  ///< Floats are computed as written.
  std::vector<std::string> extra{};
};

struct NvccRun {
  std::string command;  ///< For messages.
  int exit_code = 0;
  std::string output;  ///< Errors and warnings.

  bool clean() const { return exit_code == 0 && output.empty(); }
};

/// Warnings are errors, in device and host code. Needs find_nvcc().
NvccRun compile_with_nvcc(const std::filesystem::path& source, const std::filesystem::path& product,
                          const NvccOptions& options);

}  // namespace weft::testing_support
