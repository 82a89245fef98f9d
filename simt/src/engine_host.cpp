// The host's interface: what is asked for is checked at once and run later, in the order of the timeline.
#include "engine.h"

#include "errors.h"
#include "launch_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace simt {
namespace {

enum Direction { host_to_host, host_to_device, device_to_host, device_to_device, any_direction };

enum Attribute {
  most_threads_per_block = 1,
  most_shared_per_block = 8,
  warp_size_attribute = 10,
  registers_per_block = 12,
  multiprocessors = 16,
  l2_bytes = 38,
  threads_per_multiprocessor = 39,
  capability_major = 75,
  capability_minor = 76,
  shared_per_multiprocessor = 81,
  shared_per_block_opt_in = 97,
};

constexpr int dynamic_shared_attribute = 8;

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t height) {
  if (width == 0) return;  // from or to nowhere, perhaps
  for (std::size_t y = 0; y < height; ++y) {
    std::memmove(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
                 width);
  }
}

std::size_t static_shared(const LoadedText& text, const void* kernel) {
  const auto arrays = text.shared_arrays(kernel);
  return std::accumulate(arrays.begin(), arrays.end(), std::size_t{0},
                         [](std::size_t sum, const Range& array) { return sum + array.size; });
}

std::size_t extent(std::size_t pitch, std::size_t width, std::size_t height) {
  return height ? pitch * (height - 1) + width : 0;
}

}  // namespace

int Engine::failed(int error) {
  last_error_ = error;
  return error;
}

int Engine::misuse(int error, std::string what, abi::Site site, std::string action) {
  found(Kind::misuse, std::move(what), host(site, std::move(action)));
  return failed(error);
}

/// What a function returns that has waited: the error of a kernel that ran meanwhile.
int Engine::after_waiting() {
  forget_known_host_ranges();
  const int error = std::exchange(kernel_error_, 0);
  return error ? failed(error) : error::none;
}

int Engine::last_error(bool forget) { return forget ? std::exchange(last_error_, 0) : last_error_; }

int Engine::launch(const abi::Launch& launch, void* stream_handle, abi::Invocation* owned, abi::Site site) {
  const std::shared_ptr<abi::Invocation> invocation(owned);
  Stream* stream = timeline_.stream_of(stream_handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "launches a kernel");
  Text* text = text_of(launch.kernel);
  if (!text)
    return misuse(error::invalid_value, "a kernel of a text that is not loaded", site, "launches a kernel");

  const LoadedText& loaded = *text->loaded;
  const LaunchNeeds needs{.kernel = loaded.kernel_name(launch.kernel),
                          .grid = launch.grid,
                          .block = launch.block,
                          .launch_bound = loaded.launch_bound(launch.kernel),
                          .static_shared = static_shared(loaded, launch.kernel),
                          .dynamic_shared = launch.dynamic_shared,
                          .dynamic_shared_allowed = dynamic_allowed_[launch.kernel]};
  if (const auto refused = refusal(options_.limits, needs)) {
    found(Kind::launch_limit, refused->what, host(site, fmt::format("launches kernel {}", needs.kernel)));
    return failed(refused->error);
  }
  OperationInfo info{"kernel", text->loaded, launch.kernel, launch.grid, launch.block, site};
  timeline_.add(*stream, std::move(info),
                [this, launch, invocation](OperationId id) { run_kernel(id, launch, *invocation); });
  return error::none;
}

int Engine::function_attribute(const void* kernel, int attribute, int value) {
  if (attribute != dynamic_shared_attribute) return error::none;
  if (value < 0 || static_cast<std::size_t>(value) > options_.limits.shared_per_block_opt_in) {
    found(Kind::launch_limit,
          fmt::format("{} bytes of dynamic shared memory; {} allows {}", value, options_.limits.architecture,
                      options_.limits.shared_per_block_opt_in),
          host({}, "asks for them by cudaFuncSetAttribute"));
    return failed(error::invalid_value);
  }
  dynamic_allowed_[kernel] = static_cast<std::size_t>(value);
  return error::none;
}

