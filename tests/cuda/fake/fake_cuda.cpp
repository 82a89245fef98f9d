// The functions of NVIDIA's driver that Weft calls, but for those of graphs.
#include "tests/cuda/fake/fake_driver.h"

#include <cstdlib>

namespace weft::testing_support::fake {

Driver& driver() {
  // Programs of static life may outlive everything else; the folders of their kernels are not to outlive the process.
  static Driver* const driver = [] {
    std::atexit([] { weft::testing_support::fake::driver().remove_folders(); });
    return new Driver;
  }();
  return *driver;
}

}  // namespace weft::testing_support::fake

using namespace weft::testing_support::fake;

extern "C" {

weft::testing_support::FakeCuda* weft_fake_cuda() { return &driver(); }

int cuGetErrorName(int status, const char** name) {
  switch (status) {
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case unsupported_ptx: *name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"; break;
    case not_supported: *name = "CUDA_ERROR_NOT_SUPPORTED"; break;
    case device_unavailable: *name = "CUDA_ERROR_DEVICE_UNAVAILABLE"; break;
    case no_device: *name = "CUDA_ERROR_NO_DEVICE"; break;
    case invalid_image: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
    case invalid_context: *name = "CUDA_ERROR_INVALID_CONTEXT"; break;
    case illegal_address: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case launch_failure: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    case driver_mismatch: *name = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"; break;
    default: *name = nullptr; return invalid_value;
  }
  return success;
}

int cuGetErrorString(int status, const char** text) {
  switch (status) {
    case out_of_memory: *text = "out of memory"; break;
    case unsupported_ptx: *text = "the provided PTX was compiled with an unsupported toolchain."; break;
    case not_supported: *text = "operation not supported"; break;
    case device_unavailable: *text = "CUDA-capable device(s) is/are busy or unavailable"; break;
    case no_device: *text = "no CUDA-capable device is detected"; break;
    case invalid_image: *text = "device kernel image is invalid"; break;
    case invalid_context: *text = "invalid device context"; break;
    case illegal_address: *text = "an illegal memory access was encountered"; break;
    case launch_failure: *text = "unspecified launch failure"; break;
    case driver_mismatch: *text = "system has unsupported display driver / cuda driver combination"; break;
    default: *text = nullptr; return invalid_value;
  }
  return success;
}

int cuInit(unsigned) { return driver().start_status; }

int cuDriverGetVersion(int* version) {
  *version = driver().version;
  return success;
}

int cuStreamQuery(void*) { return driver().streams_are_idle ? success : not_ready; }

int cuStreamIsCapturing(void* stream, int* status) {
  *status = driver().is_captured(stream) ? 1 : 0;
  return success;
}

int cuDeviceGetCount(int* count) {
  *count = driver().devices;
  return success;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < driver().devices ? success : invalid_device;
}

int cuDeviceGetName(char* name, int length, int) {
  fmt::format_to_n(name, length - 1, "SIMT checker").out[0] = '\0';
  return success;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  return driver().services().device_attribute(value, attribute);
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  const std::lock_guard lock(driver().mutex);
  if (const int status = driver().failure_of("cuDevicePrimaryCtxRetain")) return status;
  ++driver().contexts;
  *context = &driver();
  return success;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  const std::lock_guard lock(driver().mutex);
  --driver().contexts;
  return success;
}

int cuCtxPushCurrent_v2(void* context) {
  if (context != &driver()) return invalid_context;
  ++contexts_of_thread;
  return success;
}

int cuCtxPopCurrent_v2(void** context) {
  if (contexts_of_thread == 0) return invalid_context;
  --contexts_of_thread;
  *context = &driver();
  return success;
}

int cuModuleLoadData(void** module, const void* image) {
  return driver().call("cuModuleLoadData", [&](std::string&) {
    const std::string text = static_cast<const char*>(image);
    try {
      const simt::Compiled compiled = driver().compiled(text);
      driver().folders.push_back(compiled.object.parent_path());
      auto loaded = std::make_unique<Module>(Module{{driver().device, compiled}, {}});
      *module = driver().modules.emplace_back(std::move(loaded)).get();
    } catch (const simt::Failure& failure) {
      fmt::print(stderr, "{}\n", failure.what());
      return invalid_image;
    }
    return success;
  });
}

int cuModuleUnload(void* module) {
  return driver().call("cuModuleUnload", [&](std::string&) {
    driver().services().synchronize({});
    const auto removed = std::erase_if(driver().modules, [&](const auto& m) { return m.get() == module; });
    return removed ? success : invalid_handle;
  });
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  return driver().call("cuModuleGetFunction", [&](std::string& arguments) {
    arguments = name;
    auto* const owner = static_cast<Module*>(module);
    try {
      owner->loaded.symbol("simt_kernel_" + std::string(name));
    } catch (const simt::Failure&) {
      return not_found;
    }
    *function = &(owner->kernels[name] = {owner, name});
    return success;
  });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) {
  *blocks = driver().blocks_at_a_time;
  return success;
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void**) {
  return driver().call("cuLaunchKernel", [&](std::string& arguments) {
    const auto& [module, name] = *static_cast<std::pair<Module*, std::string>*>(function);
    arguments = fmt::format("{} {}x{}x{} {}", name, grid_x, grid_y, grid_z, driver().names.of(stream));
    ++driver().now;
    return module->loaded.launch(name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, parameters,
                                 shared_bytes, stream);
  });
}

int cuMemAllocAsync(Address* address, std::size_t bytes, void* stream) {
  return driver().call("cuMemAllocAsync", [&](std::string& arguments) {
    void* memory = nullptr;
    const int status = driver().is_captured(stream)
                           ? driver().allocate_in_graph(&memory, bytes)
                           : driver().services().allocate_async(&memory, bytes, stream, {});
    if (status == success) driver().names.add(memory, "d");
    arguments = fmt::format("{} {} {}", driver().names.of(memory), bytes, driver().names.of(stream));
    *address = reinterpret_cast<Address>(memory);
    ++driver().now;
    return status;
  });
}

int cuMemFreeAsync(Address address, void* stream) {
  return driver().call("cuMemFreeAsync", [&](std::string& arguments) {
    arguments = fmt::format("{} {}", driver().names.of(pointer(address)), driver().names.of(stream));
    driver().names.remove(pointer(address));
    ++driver().now;
    if (driver().is_captured(stream)) return driver().release_in_graph(pointer(address));
    return driver().services().release_async(pointer(address), stream, {});
  });
}

int cuDeviceGetDefaultMemPool(void** pool, int) {
  *pool = &driver().kept;
  return success;
}

int cuMemPoolGetAttribute(void* pool, int attribute, void* value) {
  if (attribute != release_threshold) return invalid_value;
  *static_cast<std::uint64_t*>(value) = *static_cast<std::uint64_t*>(pool);
  return success;
}

int cuMemPoolSetAttribute(void* pool, int attribute, void* value) {
  if (attribute != release_threshold) return invalid_value;
  *static_cast<std::uint64_t*>(pool) = *static_cast<std::uint64_t*>(value);
  return success;
}

int cuMemPoolTrimTo(void*, std::size_t bytes) {
  return driver().call("cuMemPoolTrimTo", [&](std::string& arguments) {
    arguments = std::to_string(bytes);
    return success;
  });
}

int cuDeviceGraphMemTrim(int) {
  return driver().call("cuDeviceGraphMemTrim", [](std::string&) { return success; });
}

int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  return driver().call("cuMemHostAlloc", [&](std::string& arguments) {
    const int status = driver().services().allocate_host(address, bytes);
    if (status == success) driver().names.add(*address, "h");
    arguments = fmt::format("{} {}", driver().names.of(*address), bytes);
    return status;
  });
}

