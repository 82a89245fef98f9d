// Coordinates, taps, accumulators and operands used where they have no meaning.
#pragma once

#include "ir/stage_ir.h"

namespace weft::dsl {

/// Throws weft::Error for a coordinate beyond the stage's rank and for a tap, a coefficient or an accumulator
/// that left its loop: a C++ variable can carry all of them out of the body that they belong to. Likewise for
/// the operands of a reduction's operator outside of it, and for an operator, an identity or an initial value
/// that depends on a pixel.
void check_scopes(const ir::Stage& stage);

}  // namespace weft::dsl
