#include "runtime/cuda_graph.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/orders.h"
#include "ir/stage_ir.h"

namespace weft::runtime {
namespace {

constexpr std::size_t most_calls = 1024;  // a graph of more takes longer to make than it will save for long
constexpr std::size_t most_known = 16;

bool meet(const std::vector<const void*>& a, const std::vector<const void*>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

bool depend(const CudaCall& a, const CudaCall& b) {
  return meet(a.writes, b.reads) || meet(a.reads, b.writes) || meet(a.writes, b.writes);
}

CudaKernelNode node_of(KernelCall& call, std::vector<void*>& pointers) {
  pointers = call.pointers();
  return {call.function,   call.blocks[0],  call.blocks[1],  call.blocks[2],
          call.threads[0], call.threads[1], call.threads[2], 0,
          pointers.data(), nullptr};
}

CudaFillNode node_of(const FillCall& call) { return {as_address(call.memory), 0, 0, 1, call.bytes, 1}; }

}  // namespace

CallShape shape_of(const std::vector<CudaCall>& calls) {
  CallShape shape;
  std::map<const void*, int> numbers;
  constexpr int end = -1;
  for (const CudaCall& call : calls) {
    const auto* kernel = std::get_if<KernelCall>(&call.what);
    shape.functions.push_back(kernel ? kernel->function : nullptr);
    for (const auto* uses : {&call.reads, &call.writes}) {
      for (const void* memory : *uses)
        shape.memory.push_back(numbers.emplace(memory, static_cast<int>(numbers.size())).first->second);
      shape.memory.push_back(end);
    }
  }
  return shape;
}

std::vector<std::vector<std::size_t>> orders_of(const std::vector<CudaCall>& calls) {
  return weft::orders_of(calls.size(), [&](std::size_t earlier, std::size_t later) {
    return depend(calls[earlier], calls[later]);
  });
}

/// As the driver has it, with what its nodes were last set to.
class CudaGraphs::Graph {
 public:
  /// Throws weft::Error if the driver refuses.
  Graph(std::shared_ptr<const CudaDevice> device, std::vector<CudaCall>& calls) : device_(std::move(device)) {
    const CudaDriver& driver = device_->driver();
    driver.check(driver->create_graph(&graph_, 0), "a graph cannot be made");
    try {
      const std::vector<std::vector<std::size_t>> orders = orders_of(calls);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        std::vector<void*> after;
        for (const std::size_t earlier : orders[i]) after.push_back(nodes_[earlier]);
        add(calls[i], after);
      }
      driver.check(driver->instantiate_graph(&executable_, graph_, 0), "a graph cannot be made");
    } catch (...) {
      driver->destroy_graph(graph_);
      throw;
    }
    for (const CudaCall& call : calls) set_.push_back(call.what);
  }
  ~Graph() {
    device_->driver()->destroy_executable(executable_);
    device_->driver()->destroy_graph(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// What was launched before is not touched. Throws weft::Error if the driver refuses.
  void launch(std::vector<CudaCall>& calls, void* stream) {
    for (std::size_t i = 0; i < calls.size(); ++i) set(i, calls[i]);
    device_->driver().check(device_->driver()->launch_graph(executable_, stream),
                            "a graph cannot be launched");
  }

 private:
  void add(CudaCall& call, const std::vector<void*>& after) {
    const CudaDriver& driver = device_->driver();
    void*& node = nodes_.emplace_back();
    const int status =
        std::visit(ir::overloaded{
                       [&](KernelCall& c) {
                         std::vector<void*> pointers;
                         const CudaKernelNode kernel = node_of(c, pointers);
                         return driver->add_kernel_node(&node, graph_, after.data(), after.size(), &kernel);
                       },
                       [&](const FillCall& c) {
                         const CudaFillNode fill = node_of(c);
                         return driver->add_fill_node(&node, graph_, after.data(), after.size(), &fill,
                                                      device_->context());
                       },
                   },
                   call.what);
    driver.check(status, call.failure);
  }

  void set(std::size_t i, CudaCall& call) {
    if (call.what == set_[i]) return;
    const CudaDriver& driver = device_->driver();
    const int status =
        std::visit(ir::overloaded{
                       [&](KernelCall& c) {
                         std::vector<void*> pointers;
                         const CudaKernelNode kernel = node_of(c, pointers);
                         return driver->set_kernel_node(executable_, nodes_[i], &kernel);
                       },
                       [&](const FillCall& c) {
                         const CudaFillNode fill = node_of(c);
                         return driver->set_fill_node(executable_, nodes_[i], &fill, device_->context());
                       },
                   },
                   call.what);
    driver.check(status, call.failure);
    set_[i] = call.what;
  }

  std::shared_ptr<const CudaDevice> device_;
  void *graph_ = nullptr, *executable_ = nullptr;
  std::vector<void*> nodes_;
  std::vector<decltype(CudaCall::what)> set_;
};

CudaGraphs::CudaGraphs(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}

CudaGraphs::~CudaGraphs() {
  const CudaDevice::Current current(*device_);
  known_.clear();
}

void CudaGraphs::queue(std::vector<CudaCall> calls, void* stream) {
  if (calls.size() > 1 && calls.size() <= most_calls && device_->driver()->have_graphs()) {
    Known known = taken(stream, shape_of(calls));
    const bool is_idle = device_->driver()->query_stream(stream) == 0;
    const bool is_launched = known.was_queued && !is_idle && launch(known, calls);
    known.was_queued = true;
    give(std::move(known));
    if (is_launched) return;
  }
  for (CudaCall& call : calls) runtime::queue(call, device_->driver(), stream);
}

/// Nobody else has it meanwhile.
CudaGraphs::Known CudaGraphs::taken(void* stream, CallShape shape) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
    return known.stream == stream && known.shape == shape;
  });
  if (found == known_.end()) return {stream, std::move(shape), nullptr};
  Known known = std::move(*found);
  known_.erase(found);
  return known;
}

void CudaGraphs::give(Known known) {
  const std::lock_guard lock(mutex_);
  known_.push_front(std::move(known));
  if (known_.size() > most_known) known_.pop_back();
}

/// False if the driver refuses: then nothing was queued.
bool CudaGraphs::launch(Known& known, std::vector<CudaCall>& calls) {
  if (known.is_refused) return false;
  try {
    if (!known.graph) known.graph = std::make_unique<Graph>(device_, calls);
    known.graph->launch(calls, known.stream);
    return true;
  } catch (const Error&) {
    known.graph.reset();
    known.is_refused = true;
    return false;
  }
}

}  // namespace weft::runtime
