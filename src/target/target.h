// What kernels are lowered for.
#pragma once

#include "machine/architecture.h"

namespace weft::target {

enum class Processor {
  Cpu,  ///< Functions over rows or parts, which threads share out.
  Gpu,  ///< Kernels over grids of blocks of threads.
};

/// A processor and, of a GPU, the architecture, which decides the size of blocks and which stages are one
/// kernel, and nothing of what is computed.
struct Target {
  Processor processor;
  machine::Architecture architecture;

  /// Of a GPU that nobody named: a Hopper, sm_90.
  Target(Processor p) : Target(p, machine::architecture(9, 0)) {}  // implicit: a processor is a target
  Target(Processor p, const machine::Architecture& a) : processor(p), architecture(a) {}
};

}  // namespace weft::target
