// Runs as CUDA graphs. A graph is launched at once, its kernels follow one another faster than on a stream, and those
// that share no memory run at the same time. Later runs exchange the arguments of its kernels:
//
//     run 1  blur 640x480, sharpen 640x480     queued on the stream
//     run 2  the same, or with other images    a graph is made, and launched
//     run 3  the same, or with other images    its arguments are exchanged where they differ; it is launched
//
// Where nothing else is queued on the stream, calls go there one by one: the GPU begins with the first, while the host
// takes longer to launch a whole graph than that call (bench/results/2026-11-26-h100.md: 100 us, of 30 kernels).
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"

namespace weft::runtime {

/// What has to be the same in runs that share a graph.
struct CallShape {
  std::vector<const void*> functions;  ///< Null for what is filled.
  /// The memory that calls read and write, numbered in the order in which it is met first, with marks between.
  std::vector<int> memory;
  bool operator==(const CallShape&) const = default;
};
CallShape shape_of(const std::vector<CudaCall>& calls);

/// For each call those before it that it has to follow, without those that these follow themselves.
std::vector<std::vector<std::size_t>> orders_of(const std::vector<CudaCall>& calls);

/// The graphs of a program. Thread-safe. The device's context has to be current, but for the constructor and the
/// destructor.
class CudaGraphs {
 public:
  explicit CudaGraphs(std::shared_ptr<const CudaDevice> device);
  ~CudaGraphs();
  CudaGraphs(const CudaGraphs&) = delete;
  CudaGraphs& operator=(const CudaGraphs&) = delete;

  /// One by one, or as a graph where calls of this shape were queued on the stream before, and it has other work to do. Throws weft::Error if the
  /// driver refuses calls one by one.
  void queue(std::vector<CudaCall> calls, void* stream);

 private:
  class Graph;
  /// Calls on a stream: at first without a graph, and for ever if the driver refuses it.
  struct Known {
    void* stream;
    CallShape shape;
    std::unique_ptr<Graph> graph;
    bool was_queued = false, is_refused = false;
  };
  Known taken(void* stream, CallShape shape);
  void give(Known known);
  bool launch(Known& known, std::vector<CudaCall>& calls);

  std::shared_ptr<const CudaDevice> device_;
  std::mutex mutex_;
  std::deque<Known> known_;  ///< The one that was used last in front.
};

}  // namespace weft::runtime
