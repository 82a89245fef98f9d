// What all of lowering says of kernels.
#pragma once

#include "kernel/build.h"
#include "kernel/ir.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::If;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

}  // namespace weft::lower
