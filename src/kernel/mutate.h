// Puts faults into kernels that have none, one at a time, to see whether checks find them.
//
//     for (y = a; y < b; ++y)              for (y = a; y < b + 1; ++y)
//       row[y & 15] = in[y * pitch];         row[y & 15] = in[y * pitch];    a bound that is one too far
//
// A check is worth as much as the faults that it finds (docs/decisions/0070-mutants.md).
#pragma once

#include <string_view>
#include <vector>

#include "kernel/ir.h"

namespace weft::kernel {

enum class Fault {
  Barrier,  ///< One is missing.
  Ring,     ///< Has a row less, or half of them where a mask finds the row.
  Index,    ///< An access is off by one element.
  Lane,     ///< A shuffle takes from the next lane, or from the other side.
  Bound,    ///< A loop begins or ends one iteration too early or too late.
  Guard,    ///< < stands for <=, or the other way round.
};
std::string_view name_of(Fault fault);

/// A place in a module and what is wrong there. It is said by a number, as the place has no name.
struct Mutation {
  Fault fault;
  std::size_t function;  ///< Of the module.
  int number;            ///< Of the function's faults.
};

/// All faults that a module's functions can have, in the order of their code.
std::vector<Mutation> mutations_of(const Module& module);
/// The module with one of them.
Module mutated(const Module& module, const Mutation& mutation);

}  // namespace weft::kernel
