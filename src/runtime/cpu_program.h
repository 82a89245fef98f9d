// A pipeline as a loaded object of emitted C++.
#pragma once

#include <weft/pipeline.h>

#include "ir/bindings.h"
#include "ir/kernel_ir.h"
#include "runtime/executable.h"
#include "runtime/memory_pool.h"
#include "runtime/native_compiler.h"
#include "runtime/scheduling.h"
#include "runtime/thread_pool.h"

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

/// How the kernels of a pipeline are to be compiled.
CompileFlags flags_for(const kernel::Module& module, const CompileOptions& options);

}  // namespace weft::runtime
