#include "tests/support/compile.h"

#include <cstdlib>
#include <string>

namespace weft::testing_support {

CompileOptions compile_options() {
  CompileOptions options{.target = Target::Cpu, .threads = 0, .compiler_flags = {}};
  const char* sanitizers = std::getenv("WEFT_EMIT_SANITIZE");
  if (sanitizers && *sanitizers) {
    options.compiler_flags = {std::string("-fsanitize=") + sanitizers, "-fno-sanitize-recover=all", "-O1",
                              "-g"};
  }
  return options;
}

}  // namespace weft::testing_support
