// The loops of a group of stages, with all that models of a kernel's time count: how many pixels they
// compute, halos included, and which images they move.
//
//     a(x, y) = in(x - 1, y) + in(x + 1, y)      in strips of 100 of 1000 columns of b, a's loop computes
//     b(x, y) = a(x - 1, y) + a(x + 1, y)        102 of each, 1020 in all
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "analysis/operations.h"
#include "ir/bindings.h"
#include "schedule/kernels.h"
#include "schedule/marching.h"

namespace weft::schedule {

/// A stage with those that are computed in its place.
struct Loop {
  StageReads reads;
  analysis::Operations operations;  ///< Of a pixel, without the loads of what is in place.
  bool can_be_value = false;        ///< Of a loop that has all its readers (values_of_passes).
};
/// Those of the pipeline, as `kernels` has them and in that order.
std::vector<Loop> loops_of(const ir::Pipeline& pipeline, const Kernels& kernels);

std::vector<StageReads> reads_of(const std::vector<Loop>& members);
/// How they march, or why they cannot in that memory. One loop alone has nothing to march with.
MarchOrWhy march_of(const std::vector<Loop>& members, const Kernels& kernels, const Memory& memory = {});
/// Of those that march so, the ones that are values of their readers' passes.
std::set<const ir::Stage*> values_of(const std::vector<Loop>& members, const March& march);
/// Loads and stores of a pixel by a loop, of values that are lanes; those of `values` are not loaded.
double accesses_of(const Loop& loop, const std::set<const ir::Stage*>& values = {});

/// Seconds that a group takes as one kernel, in which it marches so.
using CostModel = std::function<double(const std::vector<Loop>& members, const March& march)>;

/// Bytes of memory: of each image once.
struct Traffic {
  double read = 0, written = 0;
};
Traffic traffic_of(const std::vector<Loop>& members, const ir::Sizes& sizes);

// ---- sizes

/// Extents of every image where nothing is known of them.
ir::Sizes nominal_sizes(const ir::Pipeline& pipeline);
/// Sizes that nothing was said about may not suit the pipeline: what would be negative is empty.
ir::ConcreteBox box_of(const ir::Box& ranges, const ir::Sizes& sizes);
double pixels_of(const ir::ConcreteBox& box);
double rows_of(const ir::ConcreteBox& box);

/// How the result is divided.
struct Strips {
  double columns = 1, bands = 1;  ///< Strips side by side, and one below the other.
};
Strips strips_of(const ir::ConcreteBox& result, std::int64_t width, std::int64_t height);

/// What all strips compute, or copy, of one source.
struct Covered {
  double pixels = 0, rows = 0;
};
Covered covered_by(const Strips& strips, const ir::ConcreteBox& box, const Window& window);

}  // namespace weft::schedule
