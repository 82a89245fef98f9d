#include "runtime/cuda_driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <utility>

#include "base/environment.h"
#include "compile/dynamic_library.h"
#include "runtime/executable.h"

namespace weft::runtime {

namespace fs = std::filesystem;

namespace {

/// The name of the first function that the library lacks; null: it has all.
const char* find_functions(const compile::DynamicLibrary& library, CudaFunctions& f) {
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    if (!missing && !library.find(name, function)) missing = name;
  };
  // The names that cuda.h gives to the current versions of these functions.
  find("cuGetErrorName", f.error_name);
  find("cuGetErrorString", f.error_text);
  find("cuInit", f.init);
  find("cuDriverGetVersion", f.version);
  find("cuDeviceGetCount", f.device_count);
  find("cuDeviceGet", f.device);
  find("cuDeviceGetName", f.device_name);
  find("cuDeviceGetAttribute", f.device_attribute);
  find("cuDevicePrimaryCtxRetain", f.retain_context);
  find("cuDevicePrimaryCtxRelease_v2", f.release_context);
  find("cuCtxPushCurrent_v2", f.push_context);
  find("cuCtxPopCurrent_v2", f.pop_context);
  find("cuModuleLoadData", f.load_module);
  find("cuModuleUnload", f.unload_module);
  find("cuModuleGetFunction", f.module_function);
  find("cuOccupancyMaxActiveBlocksPerMultiprocessor", f.blocks_at_a_time);
  find("cuLaunchKernel", f.launch);
  find("cuMemAllocAsync", f.allocate);
  find("cuMemFreeAsync", f.release);
  find("cuDeviceGetDefaultMemPool", f.device_pool);
  find("cuMemPoolGetAttribute", f.pool_attribute);
  find("cuMemPoolSetAttribute", f.set_pool_attribute);
  find("cuMemPoolTrimTo", f.trim_pool);
  library.find("cuDeviceGraphMemTrim", f.trim_graphs);
  find("cuMemHostAlloc", f.allocate_pinned);
  find("cuMemFreeHost", f.release_pinned);
  find("cuMemcpyHtoDAsync_v2", f.copy_to_device);
  find("cuMemcpyDtoHAsync_v2", f.copy_to_host);
  find("cuMemsetD8Async", f.fill);
  find("cuStreamCreate", f.create_stream);
  find("cuStreamDestroy_v2", f.destroy_stream);
  find("cuStreamSynchronize", f.synchronize_stream);
  find("cuStreamQuery", f.query_stream);
  find("cuStreamIsCapturing", f.stream_is_capturing);
  find("cuStreamWaitEvent", f.wait_for_event);
  find("cuEventCreate", f.create_event);
  find("cuEventDestroy_v2", f.destroy_event);
  find("cuEventRecord", f.record_event);
  find("cuEventQuery", f.query_event);
  find("cuEventSynchronize", f.synchronize_event);
  library.find("cuGraphCreate", f.create_graph);
  library.find("cuGraphDestroy", f.destroy_graph);
  library.find("cuGraphAddKernelNode", f.add_kernel_node);
  library.find("cuGraphAddMemsetNode", f.add_fill_node);
  library.find("cuGraphInstantiateWithFlags", f.instantiate_graph);
  library.find("cuGraphExecDestroy", f.destroy_executable);
  library.find("cuGraphExecKernelNodeSetParams", f.set_kernel_node);
  library.find("cuGraphExecMemsetNodeSetParams", f.set_fill_node);
  library.find("cuGraphLaunch", f.launch_graph);
  return missing;
}

/// Whether a driver and its device are as well as before a call that returned this, but cannot do it.
bool is_refusal(int status) {
  switch (status) {
    case 209:  // CUDA_ERROR_NO_BINARY_FOR_GPU
    case 218:  // CUDA_ERROR_INVALID_PTX
    case 222:  // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    case 701:  // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    case 801:  // CUDA_ERROR_NOT_SUPPORTED
      return true;
    default: return false;
  }
}

/// Whether a kernel made a fault: whatever the driver is asked for next returns this, and all that follows.
bool is_fault_of_kernel(int status) {
  return status == 700 /* CUDA_ERROR_ILLEGAL_ADDRESS */ || status == 702 /* CUDA_ERROR_LAUNCH_TIMEOUT */ ||
         status == 710 /* CUDA_ERROR_ASSERT */ ||
         (status >= 714 && status <= 719) /* CUDA_ERROR_HARDWARE_STACK_ERROR … CUDA_ERROR_LAUNCH_FAILED */;
}

/// Whether a driver that returns this when it starts has no GPU: that of a machine without one, or a toolkit's
/// library that stands in for a driver.
bool means_no_gpu(int status) {
  return status == 34 /* CUDA_ERROR_STUB_LIBRARY */ || status == 100 /* CUDA_ERROR_NO_DEVICE */;
}

}  // namespace

bool CudaFunctions::have_graphs() const {
  return create_graph && destroy_graph && add_kernel_node && add_fill_node && instantiate_graph &&
         destroy_executable && set_kernel_node && set_fill_node && launch_graph;
}

bool kernels_run_one_by_one() { return environment_says("WEFT_CUDA_DEBUG", false); }

std::vector<fs::path> CudaDriver::candidates() {
  const char* chosen = std::getenv("WEFT_CUDA_DRIVER");
  if (chosen && *chosen) return {chosen};
  return {"libcuda.so.1"};
}

CudaDriver::CudaDriver(const std::vector<fs::path>& libraries) {
  std::string reason;
  for (const fs::path& candidate : libraries) {
    const compile::DynamicLibrary library(candidate);
    CudaFunctions f{};
    const char* missing = library.loaded() ? find_functions(library, f) : nullptr;
    if (library.loaded() && !missing) {
      functions_ = std::make_shared<const CudaFunctions>(f);
      const int status = f.init(0);
      const std::string what = "NVIDIA's driver does not start";
      if (means_no_gpu(status)) throw NoGpu(what + ": " + text_of(status));
      check(status, what);
      return;
    }
    reason += (reason.empty() ? "" : ", ") +
              (missing ? fmt::format("'{}' has no {} (CUDA 11.2 has)", candidate.string(), missing)
                       : fmt::format("'{}' cannot be loaded", candidate.string()));
  }
  throw NoGpu("NVIDIA's driver was not found: " + reason + "; install it, or use another target than cuda");
}

int CudaDriver::version() const {
  int version = 0;
  check(functions_->version(&version), "NVIDIA's driver does not tell its version");
  return version;
}

std::string CudaDriver::text_of(int status) const {
  const char *name = nullptr, *text = nullptr;
  if (functions_->error_name(status, &name) != 0 || functions_->error_text(status, &text) != 0 || !name ||
      !text)
    return fmt::format("CUDA's error {}", status);
  return fmt::format("{} ({})", name, text);
}

void CudaDriver::check(int status, const std::string& what) const {
  if (status == 0) return;
  Error error(what + ": " + text_of(status));
  if (is_fault_of_kernel(status) && !kernels_run_one_by_one())
    error.help("a kernel that was queued before may have done it; WEFT_CUDA_DEBUG=1 says which");
  if (status == no_memory_left) throw NoMemoryForGpu(std::move(error));
  if (is_refusal(status)) throw GpuRefusal(std::move(error));
  throw error;
}

}  // namespace weft::runtime
