// From the user's stages to a pipeline.
#pragma once

#include <weft/pipeline.h>

#include <string>

#include "ir/stage_ir.h"

namespace weft::dsl {

/// The graph that the outputs reach, and what the running Builder saw declared. Throws weft::Error for a
/// pipeline without outputs and for names given twice.
ir::Pipeline assemble(std::string name, const Outputs& outputs);

}  // namespace weft::dsl
