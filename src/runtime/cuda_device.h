// A GPU as the driver shows it, with the context that it shares with CUDA's runtime and other libraries.
#pragma once

#include "runtime/cuda_driver.h"

#include <memory>
#include <string>

namespace weft::runtime {

class CudaDevice {
 public:
  /// Throws weft::Error if the driver has no such device.
  CudaDevice(CudaDriver driver, int ordinal);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const CudaDriver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  std::string name() const;  ///< "NVIDIA H200"
  void* context() const { return context_; }
  int multiprocessors() const;
  int capability() const;  ///< 90: ten times the major number and the minor one.

  /// The driver keeps memory that is released, for whoever asks next; here it gives all of that back that nobody
  /// uses, and what finished CUDA graphs left. Waits for the stream. The device's context has to be current.
  void trim_memory(void* stream) const;

  /// Makes the device's context the calling thread's as long as it lives. If that fails, so does what the
  /// driver is asked for meanwhile.
  class Current {
   public:
    explicit Current(const CudaDevice& device);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const CudaDriver& driver_;
    bool pushed_;
  };

 private:
  void keep_memory() const;

  CudaDriver driver_;
  int ordinal_, device_ = 0;
  void* context_ = nullptr;
};

/// A stream of Weft's own. It waits for the default stream, as streams do unless they are made otherwise.
class CudaStream {
 public:
  explicit CudaStream(std::shared_ptr<const CudaDevice> device);
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void* handle() const { return handle_; }

 private:
  std::shared_ptr<const CudaDevice> device_;
  void* handle_ = nullptr;
};

/// A moment in a stream: all that was queued there before. The device's context has to be current.
class CudaEvent {
 public:
  CudaEvent(std::shared_ptr<const CudaDevice> device, void* stream);
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  bool has_passed() const;
  /// What is queued on the stream from now on waits for it. Returns the driver's status.
  int make_wait(void* stream) const;
  void wait() const;  ///< The calling thread waits.

 private:
  std::shared_ptr<const CudaDevice> device_;
  void* handle_ = nullptr;
};

}  // namespace weft::runtime
