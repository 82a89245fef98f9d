// What a user can get wrong in a graph that is otherwise well-formed.
#pragma once

#include "ir/stage_ir.h"

namespace weft::analysis {

/// Throws weft::Error, with the user's file and line, for an affine read without a border that can leave its
/// source's box for some image size, a computed index without a border, and cases that do not cover their
/// stage's box.
void check(const ir::Pipeline& pipeline);

}  // namespace weft::analysis
