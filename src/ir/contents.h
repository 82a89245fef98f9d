// All that a pipeline says, as bytes: whoever keeps what became of a pipeline keeps it under their hash.
//
// Pipelines of the same bytes are the same but for the places in the user's source, which only errors name:
// stages, expressions, windows and masks, with their names and in their order, and which of them are one
// object, as a value that is used twice is computed once. No address is among them, so they are the same in
// every process.
#pragma once

#include <string>

#include "ir/stage_ir.h"

namespace weft::ir {

std::string contents_of(const Pipeline& pipeline);

}  // namespace weft::ir
