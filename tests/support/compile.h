// How tests compile emitted code.
#pragma once

#include <weft/pipeline.h>

namespace weft::testing_support {

/// For the CPU, as users' code is compiled. With WEFT_EMIT_SANITIZE=address,undefined in the environment, emitted code is
/// instrumented, too; address then needs a test program that is instrumented itself.
CompileOptions user_compile_options();

/// Likewise in half the time: loops become vectors as they do for users, but compilers try little else. What only users'
/// flags make wrong, applications and random pipelines find.
CompileOptions compile_options();

/// Likewise without optimization, in the least time: for what much the same code is seen to do with it.
CompileOptions quick_compile_options();

}  // namespace weft::testing_support
