// How far back the updates of an evolution look, and what memory that takes.
#pragma once

#include <vector>

#include "ir/stage_ir.h"

namespace weft::analysis {

/// How many steps back each field is read; at least one, since its newest value is what the next step begins with.
std::vector<int> oldest_ages(const ir::Evolution& evolution);

/// The arrays that a field needs if its updates are stored one after the other: its values of so many steps are alive
/// when an update writes. 1: the field changes in place.
std::size_t arrays_of(const ir::Evolution& evolution, std::size_t field);
/// Whether updates of the field are stored over pixels that they read, so that none may be computed twice.
bool is_in_place(const ir::Evolution& evolution, std::size_t field);

}  // namespace weft::analysis
