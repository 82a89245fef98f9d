// A pipeline as a loaded object of emitted C++.
#pragma once

#include <weft/pipeline.h>

#include "ir/bindings.h"
#include "ir/kernel_ir.h"
#include "lower/processor.h"
#include "runtime/executable.h"
#include "runtime/memory_pool.h"
#include "runtime/native_compiler.h"
#include "runtime/thread_pool.h"
#include "schedule/schedule.h"

namespace weft::runtime {

class CpuProgram : public Executable {
 public:
  CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CompileOptions& options);
  /// Around code that has been compiled, with `entry` as the name of its function.
  CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, std::shared_ptr<const SharedObject> object,
             const std::string& entry, int threads);

  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const override;

 private:
  std::shared_ptr<const ir::Pipeline> pipeline_;
  std::shared_ptr<const SharedObject> object_;
  void* entry_;
  mutable ThreadPool threads_;
  mutable MemoryPool memory_;
};

/// The schedule for a prepared pipeline. Throws weft::Error if the target cannot run what is asked for.
schedule::Schedule schedule_for(const ir::Pipeline& prepared, const lower::Target& target,
                                Tile tile = Tile::Auto);
/// The kernels of a pipeline, under the schedule that is chosen for it, and the flags to compile them with.
kernel::Module lowered(const ir::Pipeline& pipeline, const lower::Target& target = lower::Processor::Cpu,
                       Tile tile = Tile::Auto);
CompileFlags flags_for(const kernel::Module& module, const CompileOptions& options);

}  // namespace weft::runtime
