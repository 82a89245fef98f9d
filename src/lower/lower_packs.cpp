#include "lower/lower_packs.h"

#include <algorithm>

#include "ir/visit.h"
#include "lower/lower_grid.h"
#include "lower/rows.h"

namespace weft::lower {

using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

namespace {

/// The images of a stage that reads its own pixel of images and scalars besides, in order of first use.
std::vector<const ir::Stage*> images_of(const ir::Stage& stage) {
  std::vector<const ir::Stage*> images;
  for (const ir::Expr& e : ir::reads(stage)) {
    const ir::Stage* source = std::get<ir::Read>(e->op).source.get();
    if (!source->box.empty() && std::find(images.begin(), images.end(), source) == images.end())
      images.push_back(source);
  }
  return images;
}

}  // namespace

kernel::Launch lower_packs(const KernelContext& context) {
  const ir::Stage& stage = context.stage();
  const std::vector<const ir::Stage*> sources = images_of(stage);
  const int pixels = context.plan.level(plan::LevelKind::Lane)->extent[0].fixed();
  Layout& layout = context.layout;
  const ArrayLayout& array = layout.arrays.at(&stage);
  const Rows rows(stage.box, layout);
  ExpressionLowering expressions(layout, context.module.tables, context.names, stage, Place::Thread,
                                 rows.coords(), context.module.strict);
  const std::string number = expressions.claim("k");
  const Expr x0 = name("x0"), k = name(number), left = kernel::sub(rows.end(0), x0);
  const auto scalars = [](const Expr& of_pixels, const ArrayLayout& of) {
    return kernel::mul(of_pixels, literal(of.type.lanes));
  };
  const auto offset_in = [&](const ArrayLayout& of) {
    return kernel::add(rows.row_offset(of), rows.x_offset(x0, of));
  };

  For along_x{LoopKind::GridX, "x0", rows.begin(0), rows.end(0), {}, literal(pixels)};
  std::unordered_map<const ir::Stage*, std::string> packs;
  for (const ir::Stage* source : sources) {
    const ArrayLayout& from = layout.arrays.at(source);
    packs[source] = expressions.claim(from.name + "_pack");
    along_x.body.push_back(
        {kernel::LoadPack{packs[source], from.name, from.type.scalar, pixels * from.type.lanes,
                          offset_in(from), scalars(left, from)}});
  }
  expressions.keep_packs(std::move(packs), k);
  const std::string result = expressions.claim(array.name + "_pack");
  along_x.body.push_back({kernel::LocalArray{result, array.type.scalar, pixels * array.type.lanes}});
  For each{LoopKind::Unrolled, number, literal(0), literal(pixels), {}};
  each.body.push_back({Let{"x", kernel::add(x0, k)}});
  store_pixel(expressions, each.body, std::get<ir::Pure>(stage.definition).cases, result, scalars(k, array));
  along_x.body.push_back({std::move(each)});
  along_x.body.push_back({kernel::StorePack{result, array.name, offset_in(array), scalars(left, array)}});

  kernel::Function function{layout.names.claim(array.name + "_kernel"),
                            comment_on(stage, "'" + stage.name + "'"),
                            {},
                            grid_loops_around(rows, {{std::move(along_x)}})};
  kernel::Launch launch{function.name, literal(1), grid_over(rows, pixels)};
  context.module.functions.push_back(std::move(function));
  return launch;
}

}  // namespace weft::lower
