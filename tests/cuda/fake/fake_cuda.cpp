// The functions of NVIDIA's driver that Weft calls, on the SIMT checker.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include <simt/abi.h>
#include <simt/simt.h>
#include "tests/cuda/fake/fake_cuda.h"

namespace {

using Address = unsigned long long;

enum Status {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  unsupported_ptx = 222,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_failure = 719,
  not_supported = 801,
  driver_mismatch = 803,
  capture_unsupported = 900,
};
constexpr int release_threshold = 4;  // of a pool
enum CopyDirection { to_device = 1, to_host = 2 };

constexpr int newest_version = 13000;

thread_local int contexts_of_thread = 0;

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

/// Names like "d1" for handles and addresses, in the order of their making.
class Names {
 public:
  void add(const void* handle, const std::string& kind) {
    alive_[handle] = kind + std::to_string(++counts_[kind]);
  }
  void count_anew() { counts_.clear(); }
  bool remove(const void* handle) { return alive_.erase(handle) > 0; }
  bool has(const void* handle) const { return alive_.count(handle) > 0; }
  std::string of(const void* handle) const {
    if (!handle) return "0";
    const auto found = alive_.find(handle);
    return found == alive_.end() ? "?" : found->second;
  }
  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const auto& entry : alive_) names.push_back(entry.second);
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::map<std::string, int> counts_;
  std::map<const void*, std::string> alive_;
};

struct Module {
  simt::Module loaded;
  std::map<std::string, std::pair<Module*, std::string>> kernels;  ///< A function's handle points here.
};

/// When an event was recorded, and where.
struct Recorded {
  void* stream = nullptr;
  std::uint64_t when = 0;
};

/// Of a graph that is made node by node.
struct GraphNode {
  std::vector<GraphNode*> after;
  void* work = nullptr;  ///< A graph of the checker's, of this node alone: it has the arguments.
  std::string text;      ///< "blur_kernel 1x4x1"
};
using Graph = std::vector<std::unique_ptr<GraphNode>>;
/// What nodes do, in the order in which they were added. Those of the graph do not change with it.
struct Executable {
  std::vector<GraphNode*> nodes;
  std::map<GraphNode*, GraphNode> work;
};

// As in cuda.h before CUDA 12.
struct KernelParameters {
  void* function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void** parameters;
  void** extra;
};
struct FillParameters {
  Address to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;
};

struct Failure {
  std::string function;
  int calls_left;
  int status;
};

class Driver final : public weft::testing_support::FakeCuda {
 public:
  std::recursive_mutex mutex;