int cuMemFreeHost(void* address) {
  return driver().call("cuMemFreeHost", [&](std::string& arguments) {
    arguments = driver().names.of(address);
    driver().names.remove(address);
    return driver().services().release_host(address);
  });
}

int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* stream) {
  return driver().call("cuMemcpyHtoDAsync", [&](std::string& arguments) {
    arguments = fmt::format("{} {} {} {}", driver().names.of(pointer(to)), driver().names.of(from), bytes,
                            driver().names.of(stream));
    ++driver().now;
    return driver().services().copy({pointer(to), from, bytes, bytes, bytes, 1, to_device}, stream, true, {});
  });
}

int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream) {
  return driver().call("cuMemcpyDtoHAsync", [&](std::string& arguments) {
    arguments = fmt::format("{} {} {} {}", driver().names.of(to), driver().names.of(pointer(from)), bytes,
                            driver().names.of(stream));
    ++driver().now;
    return driver().services().copy({to, pointer(from), bytes, bytes, bytes, 1, to_host}, stream, true, {});
  });
}

int cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, void* stream) {
  return driver().call("cuMemsetD8Async", [&](std::string& arguments) {
    arguments =
        fmt::format("{} {} {} {}", driver().names.of(pointer(to)), value, bytes, driver().names.of(stream));
    ++driver().now;
    return driver().services().fill(pointer(to), value, bytes, bytes, 1, stream, true, {});
  });
}

