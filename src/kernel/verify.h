// The invariants of the kernel IR.
#pragma once

#include <string>

#include "kernel/ir.h"

namespace weft::kernel {

/// Throws InternalError naming `after`, the pass that made the module, and the function: every name is
/// defined before it is used and only once per scope, operands have the types that their operator needs, only
/// mutable variables are assigned, only writable arrays stored to, and loops advance. Steps are checked by the
/// host plan's verifier (host/verify.h).
void verify(const Module& module, const std::string& after);

}  // namespace weft::kernel