int Engine::device_attribute(int* value, int attribute) {
  const Limits& limits = options_.limits;
  const int capability =
      std::atoi(limits.architecture.c_str() + std::min<std::size_t>(3, limits.architecture.size()));
  switch (attribute) {
    case most_threads_per_block: *value = static_cast<int>(limits.threads_per_block); break;
    case most_shared_per_block: *value = static_cast<int>(limits.shared_per_block); break;
    case warp_size_attribute: *value = warp_size; break;
    case registers_per_block: *value = static_cast<int>(limits.registers_per_block); break;
    case multiprocessors: *value = static_cast<int>(limits.multiprocessors); break;
    case l2_bytes: *value = 32 << 20; break;
    case threads_per_multiprocessor: *value = 2048; break;
    case capability_major: *value = capability / 10; break;
    case capability_minor: *value = capability % 10; break;
    case shared_per_multiprocessor: *value = static_cast<int>(limits.shared_per_block_opt_in + 1024); break;
    case shared_per_block_opt_in: *value = static_cast<int>(limits.shared_per_block_opt_in); break;
    default: return failed(error::invalid_value);
  }
  return error::none;
}

int Engine::blocks_at_a_time(int* blocks, const void* kernel, int threads, std::size_t dynamic_shared) {
  const Text* text = text_of(kernel);
  if (!text || threads < 1) return failed(error::invalid_value);
  const LoadedText& loaded = *text->loaded;
  *blocks = static_cast<int>(
      simt::blocks_at_a_time(options_.limits, {.kernel = loaded.kernel_name(kernel),
                                               .grid = {1, 1, 1},
                                               .block = {static_cast<unsigned>(threads), 1, 1},
                                               .launch_bound = loaded.launch_bound(kernel),
                                               .static_shared = static_shared(loaded, kernel),
                                               .dynamic_shared = dynamic_shared,
                                               .dynamic_shared_allowed = dynamic_allowed_[kernel]}));
  return error::none;
}

// Memory.

int Engine::allocate_buffer(void** address, std::size_t bytes, OperationId operation, abi::Site site) {
  if (!bytes) {
    *address = nullptr;
    return error::none;
  }
  Buffer* buffer = memory_.allocate(bytes, site);
  if (!buffer) return failed(error::memory_allocation);
  buffer->allocation = operation;
  buffer->watched_from_start = races_;
  *address = const_cast<char*>(buffer->range.begin);
  return error::none;
}

int Engine::allocate(void** address, std::size_t bytes, abi::Site site) {
  return allocate_buffer(address, bytes, 0, site);
}

int Engine::allocate_async(void** address, std::size_t bytes, void* handle, abi::Site site) {
  Stream* stream = timeline_.stream_of(handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "allocates memory");
  if (stream->capture)
    return misuse(error::capture_unsupported, "graphs of allocations are not supported", site,
                  "allocates memory");
  const OperationId operation =
      timeline_.add(*stream, {"allocation", nullptr, nullptr, {}, {}, site}, [](OperationId) {});
  return allocate_buffer(address, bytes, operation, site);
}

/// The buffer that begins at the address and may be released, else null and the error.
Buffer* Engine::releasable(void* address, abi::Site site, int& error) {
  Buffer* buffer = memory_.contains(address) ? memory_.near(address) : nullptr;
  if (!buffer || buffer->range.begin != address) {
    found(Kind::invalid_release, "what is released is not the beginning of a buffer",
          host(site,
               fmt::format("releases {}{}", address, buffer ? ", " + describe_place(*buffer, address) : "")));
    error = failed(error::invalid_value);
    return nullptr;
  }
  if (buffer->release_asked) {
    found(Kind::use_after_free, "a buffer is released twice", host(site, "releases it again"),
          host(buffer->released, "released it"));
    error = failed(error::invalid_value);
    return nullptr;
  }
  buffer->release_asked = true;
  buffer->released = site;
  return buffer;
}

