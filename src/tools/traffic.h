// How much memory traffic a pipeline cannot avoid, as long as its kernels are those that the compiler makes.
//
// Each array is read once if some launch reads it, and written once if some launch writes it, whole, however
// often and from wherever: a stored intermediate counts twice. The launches of a repeat count anew for every
// step, as nothing is kept from one step to the next.
#pragma once

#include <cstdint>
#include <map>

#include <weft/pipeline.h>

#include "compile/scheduling.h"
#include "ir/bindings.h"
#include "kernel/evaluate.h"
#include "kernel/ir.h"

namespace weft::tools {

/// In bytes.
struct Traffic {
  std::int64_t read = 0, written = 0;
  std::int64_t total() const { return read + written; }
  bool operator==(const Traffic&) const = default;
};

/// Counts the arrays of the kernel module, so also those that no stage stands for. Of the images only the
/// sizes matter.
Traffic traffic_of(const ir::Pipeline& pipeline, const ir::Bindings& bindings,
                   const compile::Scheduling& scheduling = {});
/// Of the kernels of that module.
Traffic traffic_of(const kernel::Module& module, const kernel::FieldValues& fields);

/// How often each kernel is launched.
std::map<kernel::Symbol, std::int64_t> launches_of_kernels(const kernel::Module& module,
                                                           const kernel::FieldValues& fields);

/// The same for each kernel of a module that was lowered from the pipeline: every array that it reads or
/// writes, once in each of its launches.
std::map<kernel::Symbol, Traffic> traffic_of_kernels(const kernel::Module& module,
                                                     const kernel::FieldValues& fields);
std::map<kernel::Symbol, Traffic> traffic_of_kernels(const kernel::Module& module,
                                                     const ir::Pipeline& pipeline,
                                                     const ir::Bindings& bindings);

}  // namespace weft::tools
