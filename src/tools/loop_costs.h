// What `weft explain --compiler` says of the loops of emitted C++: which of them the C++ compiler made vectors of.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compile/loop_report.h"
#include "kernel/ir.h"

namespace weft::tools {

struct LoopsOfModule {
  std::string file;  ///< As `weft emit` writes it; lines count in it.
  compile::LoopReport report;

  std::string text() const;
  nlohmann::ordered_json json() const;
};
/// Asks the compiler that would compile the module to run it, which is for a CPU.
LoopsOfModule loops_of(const kernel::Module& module);

}  // namespace weft::tools
