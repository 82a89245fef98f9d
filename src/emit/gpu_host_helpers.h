// What the host's part of emitted CUDA and HIP calls: launches, memory, copies, and how many blocks a device has room for.
#pragma once

#include <string>
#include <vector>

#include "kernel/ir.h"
#include "target/dialect.h"

namespace weft::emit {

/// Their text. All modules need them, but perhaps not the last.
std::string gpu_host_helpers(const std::vector<const kernel::Module*>& modules,
                             const target::Dialect& dialect);

}  // namespace weft::emit
