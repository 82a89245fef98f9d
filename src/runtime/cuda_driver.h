// NVIDIA's driver, loaded when it is first needed: Weft is built without a toolkit, and runs without a GPU.
#pragma once

#include <weft/error.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace weft::runtime {

/// CUDA_KERNEL_NODE_PARAMS of cuda.h before CUDA 12, whose functions drivers keep.
struct CudaKernelNode {
  void* function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void** parameters;
  void** extra;
};
/// CUDA_MEMSET_NODE_PARAMS: rows of elements.
struct CudaFillNode {
  unsigned long long to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;
};

/// What Weft uses of cuda.h, which a toolkit would have to provide. Status 0 is success; handles are opaque.
struct CudaFunctions {
  using Address = unsigned long long;  ///< CUdeviceptr

  int (*error_name)(int status, const char** name);
  int (*error_text)(int status, const char** text);
  int (*init)(unsigned flags);
  int (*version)(int* version);
  int (*device_count)(int* count);
  int (*device)(int* device, int ordinal);
  int (*device_name)(char* name, int length, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*retain_context)(void** context, int device);
  int (*release_context)(int device);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
  int (*load_module)(void** module, const void* image);
  int (*unload_module)(void* module);
  int (*module_function)(void** function, void* module, const char* name);
  int (*blocks_at_a_time)(int* of_a_multiprocessor, void* function, int threads, std::size_t dynamic_bytes);
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                void** extra);
  int (*allocate)(Address* address, std::size_t bytes, void* stream);
  int (*release)(Address address, void* stream);
  int (*device_pool)(void** pool, int device);
  int (*pool_attribute)(void* pool, int attribute, void* value);
  int (*set_pool_attribute)(void* pool, int attribute, void* value);
  int (*trim_pool)(void* pool, std::size_t bytes_to_keep);
  int (*trim_graphs)(int device);  ///< Null before CUDA 11.4.
  int (*allocate_pinned)(void** address, std::size_t bytes, unsigned flags);
  int (*release_pinned)(void* address);
  int (*copy_to_device)(Address to, const void* from, std::size_t bytes, void* stream);
  int (*copy_to_host)(void* to, Address from, std::size_t bytes, void* stream);
  int (*fill)(Address to, unsigned char value, std::size_t bytes, void* stream);
  int (*create_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*synchronize_stream)(void* stream);
  int (*query_stream)(void* stream);  ///< Success if all that was queued there is done.
  int (*stream_is_capturing)(void* stream, int* status);
  int (*wait_for_event)(void* stream, void* event, unsigned flags);
  int (*create_event)(void** event, unsigned flags);
  int (*destroy_event)(void* event);
  int (*record_event)(void* event, void* stream);
  int (*query_event)(void* event);
  int (*synchronize_event)(void* event);
  // Of graphs; null before CUDA 11.4.
  int (*create_graph)(void** graph, unsigned flags);
  int (*destroy_graph)(void* graph);
  int (*add_kernel_node)(void** node, void* graph, void* const* after, std::size_t count,
                         const CudaKernelNode* kernel);
  int (*add_fill_node)(void** node, void* graph, void* const* after, std::size_t count,
                       const CudaFillNode* fill, void* context);
  int (*instantiate_graph)(void** executable, void* graph, unsigned long long flags);
  int (*destroy_executable)(void* executable);
  int (*set_kernel_node)(void* executable, void* node, const CudaKernelNode* kernel);
  int (*set_fill_node)(void* executable, void* node, const CudaFillNode* fill, void* context);
  int (*launch_graph)(void* executable, void* stream);

  bool have_graphs() const;
};

constexpr int no_memory_left = 2;  ///< CUDA_ERROR_OUT_OF_MEMORY

inline CudaFunctions::Address as_address(void* p) { return reinterpret_cast<CudaFunctions::Address>(p); }

/// There is no GPU that the driver may use, or no driver.
class NoGpu : public Error {
 public:
  using Error::Error;
};

/// Whether kernels on a GPU are waited for one by one, so that a fault is known to be the latest one's: after
/// WEFT_CUDA_DEBUG=1.
bool kernels_run_one_by_one();

class CudaDriver {
 public:
  /// $WEFT_CUDA_DRIVER alone if it is set, else what the dynamic loader finds as libcuda.so.1.
  static std::vector<std::filesystem::path> candidates();

  /// Loads the first that can be loaded, for the rest of the process. Throws NoGpu if there is none or it has no
  /// device, and another weft::Error if it does not start.
  explicit CudaDriver(const std::vector<std::filesystem::path>& libraries = candidates());

  const CudaFunctions* operator->() const { return functions_.get(); }

  /// Of the newest CUDA whose code it loads: 1000 times the major number and 10 times the minor one.
  int version() const;
  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  std::string text_of(int status) const;
  /// Throws weft::Error "what: text_of(status)" unless the status is success; a GpuRefusal where the device works,
  /// but cannot do this: NoMemoryForGpu, for want of memory. Of a fault that any kernel before may have made, the error
  /// says how to find it.
  void check(int status, const std::string& what) const;

 private:
  std::shared_ptr<const CudaFunctions> functions_;
};

}  // namespace weft::runtime
