#include "lower/lower_packs.h"

#include <algorithm>

#include "lower/lower_grid.h"
#include "lower/phases.h"
#include "lower/rows.h"
#include "plan/pixel_rows.h"

namespace weft::lower {

std::vector<ExpressionLowering::Pack> load_rows(const std::vector<plan::PixelRow>& rows,
                                                const PixelsOfThread& pixels, const Rows& box,
                                                ExpressionLowering& expressions, Block& block) {
  std::vector<ExpressionLowering::Pack> packs;
  for (const plan::PixelRow& each : rows) {
    const ir::Stage& source = *each.read.source;
    const ArrayLayout& from = box.layout().arrays.at(&source);
    const Expr lanes = literal(from.type.lanes);
    const auto [row, inside] = expressions.row_of(each.read);
    const kernel::Symbol pack = expressions.claim(from.name.spelling() + "_pack");
    const Expr column = kernel::sub(pixels.first, box.lower(source.box[0].min));
    const Expr valid = kernel::mul(pixels.left, lanes);
    block.push_back({kernel::LoadPack{pack, from.name, from.type.scalar, pixels.count * from.type.lanes,
                                      kernel::add(row, kernel::mul(column, lanes)),
                                      inside ? kernel::select(inside, valid, literal(0)) : valid}});
    packs.push_back({each.read, pack, inside});
  }
  return packs;
}

kernel::Launch lower_packs(const KernelContext& context) {
  const ir::Stage& stage = context.stage();
  const plan::PixelRows read = plan::pixel_rows(stage);
  const int pixels = context.plan.level(plan::LevelKind::Lane)->extent[0].fixed();
  Layout& layout = context.layout;
  const ArrayLayout& array = layout.arrays.at(&stage);
  const Rows rows(stage.box, layout);
  // What pixels of a thread read of a coarser image is the same, and known to be, as functions of the thread's number.
  const bool is_in_steps = std::any_of(read.others.begin(), read.others.end(), plan::is_of_coarser_image) &&
                           stage.box[0].min.is_constant();
  std::vector<ir::Stage> phases;
  std::unordered_map<const ir::Node*, std::string> names = context.names;
  std::vector<Expr> coords = rows.coords();
  const kernel::Symbol first = layout.names.local("x0");  // of a thread's pixels
  if (is_in_steps) {
    const std::int64_t begin = stage.box[0].min.constant();
    for (int p = 0; p < pixels; ++p)
      phases.push_back(stages_in_steps({&stage}, {InSteps{pixels, begin + p}, InSteps{1, 0}}, context.names,
                                       names, context.module.strict)
                           .front());
    // All pixels of the last thread are computed, also those beyond the end.
    for (ir::Stage& phase : phases)
      phase.box[0] = {ir::Affine(0), (stage.box[0].extent + (pixels - 1)).floor_div(pixels)};
    coords[0] = kernel::div(kernel::sub(name(first), literal(begin)), literal(pixels));
  }
  ExpressionLowering expressions(context, is_in_steps ? phases.front() : stage, Place::Thread,
                                 std::move(coords), &names);
  if (is_in_steps) {
    std::vector<const ir::Stage*> others;
    for (int p = 1; p < pixels; ++p) others.push_back(&phases[p]);
    expressions.share_with(others);
  }
  const kernel::Symbol number = expressions.claim("k");
  const Expr x0 = name(first), k = name(number), left = kernel::sub(rows.end(0), x0);
  const auto scalars = [](const Expr& of_pixels, const ArrayLayout& of) {
    return kernel::mul(of_pixels, literal(of.type.lanes));
  };
  const auto offset_in = [&](const ArrayLayout& of) {
    return kernel::add(rows.row_offset(of), rows.x_offset(x0, of));
  };

  Block block;
  expressions.open(block);
  std::vector<ExpressionLowering::Pack> packs =
      load_rows(read.rows, {pixels, x0, left}, rows, expressions, block);
  const kernel::Symbol result = expressions.claim(array.name.spelling() + "_pack");
  block.push_back({kernel::LocalArray{result, array.type.scalar, pixels * array.type.lanes}});
  if (is_in_steps) {
    for (int p = 0; p < pixels; ++p) {
      expressions.keep_packs(packs, literal(p));
      Block pixel;
      store_pixel(expressions, pixel, std::get<ir::Pure>(phases[p].definition).cases, result,
                  scalars(literal(p), array));
      block.push_back({kernel::Scope{std::move(pixel)}});
    }
  } else {
    expressions.keep_packs(std::move(packs), k);
    For each{LoopKind::Unrolled, number, literal(0), literal(pixels), {}};
    each.body.push_back({Let{rows.coordinate(0), kernel::add(x0, k)}});
    store_pixel(expressions, each.body, std::get<ir::Pure>(stage.definition).cases, result,
                scalars(k, array));
    block.push_back({std::move(each)});
  }
  expressions.close();
  block.push_back({kernel::StorePack{result, array.name, offset_in(array), scalars(left, array)}});

  const bool has_planes = context.plan.has_planes_of_threads();
  if (has_planes) block = loop_over_planes(LoopKind::Unrolled, rows, std::move(block));
  block = {{For{LoopKind::GridX, first, rows.begin(0), rows.end(0), std::move(block), literal(pixels)}}};
  kernel::Function function{layout.names.claim(array.name.spelling() + "_kernel"),
                            comment_on(stage, "'" + stage.name + "'"),
                            {},
                            grid_loops_around(rows, std::move(block), has_planes)};
  kernel::Launch launch{function.name, literal(1), grid_over(rows, pixels)};
  if (has_planes) launch.grid->threads[2] = literal(1);
  context.module.functions.push_back(std::move(function));
  return launch;
}

}  // namespace weft::lower
