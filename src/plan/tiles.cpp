#include "plan/tiles.h"

#include <algorithm>

#include "base/round_up.h"
#include "kernel/evaluate.h"
#include "plan/warp_strip.h"

namespace weft::plan {
namespace {

constexpr std::int64_t nominal_extent = 2048, largest_extent = std::int64_t{1} << 30;

}  // namespace

Traffic traffic_of(const KernelPlan& plan, const ir::Sizes& sizes) {
  const auto bytes = [&](const ImageUse& i) { return pixels_of(box_of(i.box, sizes)) * size_of(i.type); };
  Traffic traffic;
  for (const ImageUse& image : plan.images) traffic.read += bytes(image);
  for (const ImageUse& image : plan.written) traffic.written += bytes(image);
  return traffic;
}

ir::Sizes nominal_sizes(const ir::Pipeline& pipeline) {
  ir::Sizes sizes;
  for (const ir::StagePtr& input : pipeline.inputs)
    sizes[input->name] = std::vector<std::int64_t>(input->box.size(), nominal_extent);
  return sizes;
}

ir::Sizes doubled(ir::Sizes sizes) {
  for (auto& [image, extents] : sizes) {
    for (std::int64_t& extent : extents) extent *= 2;
  }
  return sizes;
}

ir::Sizes nominal_sizes_of_fields(const ir::Pipeline& pipeline) {
  ir::Sizes sizes;
  for (const ir::StagePtr& input : pipeline.inputs) {
    const std::size_t rank = input->box.size();
    const std::int64_t extent = rank == 1 ? 1 << 24 : rank == 2 ? 4096 : 512;
    sizes[input->name] = std::vector<std::int64_t>(rank, extent);
  }
  return sizes;
}

ir::ConcreteBox box_of(const ir::Box& ranges, const ir::Sizes& sizes) {
  ir::ConcreteBox box;
  for (const ir::Range& range : ranges)
    box.extent.push_back(std::clamp<std::int64_t>(ir::evaluate(range.extent, sizes), 0, largest_extent));
  return box;
}

double pixels_of(const ir::ConcreteBox& box) {
  double pixels = 1;
  for (const std::int64_t extent : box.extent) pixels *= static_cast<double>(extent);
  return pixels;
}

double rows_of(const ir::ConcreteBox& box) {
  return box.extent.empty() ? 1
                            : pixels_of(box) / static_cast<double>(std::max<std::int64_t>(box.extent[0], 1));
}

Tiling tiling_of(const KernelPlan& plan, const ir::ConcreteBox& result) {
  const std::int64_t columns = tiles_along(result.extent[0], plan.width());
  const std::int64_t of_halves = kernel::evaluate(columns_of_halves(plan, kernel::literal(columns)), {});
  const std::int64_t layers = result.extent.size() > 2 ? tiles_along(result.extent[1], plan.lines()) : 1;
  std::int64_t height = size_over(plan.height(), result.extent.back(), (columns + of_halves) * layers);
  if (plan.parts) height = round_up(height, rows_of_part(*plan.parts, result.extent[0]) * plan.step[1]);
  const double of_tiles = 2.0 / static_cast<double>(std::max<std::int64_t>(columns, 1));
  const double of_edges = 2.0 * plan.edges / static_cast<double>(std::max<std::int64_t>(result.extent[0], 1));
  return {static_cast<double>(columns), static_cast<double>(tiles_along(result.extent.back(), height)),
          static_cast<double>(layers), height, std::min(plan.edges > 0 ? of_edges : of_tiles, 1.0)};
}

Covered covered_by(const Tiling& tiling, const ir::ConcreteBox& box, const Window& halo) {
  const auto along = [](std::int64_t extent, double tiles, const Reach& reach) {
    return static_cast<double>(extent) + static_cast<double>(reach.extent() - 1) * tiles;
  };
  double rows = along(box.extent.back(), tiling.bands, halo.back());
  if (box.extent.size() > 2) rows *= along(box.extent[1], tiling.layers, halo[1]);
  return {along(box.extent[0], tiling.columns, halo[0]) * rows, rows * tiling.columns};
}

}  // namespace weft::plan
