// How tests compile emitted code.
#pragma once

#include <weft/pipeline.h>

namespace weft::testing_support {

/// For the CPU. With WEFT_EMIT_SANITIZE=address,undefined in the environment, emitted code is instrumented,
/// too; address then needs a test program that is instrumented itself.
CompileOptions compile_options();

/// Likewise with -O1, which takes half the time, and makes vectors of no loop: for what much the same code is seen
/// to do above, at the optimization of users.
CompileOptions quick_compile_options();

}  // namespace weft::testing_support
