// The invariants of host plans.
#pragma once

#include "host/plan.h"

namespace weft::host {

/// Throws InternalError naming the node, or the array: what nodes use is what functions read and write; what
/// one reads was written before on all paths, whether images are given on the host or on the device, have
/// pixels or not; memory is there while it is used, and is freed once; every output is written; and of two
/// nodes that depend on each other one is before the other, by edges or on one stream.
void verify(const kernel::Module& module, const Plan& plan);

}  // namespace weft::host
