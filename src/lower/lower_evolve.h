// An evolution as a repeated list of launches, one per update, over rotating arrays.
//
//     u and u_1 start as the initial value;   steps times: swap u and u_1;  u = f(u_1)
//
// A field has as many arrays as its past is read deep: one if every update reads it before it is overwritten.
#pragma once

#include "lower/lower_stage.h"

namespace weft::lower {

/// Appends what all fields of the stage's evolution need, unless another of its stages has. Layouts of the
/// updates and of the fields' pasts are added.
void lower_evolve(const KernelContext& context, const ir::Pipeline& pipeline);

}  // namespace weft::lower
