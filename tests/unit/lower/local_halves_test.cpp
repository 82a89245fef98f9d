// A type that only local variables have is declared, too.
#include <gtest/gtest.h>

#include "emit/cpp.h"
#include "emit/gpu.h"
#include "kernel/build.h"
#include "tests/support/symbols.h"

namespace weft::kernel {
namespace {

Module with_local(Scalar type) {
  Module module;
  module.name = "halves";
  module.functions = {{"rows"_s, "", {"first"_s, "last"_s}, {{LocalArray{"unused"_s, type, 4}}}}};
  const Expr one = literal(1);
  module.steps = {Launch{"rows"_s, one, Grid{{one, one, one}, {32, 1, 1}}}};
  return module;
}

// Found by: weft verify --random 1 --seed 3062055
TEST(LocalHalves, AreDeclared) {
  for (const Scalar type : {Scalar::F16, Scalar::F32}) {
    const Module module = with_local(type);
    for (const std::string& text : {emit::emit_for_loading(module), emit::emit_gpu_for_loading(module)}) {
      EXPECT_EQ(text.find("typedef uint16_t half_t;") != std::string::npos, type == Scalar::F16);
    }
  }
}

}  // namespace
}  // namespace weft::kernel
