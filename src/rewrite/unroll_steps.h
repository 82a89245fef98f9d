// Several steps of an evolution as a chain of stages, which can be one kernel like any others.
//
//     u[t](x) = f(u[t - 1](x - 1), u[t - 1](x + 1))      u@1 reads the field's past, u@2 reads u@1, u reads u@2
//
// Fields that read one another change in turn in every step. What the next steps read is stored: the newest value of
// each field, or as many as its updates look back.
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::rewrite {

/// A field at one step.
struct Version {
  ir::StagePtr stage;
  std::size_t field;
  /// Of a stage of the chain, steps before its last: 0 is the newest. Of a past, steps before its first, from 1 on.
  int age;
};

struct UnrolledSteps {
  std::vector<Version> pasts;     ///< That the chain reads.
  std::vector<Version> versions;  ///< Producers first; the last is the newest of the last field.
  std::vector<int> stored;        ///< By field: of so many versions, the newest, the next steps have need.
  std::string why;                ///< If there are none: a clause.

  bool is_stored(const Version& version) const { return version.age < stored[version.field]; }
};
/// So many steps. Stages are of the field's whole box: pixels that an update leaves alone are those of the step
/// before. A line is an image of one row, since kernels that keep rows are of images.
UnrolledSteps unroll_steps(const ir::Evolution& evolution, int count);
/// One step, of lines as of lines. Every evolution has one.
UnrolledSteps single_step(const ir::Evolution& evolution);

}  // namespace weft::rewrite
