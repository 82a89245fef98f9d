// A kernel on its way into a module.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/ir.h"
#include "lower/layout.h"
#include "machine/architecture.h"
#include "plan/plan.h"

namespace weft::lower {

struct KernelContext {
  const plan::KernelPlan& plan;
  std::vector<const ir::Stage*> members;                          ///< Producers first; the last is stored.
  const std::unordered_map<const ir::Node*, std::string>& names;  ///< Of stages computed in place.
  Layout& layout;
  kernel::Module& module;
  const machine::Architecture& architecture;  ///< Of a GPU.

  const ir::Stage& stage() const { return *members.back(); }
};

}  // namespace weft::lower
