#include "tests/support/compile.h"

#include <cstdlib>
#include <string>

namespace weft::testing_support {

CompileOptions compile_options() {
  // Small images are divided among threads, too.
  CompileOptions options{.target = Target::Cpu, .threads = 0, .compiler_flags = {"-DWEFT_LEAST_PORTION=1"}};
  const char* sanitizers = std::getenv("WEFT_EMIT_SANITIZE");
  if (sanitizers && *sanitizers) {
    // Compiling takes most of the time, and what is not optimized has every access in it.
    options.compiler_flags.insert(options.compiler_flags.end(), {std::string("-fsanitize=") + sanitizers,
                                                                 "-fno-sanitize-recover=all", "-O0", "-g1"});
  }
  return options;
}

CompileOptions quick_compile_options() {
  CompileOptions options = compile_options();
  options.compiler_flags.insert(options.compiler_flags.begin(),
                                "-O1");  // what sanitizers ask for comes after it
  return options;
}

}  // namespace weft::testing_support
