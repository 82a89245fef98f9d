// A pipeline's kernels on a GPU: what the emitted host function says as text (emit/gpu.cpp) is done here.
#pragma once

#include <weft/pipeline.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compile/cache.h"
#include "compile/device_compiler.h"
#include "compile/scheduling.h"
#include "host/parts.h"
#include "runtime/cuda_device.h"
#include "runtime/cuda_graph.h"
#include "runtime/cuda_memory.h"
#include "runtime/cuda_run.h"
#include "runtime/executable.h"

namespace weft::runtime {

/// A GPU, and the compiler for it.
struct CudaToolchain {
  std::shared_ptr<const CudaDevice> device;
  compile::DeviceCompiler compiler;
  std::string architecture;  ///< "sm_90": the newest that the compiler knows and the GPU runs.
};
/// Throws weft::Error if the driver, the device or NVRTC is missing, or they do not fit each other.
CudaToolchain cuda_toolchain(
    int device, const std::vector<std::filesystem::path>& drivers = CudaDriver::candidates(),
    const std::vector<std::filesystem::path>& compilers = compile::Nvrtc::candidates());
/// None without a driver or a GPU. Throws weft::Error if there is one that cannot be used, or not compiled for.
std::optional<CudaToolchain> cuda_toolchain_if_present(int device);

/// Several threads may run it at once. Errors have the pipeline's name, and the kernel's or image's.
class CudaProgram : public GpuExecutable {
 public:
  /// Runs tell `progress` how far they are, if there is one.
  CudaProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CudaToolchain& toolchain,
              const compile::Scheduling& scheduling = {},
              const compile::ContentCache& cache = compile::ContentCache(), RunProgress* progress = nullptr);

  Memory memory() const override { return Memory::gpu(device_->ordinal()); }
  void run_on(std::optional<void*> stream, const ir::Bindings& bindings,
              std::map<std::string, Buffer>& outputs) const override;

 private:
  std::shared_ptr<const CudaStream> take_stream() const;
  void give(std::shared_ptr<const CudaStream> stream) const;
  bool is_captured(void* stream) const;

  void run_whole(std::optional<void*> stream, const ir::Bindings& bindings,
                 std::map<std::string, Buffer>& outputs) const;
  bool may_be_graph(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const;
  /// That many, or the best number for 0, of a run whose images and outputs all lie in the host's memory; none of others.
  std::vector<host::Part> parts_of(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs,
                                   std::int64_t wanted) const;
  void run_in_parts(const std::vector<host::Part>& parts, const ir::Bindings& bindings,
                    const std::map<std::string, Buffer>& outputs) const;

  /// `otherwise` begins the message if it cannot be loaded.
  void load(const std::string& cubin, const std::string& otherwise);
  /// Memory for the outputs that lie on the GPU and have none yet.
  void allocate(std::map<std::string, Buffer>& outputs, void* stream,
                const std::shared_ptr<const CudaStream>& owner) const;

  std::shared_ptr<const ir::Pipeline> pipeline_;
  std::shared_ptr<const CudaDevice> device_;
  std::shared_ptr<void> loaded_;  ///< The compiled kernels.
  CudaCode code_;
  mutable CudaPool device_pool_, pinned_pool_;
  mutable CudaGraphs graphs_;
  HostCopies copies_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const CudaStream>> idle_streams_;  ///< For runs without the caller's.
  RunProgress* progress_;
};

}  // namespace weft::runtime
