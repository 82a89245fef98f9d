// How tests compile emitted code.
#pragma once

#include <weft/pipeline.h>

namespace weft::testing_support {

/// For the CPU. With WEFT_EMIT_SANITIZE=address,undefined in the environment, emitted code is instrumented,
/// too; address then needs a test program that is instrumented itself.
CompileOptions compile_options();

}  // namespace weft::testing_support