int Engine::release(void* address, abi::Site site) {
  if (!address) return error::none;
  int error = error::none;
  Buffer* buffer = releasable(address, site, error);
  if (!buffer) return error;
  timeline_.synchronize_all();  // as cudaFree does
  memory_.release(*buffer);
  return after_waiting();
}

int Engine::release_async(void* address, void* handle, abi::Site site) {
  if (!address) return error::none;
  Stream* stream = timeline_.stream_of(handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "releases memory");
  if (stream->capture)
    return misuse(error::capture_unsupported, "graphs of allocations are not supported", site,
                  "releases memory");
  int error = error::none;
  Buffer* buffer = releasable(address, site, error);
  if (!buffer) return error;
  timeline_.add(*stream, {"release", nullptr, nullptr, {}, {}, site},
                [this, buffer, site](OperationId id) { run_release(id, *buffer, site); });
  return error::none;
}

void Engine::run_release(OperationId id, Buffer& buffer, abi::Site) {
  for (const OperationId user : buffer.users) {
    if (timeline_.is_before_running(user)) continue;
    found(Kind::use_after_free, "nothing orders a use of a buffer and its release", operation(id, "frees it"),
          operation(user, "uses it"));
  }
  if (buffer.allocation && !timeline_.is_before_running(buffer.allocation)) {
    found(Kind::race, "a buffer is released in a stream that does not wait for its allocation",
          operation(id, "frees it"), operation(buffer.allocation, "allocates it"));
  }
  buffer.release = id;
  memory_.release(buffer);
}

int Engine::allocate_host(void** address, std::size_t bytes) {
  *address = std::malloc(std::max<std::size_t>(bytes, 1));
  if (!*address) return failed(error::memory_allocation);
  pinned_[*address] = bytes;
  return error::none;
}

int Engine::release_host(void* address) {
  if (address && !pinned_.erase(address)) return failed(error::invalid_value);
  timeline_.synchronize_all();
  std::free(address);
  return after_waiting();
}

bool Engine::is_pinned(const void* address) const {
  auto next = pinned_.upper_bound(address);
  if (next == pinned_.begin()) return false;
  --next;
  return Range{static_cast<const char*>(next->first), next->second}.contains(address);
}

void Engine::forget_known_host_ranges() {
  std::erase_if(host_ranges_,
                [&](const HostRange& pending) { return timeline_.host_knows(pending.operation); });
}

void Engine::report_leaks() {
  for (const auto& buffer : memory_.buffers()) {
    if (buffer->release_asked) continue;
    found(Kind::leak, fmt::format("a buffer of {} bytes was never released", buffer->range.size),
          host(buffer->allocated, "allocates it"));
  }
}

// Copies and fills.

/// Whether rows of device memory lie in one buffer that can still be used.
int Engine::check_device_rows(const void* begin, std::size_t pitch, std::size_t width, std::size_t height,
                              abi::Site site, const char* what) {
  if (!memory_.contains(begin) || !width || !height) return error::none;
  Buffer* buffer = memory_.near(begin);
  const std::size_t bytes = extent(pitch, width, height);
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(begin) - buffer->range.begin);
  if (offset >= buffer->range.size || bytes > buffer->range.size - offset) {
    found(Kind::out_of_bounds, "an operation outside of every buffer",
          host(site, fmt::format("asks for a {} of {} bytes that begins {}", what, bytes,
                                 describe_place(*buffer, begin))));
    return failed(error::invalid_value);
  }
  if (buffer->release_asked && (!buffer->live || !buffer->release)) {
    // A release that was only asked for is ordered by streams, and checked when it runs.
    if (buffer->live) return error::none;
    found(Kind::use_after_free, "a buffer is used after it was released",
          host(site, fmt::format("asks for a {} of it", what)), host(buffer->released, "released it"));
    return failed(error::invalid_value);
  }
  return error::none;
}

