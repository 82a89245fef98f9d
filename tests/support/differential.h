// A pipeline run both ways: by the interpreter, which defines what is right, and as compiled code.
#pragma once

#include <weft/weft.hpp>

#include <string>
#include <vector>

#include "tests/support/compare.h"
#include "tests/support/compile.h"
#include "tests/support/images.h"

namespace weft::testing_support {

/// What the interpreter computes.
std::map<std::string, Buffer> interpreted(const Pipeline& pipeline, const Arguments& arguments);

/// Runs the program and compares every pixel of every output with the interpreter's.
void expect_agreement(const Program& program, const Pipeline& pipeline, const Arguments& arguments,
                      const Bound& bound = exactly);

/// Likewise several programs of one pipeline; the interpreter, which takes longer than all of them, runs
/// once.
void expect_agreement(const std::vector<Program>& programs, const Pipeline& pipeline,
                      const Arguments& arguments, const Bound& bound = exactly);

/// Likewise, on images of noise that all have one of the sizes, after the other; the seeds count up from the first.
void expect_agreement_on_noise(const std::vector<Program>& programs, const Pipeline& pipeline,
                               const std::vector<std::vector<std::int64_t>>& sizes, std::uint64_t seed);

/// Compiles the pipeline first. Floats are compared exactly, so the pipeline had better be strict.
void expect_agreement(const Pipeline& pipeline, const Arguments& arguments, const Bound& bound = exactly);

/// Likewise for the strict pipeline of these outputs, and one image named "in".
void expect_agreement(const Outputs& outputs, const Buffer& in);

}  // namespace weft::testing_support
