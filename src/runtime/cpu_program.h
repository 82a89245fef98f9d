// A pipeline as a loaded object of emitted C++.
#pragma once

#include <weft/pipeline.h>

#include "base/run_progress.h"
#include "compile/native_compiler.h"
#include "compile/scheduling.h"
#include "ir/bindings.h"
#include "kernel/ir.h"
#include "runtime/executable.h"
#include "runtime/launch_progress.h"
#include "runtime/memory_pool.h"
#include "runtime/thread_pool.h"

namespace weft::runtime {

class CpuProgram : public Executable {
 public:
  /// Planned and compiled, unless the cache remembers what became of the pipeline.
  CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CompileOptions& options);
  /// Runs tell `progress` how far they are.
  CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CompileOptions& options,
             RunProgress& progress);
  /// Around code that has been compiled, with `entry` as the name of its function.
  CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline,
             std::shared_ptr<const compile::SharedObject> object, const std::string& entry, int threads);

  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const override;
  std::function<void()> again(const ir::Bindings& bindings,
                              const std::map<std::string, Buffer>& outputs) const override;

 private:
  CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, kernel::Module module,
             const CompileOptions& options, RunProgress& progress);
  void run(const EntryArguments& arguments, LaunchProgress* progress) const;

  std::shared_ptr<const ir::Pipeline> pipeline_;
  std::shared_ptr<const compile::SharedObject> object_;
  void* entry_;
  mutable ThreadPool threads_;
  mutable MemoryPool memory_;
  kernel::Module module_;            // if somebody watches
  RunProgress* progress_ = nullptr;  // who
};

/// How the kernels of a pipeline are to be compiled.
compile::CompileFlags flags_for(const kernel::Module& module, const CompileOptions& options);

}  // namespace weft::runtime