int Engine::copy(const abi::Copy& copy, void* handle, bool asynchronous, abi::Site site) {
  Stream* stream = timeline_.stream_of(handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "copies");
  const auto of_device = [&](const void* address, bool wanted) {
    return memory_.contains(address) || (wanted && text_of(address));
  };
  const bool wants_to_device = copy.direction == host_to_device || copy.direction == device_to_device;
  const bool wants_from_device = copy.direction == device_to_host || copy.direction == device_to_device;
  const bool to_device = of_device(copy.to, wants_to_device),
             from_device = of_device(copy.from, wants_from_device);
  if (copy.direction != any_direction && (to_device != wants_to_device || from_device != wants_from_device)) {
    return misuse(error::invalid_value, "a copy whose direction does not fit its pointers", site,
                  fmt::format("copies to {} from {} memory", to_device ? "device" : "host",
                              from_device ? "device" : "host"));
  }
  if (copy.height > 1 && (copy.to_pitch < copy.width || copy.from_pitch < copy.width)) {
    return misuse(error::invalid_value, "rows that overlap", site,
                  "copies rows with a pitch below their width");
  }
  if (const int error = check_device_rows(copy.to, copy.to_pitch, copy.width, copy.height, site, "copy"))
    return error;
  if (const int error = check_device_rows(copy.from, copy.from_pitch, copy.width, copy.height, site, "copy"))
    return error;

  // The runtime reads memory that is not pinned before it returns.
  abi::Copy later = copy;
  std::shared_ptr<std::vector<char>> staged;
  if (!from_device && !is_pinned(copy.from) && copy.width && copy.height) {
    staged = std::make_shared<std::vector<char>>(copy.width * copy.height);
    copy_rows(staged->data(), copy.width, copy.from, copy.from_pitch, copy.width, copy.height);
    later.from = staged->data();
    later.from_pitch = copy.width;
  }
  const OperationId id = timeline_.add(*stream, {"copy", nullptr, nullptr, {}, {}, site},
                                       [this, later, staged, from_device, to_device](OperationId) {
                                         run_copy(later, from_device, to_device);
                                       });
  if (id && !to_device) {
    host_ranges_.push_back(
        {{static_cast<const char*>(copy.to), extent(copy.to_pitch, copy.width, copy.height)}, id, true});
  }
  if (id && !from_device && !staged) {
    host_ranges_.push_back(
        {{static_cast<const char*>(copy.from), extent(copy.from_pitch, copy.width, copy.height)}, id, false});
  }
  if (asynchronous || !id) return error::none;
  timeline_.synchronize({id});
  return after_waiting();
}

void Engine::run_copy(const abi::Copy& copy, bool from_device, bool to_device) {
  if (from_device) note_rows(copy.from, copy.from_pitch, copy.width, copy.height, false);
  if (to_device) note_rows(copy.to, copy.to_pitch, copy.width, copy.height, true);
  copy_rows(copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.width, copy.height);
}

int Engine::fill(void* address, int value, std::size_t pitch, std::size_t width, std::size_t height,
                 void* handle, bool asynchronous, abi::Site site) {
  Stream* stream = timeline_.stream_of(handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "fills memory");
  if (!memory_.contains(address) && !text_of(address) && width && height) {
    return misuse(error::invalid_value, "memory that is not the device's", site, "fills it");
  }
  if (const int error = check_device_rows(address, pitch, width, height, site, "fill")) return error;
  const OperationId id = timeline_.add(*stream, {"fill", nullptr, nullptr, {}, {}, site},
                                       [this, address, value, pitch, width, height](OperationId) {
                                         note_rows(address, pitch, width, height, true);
                                         for (std::size_t y = 0; y < height; ++y) {
                                           std::memset(static_cast<char*>(address) + y * pitch, value, width);
                                         }
                                       });
  // A fill of device memory does not wait, whatever its name says; the host only sees that it was asked for.
  if (asynchronous || !id) return error::none;
  return error::none;
}

// Streams, events, graphs.

int Engine::stream_create(void** stream, bool waits_for_default) {
  *stream = timeline_.create_stream(waits_for_default);
  return error::none;
}

