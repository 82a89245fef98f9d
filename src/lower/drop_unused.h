// Removes what nobody reads.
#pragma once

#include "ir/kernel_ir.h"

namespace weft::lower {

/// Removes variables and pointers that nothing mentions: lanes of a pixel that a formula leaves out, say.
void drop_unused(kernel::Function& function);

}  // namespace weft::lower
