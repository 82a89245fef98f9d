// A pipeline as a loaded object of emitted C++.
#pragma once

#include <weft/pipeline.h>

#include "ir/bindings.h"
#include "ir/kernel_ir.h"
#include "runtime/memory_pool.h"
#include "runtime/native_compiler.h"
#include "runtime/thread_pool.h"

namespace weft::runtime {

class CpuProgram {
 public:
  CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CompileOptions& options);

  /// Writes every output of the pipeline. The buffers' rows are dense and none overlaps another.
  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const;

 private:
  std::shared_ptr<const ir::Pipeline> pipeline_;
  kernel::Module module_;
  SharedObject object_;
  mutable ThreadPool threads_;
  mutable MemoryPool memory_;
};

}  // namespace weft::runtime
