// Where the pointers of a function point into.
#pragma once

#include <map>
#include <set>

#include "kernel/ir.h"

namespace weft::kernel {

/// By pointer of a function, what it points into: arrays, or other pointers.
using Pointed = std::map<Symbol, std::set<Symbol>>;

/// Pointers of different scopes may have one name: then it stands for what any of them points into.
Pointed pointed_in(const Function& function);

/// The arrays themselves that `name` is, or points into.
std::set<Symbol> arrays_behind(const Symbol& name, const Pointed& pointed);

}  // namespace weft::kernel