  void reset() override {
    calls_.clear();
    failures_.clear();
    kept = 0;
    devices = 1;
    start_status = success;
    version = newest_version;
    captured_stream_ = nullptr;
    build_ = simt::Build::fast;
    device.forget();
    names.count_anew();
  }
  std::vector<std::string> calls() const override { return calls_; }
  void forget_calls() override { calls_.clear(); }
  void fail(const std::string& function, int nth, int status) override {
    failures_.push_back({function, nth, status});
  }
  void set_devices(int count) override { devices = count; }
  void set_start_status(int status) override { start_status = status; }
  void set_version(int number) override { version = number; }
  void find_races() override { build_ = simt::Build::race; }
  std::vector<std::string> alive() const override {
    std::vector<std::string> all = names.all();
    for (std::size_t i = 0; i < modules.size(); ++i) all.push_back("module");
    for (int i = 0; i < contexts; ++i) all.push_back("context");
    return all;
  }
  std::uint64_t kept_bytes() const override { return kept; }
  void keep_bytes(std::uint64_t most) override { kept = most; }
  std::vector<std::string> reports() const override {
    std::vector<std::string> texts;
    for (const simt::Report& report : device.reports()) texts.push_back(to_string(report));
    return texts;
  }
  void* memory(std::size_t bytes) override { return device.allocate(bytes); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    device.copy_to_device(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    device.copy_to_host(to, from, bytes);
  }
  void* stream() override { return device.create_stream(); }
  void synchronize(void* stream) override { wait_for(stream); }
  void begin_capture(void* stream) override {
    services().capture_begin(stream, {});
    captured_stream_ = stream, is_spoiled_ = false, graph_memory_.clear();
  }
  void* end_capture() override {
    void* graph = nullptr;
    services().capture_end(std::exchange(captured_stream_, nullptr), &graph, {});
    memory_of_graphs_[graph] = graph_memory_;
    return is_spoiled_ ? nullptr : graph;
  }
  void launch_graph(void* graph, void* stream) override {
    for (const auto& [address, bytes] : memory_of_graphs_[graph])
      services().fill(address, 0xff, bytes, bytes, 1, stream, true, {});
    services().graph_launch(graph, stream, {});
  }

  bool is_captured(void* stream) const { return captured_stream_ && stream == captured_stream_; }
  /// The same memory whenever the graph runs.
  int allocate_in_graph(void** address, std::size_t bytes) {
    *address = device.allocate(bytes);
    if (!*address) return out_of_memory;
    graph_memory_[*address] = bytes;
    return success;
  }
  /// Only what the graph has taken may be released by it.
  int release_in_graph(void* address) const { return graph_memory_.count(address) ? success : invalid_value; }
  /// What a driver says to a call while a stream is captured: asking or waiting for streams and events, and what waits
  /// by itself, are forbidden, on all streams.
  int permission(const std::string& function) {
    static const std::set<std::string> allowed = {"cuLaunchKernel",    "cuMemAllocAsync",
                                                  "cuMemFreeAsync",    "cuMemcpyHtoDAsync",
                                                  "cuMemcpyDtoHAsync", "cuMemsetD8Async"};
    if (!captured_stream_ || allowed.count(function)) return success;
    is_spoiled_ = true;
    return capture_unsupported;
  }

  /// What a test wants this call to return; 0: nothing in particular.
  int failure_of(const std::string& function) {
    for (auto f = failures_.begin(); f != failures_.end(); ++f) {
      if (f->function != function || --f->calls_left > 0) continue;
      const int status = f->status;
      failures_.erase(f);
      return status;
    }
    return success;
  }

  /// The status of a call that is recorded, unless it is to fail: that of `work`.
  template <class Work>
  int call(const std::string& function, Work work) {
    const std::lock_guard lock(mutex);
    if (contexts_of_thread == 0) return invalid_context;
    if (const int status = failure_of(function)) return status;
    if (const int status = permission(function)) return status;
    const std::size_t place = calls_.size();
    calls_.push_back(function);
    std::string arguments;
    const int status = work(arguments);
    calls_[place] += (arguments.empty() ? "" : " ") + arguments;
    return status;
  }

  int capture_kernel(GraphNode& node, const KernelParameters& p) {
    const auto& [module, name] = *static_cast<std::pair<Module*, std::string>*>(p.function);
    node.text = fmt::format("{} {}x{}x{}", name, p.grid_x, p.grid_y, p.grid_z);
    return capture(node, [&](void* stream) {
      return module->loaded.launch(name, {p.grid_x, p.grid_y, p.grid_z}, {p.block_x, p.block_y, p.block_z},
                                   p.parameters, p.shared_bytes, stream);
    });
  }
  int capture_fill(GraphNode& node, const FillParameters& p) {
    if (p.height != 1 || p.element_bytes != 1) return not_supported;
    node.text = fmt::format("{} {} {}", names.of(pointer(p.to)), p.value, p.width);
    return capture(node, [&](void* stream) {
      return services().fill(pointer(p.to), static_cast<int>(p.value), p.width, p.width, 1, stream, true, {});
    });
  }
  /// Nodes are ordered by their edges alone: the checker draws an order, and knows what may run at a time.
  int launch(const Executable& executable, void* stream) {
    const auto recorded = [&](void* where) {
      void* event = nullptr;
      services().event_create(&event);
      services().event_record(event, where, {});
      return event;
    };
    void* const begin = recorded(stream);
    std::map<const GraphNode*, void*> done;
    for (GraphNode* node : executable.nodes) {
      void* own = nullptr;
      services().stream_create(&own, false);
      services().stream_wait(own, begin, {});
      for (GraphNode* earlier : node->after) services().stream_wait(own, done.at(earlier), {});
      services().graph_launch(executable.work.at(node).work, own, {});
      done[node] = recorded(own);
      services().stream_destroy(own);
    }
    for (const auto& [node, event] : done) {
      services().stream_wait(stream, event, {});
      services().event_destroy(event);
    }
    services().event_destroy(begin);
    ++now;
    return success;
  }

  int wait_for(void* stream) {
    const std::lock_guard lock(mutex);
    finished_[stream] = now;
    return services().stream_synchronize(stream, {});
  }
  bool is_finished(const Recorded& event) {
    const auto found = finished_.find(event.stream);
    return found != finished_.end() && found->second >= event.when;
  }

  simt::abi::Services& services() { return device.services(); }
  simt::Compiled compiled(const std::string& text) const {
    simt::CompileOptions options;
    options.build = build_;
    options.flags = simt::quick_flags(build_);
    options.name = "kernels.cu";
    static const std::regex kernel(R"(extern "C" __global__ void __launch_bounds__\([^)]*\)\s+(\w+)\()");
    for (std::sregex_iterator k(text.begin(), text.end(), kernel), end; k != end; ++k)
      options.kernels.push_back((*k)[1]);
    return simt::compile(text, options);
  }

  simt::Device device;
  Names names;
  std::vector<std::unique_ptr<Module>> modules;
  std::map<void*, Recorded> events;
  std::uint64_t now = 0, kept = 0;
  int devices = 1, contexts = 0, start_status = success, version = newest_version;

 private:
  template <class Work>
  int capture(GraphNode& node, Work work) {
    void* stream = nullptr;
    services().stream_create(&stream, false);
    services().capture_begin(stream, {});
    const int status = work(stream);
    services().capture_end(stream, &node.work, {});
    services().stream_destroy(stream);
    return status;
  }

  std::vector<std::string> calls_;
  std::vector<Failure> failures_;
  simt::Build build_ = simt::Build::fast;
  void* captured_stream_ = nullptr;  ///< One at a time.
  bool is_spoiled_ = false;
  std::map<void*, std::size_t> graph_memory_;  ///< What the capture has taken so far.
  std::map<void*, std::map<void*, std::size_t>> memory_of_graphs_;
  std::map<void*, std::uint64_t> finished_;  ///< Until when each stream was waited for.
};

Driver& driver() {
  static auto* const driver = new Driver;  // programs of static life may outlive everything else
  return *driver;
}

}  // namespace

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
      auto loaded = std::make_unique<Module>(Module{{driver().device, driver().compiled(text)}, {}});
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