int cuStreamCreate(void** stream, unsigned flags) {
  return driver().call("cuStreamCreate", [&](std::string& arguments) {
    const int status = driver().services().stream_create(stream, flags == 0);
    driver().names.add(*stream, "s");
    arguments = driver().names.of(*stream);
    return status;
  });
}

int cuStreamDestroy_v2(void* stream) {
  return driver().call("cuStreamDestroy", [&](std::string& arguments) {
    arguments = driver().names.of(stream);
    driver().names.remove(stream);
    return driver().services().stream_destroy(stream);
  });
}

int cuStreamSynchronize(void* stream) {
  return driver().call("cuStreamSynchronize", [&](std::string& arguments) {
    arguments = driver().names.of(stream);
    return driver().wait_for(stream);
  });
}

int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return driver().call("cuStreamWaitEvent", [&](std::string& arguments) {
    arguments = fmt::format("{} {}", driver().names.of(stream), driver().names.of(event));
    return driver().services().stream_wait(stream, event, {});
  });
}

int cuEventCreate(void** event, unsigned) {
  return driver().call("cuEventCreate", [&](std::string& arguments) {
    const int status = driver().services().event_create(event);
    driver().names.add(*event, "e");
    arguments = driver().names.of(*event);
    return status;
  });
}

int cuEventDestroy_v2(void* event) {
  return driver().call("cuEventDestroy", [&](std::string& arguments) {
    arguments = driver().names.of(event);
    driver().names.remove(event);
    driver().events.erase(event);
    return driver().services().event_destroy(event);
  });
}

int cuEventRecord(void* event, void* stream) {
  return driver().call("cuEventRecord", [&](std::string& arguments) {
    arguments = fmt::format("{} {}", driver().names.of(event), driver().names.of(stream));
    driver().events[event] = {stream, driver().now};
    return driver().services().event_record(event, stream, {});
  });
}

/// Of what was not waited for nobody knows whether it is done.
int cuEventQuery(void* event) {
  const std::lock_guard lock(driver().mutex);
  if (const int status = driver().permission("cuEventQuery")) return status;
  return driver().is_finished(driver().events[event]) ? success : not_ready;
}

int cuEventSynchronize(void* event) {
  return driver().call("cuEventSynchronize", [&](std::string& arguments) {
    arguments = driver().names.of(event);
    return driver().services().event_synchronize(event, {});
  });
}
}
