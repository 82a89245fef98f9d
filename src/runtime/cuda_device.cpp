#include "runtime/cuda_device.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace weft::runtime {
namespace {

constexpr int multiprocessor_count = 16;                     // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int capability_major = 75, capability_minor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
constexpr int release_threshold = 4;                         // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
constexpr unsigned without_timing = 2;                       // CU_EVENT_DISABLE_TIMING

}  // namespace

CudaDevice::CudaDevice(CudaDriver driver, int ordinal) : driver_(std::move(driver)), ordinal_(ordinal) {
  int count = 0;
  driver_.check(driver_->device_count(&count), "NVIDIA's driver does not count its GPUs");
  if (count == 0) throw NoGpu("NVIDIA's driver has no GPU that it may use; CUDA_VISIBLE_DEVICES may hide it");
  if (ordinal < 0 || ordinal >= count)
    throw Error(fmt::format("there is no GPU {}: NVIDIA's driver has {}, numbered from 0", ordinal, count));
  const std::string what = fmt::format("GPU {} cannot be used", ordinal);
  driver_.check(driver_->device(&device_, ordinal), what);
  driver_.check(driver_->retain_context(&context_, device_), what);
  keep_memory();
}

/// Unless somebody has chosen otherwise, the driver would give memory back to the system whenever anybody waits, and
/// fetch it again for the next run's outputs. Of devices that have no pool nothing is asked.
void CudaDevice::keep_memory() const {
  void* pool = nullptr;
  std::uint64_t bytes = 0;
  if (driver_->device_pool(&pool, device_) != 0 ||
      driver_->pool_attribute(pool, release_threshold, &bytes) != 0 || bytes != 0)
    return;
  bytes = std::numeric_limits<std::uint64_t>::max();
  driver_->set_pool_attribute(pool, release_threshold, &bytes);
}

void CudaDevice::trim_memory(void* stream) const {
  driver_->synchronize_stream(stream);
  void* pool = nullptr;
  if (driver_->device_pool(&pool, device_) == 0) driver_->trim_pool(pool, 0);
  if (driver_->trim_graphs) driver_->trim_graphs(device_);
}

CudaDevice::~CudaDevice() { driver_->release_context(device_); }

std::string CudaDevice::name() const {
  char name[256] = {};
  driver_.check(driver_->device_name(name, sizeof name, device_), "a GPU does not tell its name");
  return name;
}

int CudaDevice::capability() const {
  int major = 0, minor = 0;
  driver_.check(driver_->device_attribute(&major, capability_major, device_),
                "a GPU does not tell its capability");
  driver_.check(driver_->device_attribute(&minor, capability_minor, device_),
                "a GPU does not tell its capability");
  return 10 * major + minor;
}

int CudaDevice::multiprocessors() const {
  int count = 0;
  driver_.check(driver_->device_attribute(&count, multiprocessor_count, device_),
                "a GPU does not tell how many multiprocessors it has");
  return count;
}

CudaDevice::Current::Current(const CudaDevice& device)
    : driver_(device.driver_), pushed_(driver_->push_context(device.context_) == 0) {}

CudaDevice::Current::~Current() {
  void* context = nullptr;
  if (pushed_) driver_->pop_context(&context);
}

CudaStream::CudaStream(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {
  const CudaDevice::Current current(*device_);
  device_->driver().check(device_->driver()->create_stream(&handle_, 0), "a stream cannot be made");
}

CudaStream::~CudaStream() {
  const CudaDevice::Current current(*device_);
  device_->driver()->destroy_stream(handle_);
}

CudaEvent::CudaEvent(std::shared_ptr<const CudaDevice> device, void* stream) : device_(std::move(device)) {
  const CudaDriver& driver = device_->driver();
  driver.check(driver->create_event(&handle_, without_timing), "an event cannot be made");
  const int status = driver->record_event(handle_, stream);
  if (status != 0) driver->destroy_event(handle_);
  driver.check(status, "an event cannot be recorded");
}

CudaEvent::~CudaEvent() { device_->driver()->destroy_event(handle_); }

bool CudaEvent::has_passed() const { return device_->driver()->query_event(handle_) == 0; }

int CudaEvent::make_wait(void* stream) const { return device_->driver()->wait_for_event(stream, handle_, 0); }

void CudaEvent::wait() const { device_->driver()->synchronize_event(handle_); }

}  // namespace weft::runtime
