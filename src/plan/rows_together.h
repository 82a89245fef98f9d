// How many rows of a tile a core's pass computes at a time, in volumes the same row of 2 planes, say. What they read of the
// same rows is loaded once:
//
//     out(x, y) = in(x, y - 1) + in(x, y) + in(x, y + 1)      one row: 3 loads a pixel; two: 4 for 2 pixels
#pragma once

#include "plan/group.h"
#include "plan/passes.h"
#include "plan/plan.h"

namespace weft::plan {

/// The most at a time that most pay for. Medians have more in common.
constexpr int usual_rows_of_pass = 2;

/// What was asked for, and the rows at a time of a march that should take a core least, where nothing was and there is
/// room for them: 1 unless loads are a large part of what it does, or what medians have in common, and `most` at most.
Choices with_rows_of_pass(Choices asked, const Group& group, int most);

/// Counts once what `rows` rows of a pass have in common, and what neighbours in them have, in the accesses of its last stage.
void count_together(KernelPlan& plan, const Group& group, const std::vector<StagePass>& passes, int rows);

}  // namespace weft::plan
