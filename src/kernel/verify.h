// The invariants of the kernel IR.
#pragma once

#include <string>

#include "kernel/ir.h"

namespace weft::kernel {

/// Throws InternalError naming `after`, the pass that made the module, and the function: every symbol is
/// declared before it is used, no two that can be seen at one place are spelt alike, operands have the types
/// that their operator needs, only mutable variables are assigned, only writable arrays stored to, and loops
/// advance. Steps are checked by the host plan's verifier (host/verify.h).
void verify(const Module& module, const std::string& after);

}  // namespace weft::kernel
