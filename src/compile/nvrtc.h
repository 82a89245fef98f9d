// NVIDIA's run-time compiler of CUDA, loaded when it is first needed: Weft is built without a toolkit, and
// compiling for a GPU needs neither a GPU nor a driver.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace weft::compile {

class Nvrtc {
 public:
  /// Where it is looked for: in $CUDA_PATH, where the dynamic loader finds libraries, in /usr/local/cuda.
  static std::vector<std::filesystem::path> candidates();

  /// Loads the first that can be loaded, for the rest of the process. Throws weft::Error if there is none.
  explicit Nvrtc(const std::vector<std::filesystem::path>& libraries = candidates());

  const std::filesystem::path& path() const { return path_; }
  std::string version() const;  ///< "13.0"
  int major_version() const;    ///< 13: drivers load what older CUDAs and those of their own compile.
  std::vector<int> architectures() const;  ///< 75, 80, ...: ten times the major number and the minor one.

  struct Result {
    bool compiled = false;
    std::string cubin;  ///< If compiled.
    std::string log;    ///< Errors, warnings and what else was asked for.
  };
  /// `name` is the source's, in messages. With --gpu-architecture=sm_NN among the options.
  Result compile(const std::string& source, const std::string& name,
                 const std::vector<std::string>& options) const;

 private:
  struct Functions;
  const Functions& functions() const { return *functions_; }

  std::filesystem::path path_;
  std::shared_ptr<const Functions> functions_;
};

}  // namespace weft::compile
