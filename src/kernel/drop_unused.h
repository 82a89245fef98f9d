// Removes what nobody reads.
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

/// Removes variables and pointers that nothing mentions: lanes of a pixel that a formula leaves out, say.
void drop_unused(kernel::Function& function);

}  // namespace weft::kernel
