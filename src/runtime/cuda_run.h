// One run of a pipeline on a GPU.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/parts.h"
#include "host/plan.h"
#include "ir/bindings.h"
#include "kernel/evaluate.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_graph.h"
#include "runtime/cuda_memory.h"
#include "runtime/host_copies.h"
#include "runtime/launch_progress.h"

namespace weft::runtime {

/// What runs of a pipeline share.
struct CudaCode {
  CudaCode(kernel::Module lowered, analysis::RowReachOrWhy rows)
      : module(std::move(lowered)), plan(host::on_one_stream(host::plan_of(module, std::move(rows)))) {}

  kernel::Module module;
  host::Plan plan;
  std::map<kernel::Symbol, void*> kernels = {};  ///< By function.
  kernel::FieldValues rooms = {};                ///< That grids depend on, once there are kernels.
};

/// Queues on a stream whose device's context is current. If the stream is being captured into a CUDA graph, all
/// images lie in the GPU's memory.
class CudaRun {
 public:
  CudaRun(const CudaCode& code, std::shared_ptr<const CudaDevice> device, CudaPool& of_device,
          CudaPool& pinned, const HostCopies& copies, void* stream, bool is_captured);

  /// The sizes of the images, and the parameters. Images and outputs in the GPU's memory are used where they are,
  /// of others there is a copy. Throws weft::Error for sizes that the kernels are not made for.
  void bind(const ir::Pipeline& pipeline, const ir::Bindings& bindings,
            const std::map<std::string, Buffer>& outputs);
  /// Only these rows of an output of the host's are written.
  void keep_rows(const std::string& output, const host::KeptRows& rows) { kept_[output] = rows; }
  /// Lets it know of each launch as the next one is queued, and of the last when all is done: the queue is
  /// short where there are many.
  void watch(LaunchProgress& progress) { progress_ = &progress; }
  void queue();  ///< All of the plan.
  /// All of the plan, where all images lie in the GPU's memory and nobody watches: perhaps as a graph.
  void queue_by(CudaGraphs& graphs);
  void finish_copies();  ///< To the host's outputs, if there are any: waits for them.
  void wait();           ///< Until all that was queued is done.

 private:
  void check_limits() const;
  void take(const kernel::Array& a, const Buffer& image);
  std::int64_t value(const kernel::Expr& e) const { return kernel::evaluate(e, fields_); }
  bool takes_part(const host::Node& node) const;
  void queue(const std::vector<host::Node>& nodes);
  void allocate(const host::Allocate& n);
  void free(const host::Free& n);
  void copy(const host::Copy& n);
  void launch(const host::Launch& n, const host::Uses& uses);
  void call(CudaCall call);
  std::vector<const void*> addresses_of(const std::set<host::Place>& places) const;
  void repeat(const host::Repeat& n);
  void queue_first(const std::vector<host::Node>& nodes, const std::vector<kernel::StandIn>& others);
  void rotate(const kernel::Rotation& arrays);
  Buffer staging(const kernel::Array& a, const Buffer& image, std::size_t bytes);
  void check(int status, const std::string& what) const;

  const CudaCode& code_;
  const kernel::Module& module_;
  std::shared_ptr<const CudaDevice> device_;
  void* stream_;
  CudaRunMemory memory_;
  const HostCopies& copies_;
  kernel::FieldValues fields_;
  std::map<kernel::Symbol, Buffer> images_;        ///< The caller's, by array.
  std::map<kernel::Symbol, void*> addresses_;      ///< On the device.
  std::map<std::string, host::KeptRows> kept_;     ///< Of outputs; of others, all.
  std::map<kernel::Symbol, std::string> outputs_;  ///< By array.
  /// Pixels for the host's outputs, once the event has passed, or all that was queued.
  struct Fetched {
    Buffer output, pixels;
    std::unique_ptr<const CudaEvent> after;
  };
  std::vector<Fetched> fetched_;
  bool waited_ = false;
  bool one_by_one_;                     ///< Each kernel is waited for, so that a fault has its name.
  LaunchProgress* progress_ = nullptr;  ///< Of whoever watches.
  bool launched_ = false;
  bool collects_ = false;  ///< Calls are not queued yet.
  std::vector<CudaCall> calls_;
};

}  // namespace weft::runtime
