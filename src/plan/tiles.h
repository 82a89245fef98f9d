// The tiles of a plan over images of a size: how many there are, and what all of them compute or load, halos
// included.
//
//     a(x, y) = in(x - 1, y) + in(x + 1, y)      in tiles of 100 of 1000 columns of b, the kernel computes
//     102 b(x, y) = a(x - 1, y) + a(x + 1, y)        of a for each, 1020 in all
#pragma once

#include <functional>

#include "ir/bindings.h"
#include "plan/plan.h"

namespace weft::plan {

/// Seconds that a kernel takes.
using CostModel = std::function<double(const KernelPlan& plan)>;

/// Adds `pixels` pixels of a stage to the work of a kernel, on any processor.
template <class Work>
void add_pixels(Work& work, const Computed& computed, double pixels) {
  work.operations += pixels * static_cast<double>(computed.operations.alu);
  work.divisions += pixels * static_cast<double>(computed.operations.sfu);
  work.accesses += pixels * computed.accesses;
}

/// Bytes of memory: of each image once.
struct Traffic {
  double read = 0, written = 0;
};
Traffic traffic_of(const KernelPlan& plan, const ir::Sizes& sizes);

/// Extents of every image where nobody has said any.
ir::Sizes nominal_sizes(const ir::Pipeline& pipeline);
/// Of images twice as wide, high and deep.
ir::Sizes doubled(ir::Sizes sizes);
/// Where steps in time matter: fields that no cache holds, as benchmarks of iterated stencils have them.
ir::Sizes nominal_sizes_of_fields(const ir::Pipeline& pipeline);
/// Sizes that nothing was said about may not suit the pipeline: what would be negative is empty.
ir::ConcreteBox box_of(const ir::Box& ranges, const ir::Sizes& sizes);
double pixels_of(const ir::ConcreteBox& box);
double rows_of(const ir::ConcreteBox& box);

struct Tiling {
  double columns = 1, bands = 1;  ///< Tiles side by side, and one below the other: down the march.
  double layers = 1;              ///< Of a volume: between both.
  std::int64_t height = 0;        ///< Rows of each.
  double at_ends = 1;             ///< The share of the columns that tiles at the ends of a row copy.
};
/// Of a plan with tiles, over a result of that box.
Tiling tiling_of(const KernelPlan& plan, const ir::ConcreteBox& result);

/// What all tiles compute, or copy, of one source.
struct Covered {
  double pixels = 0, rows = 0;
};
Covered covered_by(const Tiling& tiling, const ir::ConcreteBox& box, const Window& halo);

}  // namespace weft::plan