int cuGraphCreate(void** graph, unsigned) {
  return driver().call("cuGraphCreate", [&](std::string& arguments) {
    *graph = new Graph;
    driver().names.add(*graph, "g");
    arguments = driver().names.of(*graph);
    return success;
  });
}

int cuGraphDestroy(void* graph) {
  return driver().call("cuGraphDestroy", [&](std::string& arguments) {
    arguments = driver().names.of(graph);
    driver().names.remove(graph);
    delete static_cast<Graph*>(graph);
    return success;
  });
}

/// "cuGraphAddKernelNode g1 blur_kernel 1x4x1 after 0 1"
static int add_node(const char* function, void** handle, void* graph, void* const* after, std::size_t count,
                    const std::function<int(GraphNode&)>& capture) {
  return driver().call(function, [&](std::string& arguments) {
    Graph& nodes = *static_cast<Graph*>(graph);
    auto node = std::make_unique<GraphNode>();
    const int status = capture(*node);
    arguments = driver().names.of(graph) + " " + node->text + (count > 0 ? " after" : "");
    for (std::size_t i = 0; i < count; ++i) {
      const auto earlier =
          std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == after[i]; });
      if (earlier == nodes.end()) return static_cast<int>(invalid_value);
      node->after.push_back(earlier->get());
      arguments += " " + std::to_string(earlier - nodes.begin());
    }
    *handle = nodes.emplace_back(std::move(node)).get();
    return status;
  });
}

int cuGraphAddKernelNode(void** node, void* graph, void* const* after, std::size_t count,
                         const KernelParameters* kernel) {
  return add_node("cuGraphAddKernelNode", node, graph, after, count,
                  [&](GraphNode& made) { return driver().capture_kernel(made, *kernel); });
}

int cuGraphAddMemsetNode(void** node, void* graph, void* const* after, std::size_t count,
                         const FillParameters* fill, void* context) {
  if (context != &driver()) return invalid_context;
  return add_node("cuGraphAddMemsetNode", node, graph, after, count,
                  [&](GraphNode& made) { return driver().capture_fill(made, *fill); });
}

int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return driver().call("cuGraphInstantiateWithFlags", [&](std::string& arguments) {
    auto* const made = new Executable;
    for (const auto& node : *static_cast<Graph*>(graph)) {
      made->nodes.push_back(node.get());
      made->work[node.get()] = *node;
    }
    *executable = made;
    driver().names.add(made, "x");
    arguments = driver().names.of(made) + " " + driver().names.of(graph);
    return success;
  });
}

int cuGraphExecDestroy(void* executable) {
  return driver().call("cuGraphExecDestroy", [&](std::string& arguments) {
    arguments = driver().names.of(executable);
    driver().names.remove(executable);
    delete static_cast<Executable*>(executable);
    return success;
  });
}

static int set_node(const char* function, void* executable, void* node,
                    const std::function<int(GraphNode&)>& capture) {
  return driver().call(function, [&](std::string& arguments) {
    GraphNode& set = static_cast<Executable*>(executable)->work.at(static_cast<GraphNode*>(node));
    const int status = capture(set);
    arguments = driver().names.of(executable) + " " + set.text;
    return status;
  });
}

int cuGraphExecKernelNodeSetParams(void* executable, void* node, const KernelParameters* kernel) {
  return set_node("cuGraphExecKernelNodeSetParams", executable, node,
                  [&](GraphNode& set) { return driver().capture_kernel(set, *kernel); });
}

int cuGraphExecMemsetNodeSetParams(void* executable, void* node, const FillParameters* fill, void* context) {
  if (context != &driver()) return invalid_context;
  return set_node("cuGraphExecMemsetNodeSetParams", executable, node,
                  [&](GraphNode& set) { return driver().capture_fill(set, *fill); });
}

int cuGraphLaunch(void* executable, void* stream) {
  return driver().call("cuGraphLaunch", [&](std::string& arguments) {
    arguments = driver().names.of(executable) + " " + driver().names.of(stream);
    return driver().launch(*static_cast<Executable*>(executable), stream);
  });
}
}
