// Turns emitted CUDA into code for a GPU (a cubin), which need not be there: NVRTC compiles, the cache keeps.
// The second time, nothing is compiled.
#pragma once

#include "compile/cache.h"
#include "compile/nvrtc.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace weft::compile {

struct DeviceFlags {
  std::string architecture;        ///< "sm_90", as machine::Architecture::name() says it.
  bool strict = false;             ///< Floats are computed as written.
  std::vector<std::string> extra;  ///< After the base flags, so they override them.
};

struct DeviceCode {
  std::string cubin;
  std::filesystem::path path;  ///< In the cache; the source is beside it, as .cu.
};

class DeviceCompiler {
 public:
  /// Throws weft::Error if there is no NVRTC.
  explicit DeviceCompiler(Nvrtc nvrtc = Nvrtc()) : nvrtc_(std::move(nvrtc)) {}

  const Nvrtc& nvrtc() const { return nvrtc_; }

  /// The cache knows code by its source, the flags and the compiler. A damaged file is built again.
  DeviceCode compile(const std::string& source, const DeviceFlags& flags, const ContentCache& cache) const;

 private:
  Nvrtc nvrtc_;
};

}  // namespace weft::compile
