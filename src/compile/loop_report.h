// Which loops of emitted code the C++ compiler made no vectors of, and why. Emitted code marks loops whose
// iterations are independent (WEFT_INDEPENDENT); they are meant for vectors, and one that stays without takes several
// times as long. Compilers tell if they are asked: GCC by -fopt-info, clang by -Rpass.
//
//     WEFT_INDEPENDENT
//     for (int64_t i = 0; i < right - left; ++i) row[i] = curve[place[i]];      → "it reads single bytes at computed
//                                                                                 places, …"
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compile/native_compiler.h"

namespace weft::compile {

/// An independent loop that is computed pixel by pixel.
struct ScalarLoop {
  std::string function;   ///< Of the emitted code.
  int line = 0;           ///< Of its header, from 1.
  std::string cause;      ///< In plain words; "" if it is not known.
  std::string words;      ///< The compiler's own.
  bool inherent = false;  ///< No compiler could: there are no instructions for it.
};

struct LoopReport {
  std::string compiler;  ///< The first line of what it says of its version.
  int independent = 0;   ///< Loops that are marked.
  std::vector<ScalarLoop> scalar;
};

/// Compiles emitted code, of which one file is C++ and the others are its headers, by name, and looks at what the
/// compiler says. A loop that it says nothing of became something else, such as a call of memset, and counts as
/// vectors. Throws weft::Error if the compiler is neither GCC nor clang, or fails.
LoopReport report_on_loops(const std::map<std::string, std::string>& files, const CompileFlags& flags,
                           const std::filesystem::path& compiler = find_compiler());

// ---- its parts, for tests ----

/// A loop of emitted code.
struct IndependentLoop {
  std::string function;
  int first = 0, last = 0;  ///< Lines of its header and of its closing brace.
};
std::vector<IndependentLoop> independent_loops(const std::string& source);

/// What either compiler said of the loops of `source`, the file of that name.
std::vector<ScalarLoop> scalar_loops(const std::string& source, const std::string& file,
                                     const std::string& output);

}  // namespace weft::compile
