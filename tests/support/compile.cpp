#include "tests/support/compile.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace weft::testing_support {

namespace {

/// With those flags after the usual ones.
CompileOptions with_flags(const std::vector<std::string>& flags) {
  // Small images are divided among threads, too.
  CompileOptions options{.target = Target::Cpu, .threads = 0, .compiler_flags = {"-DWEFT_LEAST_PORTION=1"}};
  const auto add = [&](const std::vector<std::string>& more) {
    options.compiler_flags.insert(options.compiler_flags.end(), more.begin(), more.end());
  };
  add(flags);
  const char* sanitizers = std::getenv("WEFT_EMIT_SANITIZE");
  // Compiling takes most of the time. What is not optimized has every access in it, and an access through a wrong pointer is
  // found without looking at the pointer.
  if (sanitizers && *sanitizers)
    add({std::string("-fsanitize=") + sanitizers, "-fno-sanitize=null,object-size,pointer-overflow",
         "-fno-sanitize-recover=all", "-O0", "-fno-tree-vectorize"});
  return options;
}

}  // namespace

CompileOptions user_compile_options() { return with_flags({}); }
CompileOptions compile_options() {
  return with_flags({"-O1", "-ftree-vectorize", "-fvect-cost-model=dynamic"});
}
CompileOptions quick_compile_options() { return with_flags({"-O0"}); }

}  // namespace weft::testing_support
