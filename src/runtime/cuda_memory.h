// Memory of a GPU and pinned memory of the host, kept from run to run. A block that a run gives back may
// still be in use on the run's stream, so it comes with an event: who takes it makes its own stream wait for
// that. No call here waits, but for what gives memory back to the system.
#pragma once

#include "runtime/cuda_device.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weft::runtime {

struct CudaBlock {
  void* address = nullptr;
  std::size_t bytes = 0;
};

/// Thread-safe. The device's context has to be current, but for the constructor and the destructor.
class CudaPool {
 public:
  enum class Kind {
    Device,
    Pinned  ///< The host's, from where and to where copies are asynchronous.
  };

  CudaPool(std::shared_ptr<const CudaDevice> device, Kind kind);
  ~CudaPool();  ///< Every block has been given back.
  CudaPool(const CudaPool&) = delete;
  CudaPool& operator=(const CudaPool&) = delete;

  /// At least `bytes` bytes of undefined content: the GPU's for use on the stream, the host's at once. `what`
  /// begins the message of the weft::Error if there is not enough memory.
  CudaBlock take(std::size_t bytes, void* stream, const std::string& what);
  /// Likewise, but never more than that, and not to be given back: it is released as the driver's memory is.
  CudaBlock take_for_good(std::size_t bytes, void* stream, const std::string& what);
  /// Keeps a block for later calls of take. It was used on `stream` until the event; null: it is free.
  void give(const CudaBlock& block, void* stream, std::shared_ptr<const CudaEvent> after);

 private:
  struct Kept {
    CudaBlock block;
    void* stream;
    std::shared_ptr<const CudaEvent> after;

    bool is_free() const { return !after || after->has_passed(); }
  };
  CudaBlock allocated(std::size_t bytes, void* stream, const std::string& what);
  int allocate(CudaBlock& block, void* stream) const;
  void release(const Kept& kept, void* stream) const;
  void release_kept(void* stream);

  std::shared_ptr<const CudaDevice> device_;
  Kind kind_;
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

/// What one run takes from two pools on one stream; given back when it goes. If the stream is being captured into a
/// CUDA graph, the memory is the graph's own instead: the graph takes and releases it each time it is launched.
class CudaRunMemory {
 public:
  CudaRunMemory(std::shared_ptr<const CudaDevice> device, CudaPool& of_device, CudaPool& pinned, void* stream,
                bool is_captured);
  ~CudaRunMemory();
  CudaRunMemory(const CudaRunMemory&) = delete;
  CudaRunMemory& operator=(const CudaRunMemory&) = delete;

  void* of_device(std::size_t bytes, const std::string& what);
  void* pinned(std::size_t bytes, const std::string& what);
  /// The rest of the run may have this block of the device's memory: what is queued later comes later.
  void give_early(void* address);

 private:
  CudaBlock of_graph(std::size_t bytes, const std::string& what) const;

  std::shared_ptr<const CudaDevice> device_;
  CudaPool &device_pool_, &pinned_pool_;
  void* stream_;
  bool is_captured_;
  std::vector<CudaBlock> device_blocks_, pinned_blocks_, early_;
};

}  // namespace weft::runtime
