// Moves out of vector loops what is the same in all of their iterations.
#pragma once

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Computes before a vector loop what it would compute anew in each iteration:
///
///   for x: v = floor(y * s), p[x] = q[clamp(v) * pitch + x]
///   v = floor(y * s), invariant = clamp(v) * pitch, for x: p[x] = q[invariant + x]
///
///   for x: a = even[x], b = odd[x], p[x] = y % 2 == 0 ? a : b
///   chosen_row = y % 2 == 0 ? even : odd, for x: p[x] = chosen_row[x]
///
/// Variables move, and so do parts of expressions that compilers make branches of: they hoist arithmetic
/// themselves, but leave branches in the loop, and GCC does not vectorise a loop in which a condition that
/// never varies chooses between values that do not vary either. Loads stay, since the loop may have no
/// iterations. `names` are those of the module.
void hoist_invariants(kernel::Function& function, Names names);

}  // namespace weft::kernel
