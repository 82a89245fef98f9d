// The driver that the functions of NVIDIA's driver are written with: on the SIMT checker.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
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

namespace weft::testing_support::fake {

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

constexpr int newest_version = 13000, usual_blocks_at_a_time = 3;

inline thread_local int contexts_of_thread = 0;

inline void* pointer(Address address) { return reinterpret_cast<void*>(address); }

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
    blocks_at_a_time = usual_blocks_at_a_time;
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
  void set_idle(bool is_idle) override { streams_are_idle = is_idle; }
  void set_blocks_at_a_time(int of_a_multiprocessor) override { blocks_at_a_time = of_a_multiprocessor; }
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
  void remove_folders() const {
    std::error_code ignored;
    for (const std::filesystem::path& folder : folders) std::filesystem::remove_all(folder, ignored);
  }

  simt::Device device;
  Names names;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::filesystem::path> folders;  ///< Of compiled kernels.
  std::map<void*, Recorded> events;
  std::uint64_t now = 0, kept = 0;
  int devices = 1, contexts = 0, start_status = success, version = newest_version,
      blocks_at_a_time = usual_blocks_at_a_time;
  bool streams_are_idle = false;

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

/// The only one.
Driver& driver();

}  // namespace weft::testing_support::fake
