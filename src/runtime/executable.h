// What a program runs, whatever processor that is on.
#pragma once

#include <weft/error.h>
#include <weft/pipeline.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/run_progress.h"
#include "ir/bindings.h"

namespace weft::runtime {

class Executable {
 public:
  virtual ~Executable() = default;
  /// Writes every output of the pipeline. The buffers' rows are dense and none overlaps another.
  virtual void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const = 0;
  /// Runs the same once more, whenever it is called, while all buffers are where they are. Null if that takes no less.
  virtual std::function<void()> again(const ir::Bindings& bindings,
                                      const std::map<std::string, Buffer>& outputs) const {
    (void)bindings, (void)outputs;
    return nullptr;
  }
};

/// A GPU that works cannot do this, for want of memory, say; a CPU may.
class GpuRefusal : public Error {
 public:
  explicit GpuRefusal(Error error) : Error(std::move(error)) {}
};

/// There is not enough of the GPU's memory, or of the host's that a GPU reads.
class NoMemoryForGpu : public GpuRefusal {
 public:
  using GpuRefusal::GpuRefusal;
};

/// One that runs on a GPU, which has memory of its own. It throws GpuRefusal for what a CPU may do.
class GpuExecutable : public Executable {
 public:
  virtual Memory memory() const = 0;
  /// Like run, but images and outputs may lie in the GPU's memory, too; outputs there that have no data yet
  /// get it. Without a stream, the work is done when it returns; else it is queued there, in its order, and
  /// waited for only if an output lies in the host's memory.
  virtual void run_on(std::optional<void*> stream, const ir::Bindings& bindings,
                      std::map<std::string, Buffer>& outputs) const = 0;

  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const override {
    std::map<std::string, Buffer> on_host = outputs;
    run_on(std::nullopt, bindings, on_host);
  }
};

/// A program of a pipeline around an executable that was made from it.
Program program_of(const Pipeline& pipeline, std::unique_ptr<const Executable> executable);

/// Called with the first line of what a GPU's driver or compiler said, whenever the target Auto takes the CPU in
/// place of a GPU that is there: while the pipeline is compiled, or while it runs.
using OnFallback = std::function<void(const std::string& reason)>;

/// Pipeline::compile, for whoever wants to know how far a run is: it tells `progress`, which has to outlive
/// the program. Only one at a time may run.
Program compile_watched(const Pipeline& pipeline, const CompileOptions& options, RunProgress* progress,
                        OnFallback on_fallback = {});

/// Buffers, sizes and parameters in the order in which an emitted entry (emit::entry_function) takes them.
class EntryArguments {
 public:
  EntryArguments(const ir::Pipeline& pipeline, const ir::Bindings& bindings,
                 const std::map<std::string, Buffer>& outputs);

  void* const* arrays() const { return arrays_.data(); }
  const std::int64_t* integers() const { return integers_.data(); }
  const void* const* params() const { return params_.data(); }

 private:
  std::vector<void*> arrays_;
  std::vector<std::int64_t> integers_;
  std::vector<std::array<std::byte, 8>> values_;
  std::vector<const void*> params_;  // into values_
};

}  // namespace weft::runtime
