// Which nodes of a host plan have to wait for which, found in what they read and write.
#pragma once

#include <vector>

#include "host/plan.h"

namespace weft::host {

/// What a node reads and writes: of a launch as its function's body says, of a repeat through all rotations.
Uses uses_of(const kernel::Module& module, const Node& node);

/// Whether one of the two has to come first: it writes what the other reads or writes.
bool depend(const Uses& a, const Uses& b);

/// Gives each node, those of repeats too, its uses and the edges that its dependences need, and no edge that
/// follows from others.
void connect(const kernel::Module& module, std::vector<Node>& nodes);

}  // namespace weft::host