int Engine::stream_destroy(void* handle) {
  Stream* stream = timeline_.stream_of(handle);
  if (!stream || !handle) return failed(error::invalid_handle);
  timeline_.destroy_stream(handle);  // its operations run none the less
  return error::none;
}

int Engine::stream_synchronize(void* handle, abi::Site site) {
  Stream* stream = timeline_.stream_of(handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "waits for a stream");
  if (stream->capture)
    return misuse(error::capture_unsupported, "a stream that is captured", site, "waits for it");
  timeline_.synchronize(stream->tails);
  return after_waiting();
}

int Engine::stream_query(void* handle) { return stream_synchronize(handle, {}); }

int Engine::stream_wait(void* stream_handle, void* event_handle, abi::Site site) {
  Stream* stream = timeline_.stream_of(stream_handle);
  Event* event = timeline_.event_of(event_handle);
  if (!stream || !event)
    return misuse(error::invalid_handle, "a stream or event that is none", site, "makes a stream wait");
  if (timeline_.wait(*stream, *event)) return error::none;
  return misuse(error::capture_isolation, "an event of outside a stream's capture", site,
                "makes a stream wait");
}

int Engine::event_create(void** event) {
  *event = timeline_.create_event();
  return error::none;
}

int Engine::event_destroy(void* event) {
  return timeline_.destroy_event(event) ? error::none : failed(error::invalid_handle);
}

int Engine::event_record(void* event_handle, void* stream_handle, abi::Site site) {
  Stream* stream = timeline_.stream_of(stream_handle);
  Event* event = timeline_.event_of(event_handle);
  if (!stream || !event)
    return misuse(error::invalid_handle, "a stream or event that is none", site, "records an event");
  timeline_.record(*event, *stream);
  return error::none;
}

int Engine::event_synchronize(void* handle, abi::Site site) {
  Event* event = timeline_.event_of(handle);
  if (!event) return misuse(error::invalid_handle, "an event that is none", site, "waits for an event");
  if (event->capture)
    return misuse(error::capture_unsupported, "an event that is captured", site, "waits for it");
  timeline_.synchronize(event->tails);
  return after_waiting();
}

int Engine::event_query(void* event) { return event_synchronize(event, {}); }

int Engine::synchronize(abi::Site) {
  timeline_.synchronize_all();
  return after_waiting();
}

int Engine::capture_begin(void* handle, abi::Site site) {
  Stream* stream = timeline_.stream_of(handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "begins to capture it");
  if (timeline_.begin_capture(*stream)) return error::none;
  return misuse(error::capture_unsupported, "a stream that cannot be captured", site, "begins to capture it");
}

int Engine::capture_end(void* handle, void** graph, abi::Site site) {
  Stream* stream = timeline_.stream_of(handle);
  if (!stream) return misuse(error::invalid_handle, "a stream that is none", site, "ends a capture");
  auto captured = timeline_.end_capture(*stream);
  if (!captured)
    return misuse(error::capture_unjoined, "a capture with branches that were not joined", site, "ends it");
  *graph = captured.get();
  graphs_.push_back(std::move(captured));
  return error::none;
}

abi::CaptureState Engine::capture_state(void* handle) {
  const Stream* stream = timeline_.stream_of(handle);
  return stream && stream->capture ? abi::CaptureState::active : abi::CaptureState::none;
}

int Engine::graph_launch(void* handle, void* stream_handle, abi::Site site) {
  Stream* stream = timeline_.stream_of(stream_handle);
  const auto graph =
      std::find_if(graphs_.begin(), graphs_.end(), [&](const auto& g) { return g.get() == handle; });
  if (!stream || graph == graphs_.end()) {
    return misuse(error::invalid_handle, "a stream or graph that is none", site, "launches a graph");
  }
  timeline_.launch(*stream, **graph);
  return error::none;
}

int Engine::graph_destroy(void*) { return error::none; }

}  // namespace simt
