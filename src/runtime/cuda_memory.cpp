#include "runtime/cuda_memory.h"

#include <weft/error.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::runtime {
namespace {

/// Takes the smallest block of those that `may` be taken and fits; more than twice as large would keep memory
/// from those who need it. Returns the end if there is none.
template <class Blocks, class SizeOf, class May>
auto best_fit(Blocks& blocks, std::size_t bytes, SizeOf size_of, May may) {
  auto best = blocks.end();
  for (auto b = blocks.begin(); b != blocks.end(); ++b) {
    const std::size_t size = size_of(*b);
    if (size < bytes || size / 2 > bytes || (best != blocks.end() && size >= size_of(*best)) || !may(*b))
      continue;
    best = b;
  }
  return best;
}

}  // namespace

CudaPool::CudaPool(std::shared_ptr<const CudaDevice> device, Kind kind)
    : device_(std::move(device)), kind_(kind) {}

CudaPool::~CudaPool() {
  const CudaDevice::Current current(*device_);
  release_kept(nullptr);
}

CudaBlock CudaPool::take(std::size_t bytes, void* stream, const std::string& what) {
  constexpr std::size_t line = 512;  // blocks of about one size should fit each other
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - line) throw Error(what + ": too many bytes");
  const std::size_t size = (std::max(bytes, std::size_t{1}) + line - 1) / line * line;

  const std::lock_guard lock(mutex_);
  const auto fit = best_fit(
      kept_, size, [](const Kept& k) { return k.block.bytes; },
      [&](const Kept& k) { return (kind_ == Kind::Device && k.stream == stream) || k.is_free(); });
  if (fit != kept_.end()) {
    const Kept found = *fit;
    // Also on the same stream: it may be another one that was given the handle of one that is gone.
    if (!found.is_free()) device_->driver().check(found.after->make_wait(stream), what);
    kept_.erase(fit);
    return found.block;
  }
  return allocated(size, stream, what);
}

CudaBlock CudaPool::take_for_good(std::size_t bytes, void* stream, const std::string& what) {
  const std::lock_guard lock(mutex_);
  return allocated(bytes, stream, what);
}

/// What is kept for later may be what is missing now: by Weft first, which costs no waiting, then by the driver.
CudaBlock CudaPool::allocated(std::size_t bytes, void* stream, const std::string& what) {
  CudaBlock block{nullptr, bytes};
  int status = allocate(block, stream);
  if (status != 0 && !kept_.empty()) {
    release_kept(stream);
    status = allocate(block, stream);
  }
  if (status == no_memory_left && kind_ == Kind::Device) {
    device_->trim_memory(stream);
    status = allocate(block, stream);
  }
  device_->driver().check(status, what);
  return block;
}

void CudaPool::give(const CudaBlock& block, void* stream, std::shared_ptr<const CudaEvent> after) {
  const std::lock_guard lock(mutex_);
  kept_.push_back({block, stream, std::move(after)});
}

int CudaPool::allocate(CudaBlock& block, void* stream) const {
  if (kind_ == Kind::Pinned) return device_->driver()->allocate_pinned(&block.address, block.bytes, 0);
  CudaFunctions::Address address = 0;
  const int status = device_->driver()->allocate(&address, block.bytes, stream);
  block.address = reinterpret_cast<void*>(address);
  return status;
}

/// The device's memory is released in the order of a stream, pinned memory once its copies are done.
void CudaPool::release(const Kept& kept, void* stream) const {
  const CudaDriver& driver = device_->driver();
  if (kind_ == Kind::Pinned) {
    if (kept.after) kept.after->wait();
    driver->release_pinned(kept.block.address);
  } else {
    if (kept.after) kept.after->make_wait(stream);
    driver->release(as_address(kept.block.address), stream);
  }
}

void CudaPool::release_kept(void* stream) {
  for (const Kept& kept : kept_) release(kept, stream);
  kept_.clear();
}

CudaRunMemory::CudaRunMemory(std::shared_ptr<const CudaDevice> device, CudaPool& of_device, CudaPool& pinned,
                             void* stream, bool is_captured)
    : device_(std::move(device)),
      device_pool_(of_device),
      pinned_pool_(pinned),
      stream_(stream),
      is_captured_(is_captured) {}

CudaRunMemory::~CudaRunMemory() {
  if (is_captured_) {
    for (const CudaBlock& block : device_blocks_)
      device_->driver()->release(as_address(block.address), stream_);
    return;
  }
  std::shared_ptr<const CudaEvent> after;
  try {
    if (!device_blocks_.empty() || !pinned_blocks_.empty())
      after = std::make_shared<const CudaEvent>(device_, stream_);
  } catch (const Error&) {
    device_->driver()->synchronize_stream(
        stream_);  // without an event, only this tells that nothing uses them
  }
  for (const CudaBlock& block : device_blocks_) device_pool_.give(block, stream_, after);
  for (const CudaBlock& block : pinned_blocks_) pinned_pool_.give(block, stream_, after);
}

void* CudaRunMemory::of_device(std::size_t bytes, const std::string& what) {
  const auto fit = best_fit(
      early_, bytes, [](const CudaBlock& b) { return b.bytes; }, [](const CudaBlock&) { return true; });
  if (fit != early_.end()) {
    void* address = fit->address;
    early_.erase(fit);
    return address;
  }
  device_blocks_.push_back(is_captured_ ? of_graph(bytes, what) : device_pool_.take(bytes, stream_, what));
  return device_blocks_.back().address;
}

/// If there is none, nothing may be given back or waited for: that would end the capture.
CudaBlock CudaRunMemory::of_graph(std::size_t bytes, const std::string& what) const {
  CudaFunctions::Address address = 0;
  device_->driver().check(device_->driver()->allocate(&address, std::max(bytes, std::size_t{1}), stream_),
                          what);
  return {reinterpret_cast<void*>(address), bytes};
}

void* CudaRunMemory::pinned(std::size_t bytes, const std::string& what) {
  pinned_blocks_.push_back(pinned_pool_.take(bytes, stream_, what));
  return pinned_blocks_.back().address;
}

void CudaRunMemory::give_early(void* address) {
  const auto block = std::find_if(device_blocks_.begin(), device_blocks_.end(),
                                  [&](const CudaBlock& b) { return b.address == address; });
  if (block == device_blocks_.end())
    throw InternalError("a block was given back to a run that did not take it");
  early_.push_back(*block);
}

}  // namespace weft::runtime
