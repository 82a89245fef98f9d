// What straight-line code loads more than once.
//
//     const float a = row[i - 1] + row[i];            const float v = row[i];
//     const float b = row[i] + row[i + 1];       →    const float a = row[i - 1] + v;
//     out[i] = a; below[i] = b;                       const float b = v + row[i + 1];
//                                                     out[i] = a; below[i] = b;
#pragma once

#include <functional>
#include <string>

#include "kernel/ir.h"
#include "kernel/names.h"

namespace weft::kernel {

/// Gives values that the block itself loads more than once a name, where they are loaded first. Loads that may not be
/// reached stay where they are, as do those of arrays that the block stores to, or at places that it assigns. `claim`
/// makes a symbol with a wanted spelling.
void share_loads(Block& block, const std::function<Symbol(const std::string& wanted)>& claim);

/// Likewise in loops for vectors that store more than once, of scalars that do not lie side by side, such as a lane of each
/// pixel: vectors of them are put together from several loads, and after a store compilers do so again. Names are of
/// `names`, those of the module, and none that the function has.
void share_spread_loads(Function& function, Names names);

}  // namespace weft::kernel
