// Several steps of an evolution as a chain of stages, which can be one kernel like any others.
//
//     u[t](x) = f(u[t - 1](x - 1), u[t - 1](x + 1))      u@1 reads the field's past, u@2 reads u@1, u reads u@2
#pragma once

#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::rewrite {

struct StepsOrWhy {
  ir::StagePtr past;                 ///< That the first step reads: the field's of age 1.
  std::vector<ir::StagePtr> stages;  ///< One per step; the last has the update's name.
  std::string why;                   ///< If there are none: a clause.
};
/// So many steps. Stages are of the field's whole box: pixels that the update leaves alone are those of the step
/// before. A line is an image of one row, since kernels that keep rows are of images.
StepsOrWhy unroll_steps(const ir::Evolution& evolution, int count);

}  // namespace weft::rewrite
