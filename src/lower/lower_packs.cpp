#include "lower/lower_packs.h"

#include <algorithm>

#include "analysis/footprint.h"
#include "analysis/interior.h"
#include "analysis/operations.h"
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

constexpr int widest_access = 16;  // bytes
constexpr int pixels_of_three_lanes = 4;
constexpr int most_operations = 400;  // of a thread: beyond, computing hides the loads, and code gets long

/// At the stage's own coordinates, all of them inside the source.
bool is_of_current_pixel(const ir::Read& read, const ir::Stage& stage) {
  if (read.indices.size() != stage.domain().size()) return false;
  const analysis::Footprint footprint = analysis::footprint(read);
  for (std::size_t d = 0; d < footprint.size(); ++d) {
    const analysis::Along& along = footprint[d];
    if (!along.is_unit(static_cast<int>(d)) || along.min != 0 || along.max != 0) return false;
    const bool is_inside =
        stage.domain()[d] == read.region[d] ||
        analysis::stays_inside(std::get<ir::Affine>(read.indices[d]), read.region[d], stage.domain());
    if (read.border && !is_inside) return false;
  }
  return true;
}

/// The sources of a stage that reads its own pixel of images and scalars besides, in order of first use.
std::optional<std::vector<const ir::Stage*>> sources_of_pixel(const ir::Stage& stage) {
  std::vector<const ir::Stage*> sources;
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (read.indices.empty()) continue;
    if (!is_of_current_pixel(read, stage)) return std::nullopt;
    if (std::find(sources.begin(), sources.end(), read.source.get()) == sources.end())
      sources.push_back(read.source.get());
  }
  return sources;
}

/// So many that the widest pixels fill an access.
int pixels_per_thread(const ir::Stage& stage, const std::vector<const ir::Stage*>& sources) {
  int widest = size_of(stage.type);
  bool three_lanes = stage.type.lanes == 3;
  for (const ir::Stage* source : sources) {
    widest = std::max(widest, size_of(source->type));
    three_lanes |= source->type.lanes == 3;
  }
  return three_lanes ? pixels_of_three_lanes : std::max(widest_access / widest, 1);
}

bool computes_much(const ir::Stage& stage, int pixels) {
  const analysis::Operations operations = analysis::operations(stage);
  bool has_windows = false;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    has_windows |= std::holds_alternative<ir::FoldResult>(e->op) || std::holds_alternative<ir::Median>(e->op);
  });
  return has_windows || (operations.alu + 8 * operations.sfu) * pixels > most_operations;
}

}  // namespace

std::optional<kernel::Launch> lower_packs(const StageContext& context) {
  const ir::Stage& stage = context.stage;
  if (stage.domain().empty()) return std::nullopt;
  const auto sources = sources_of_pixel(stage);
  if (!sources) return std::nullopt;
  const int pixels = pixels_per_thread(stage, *sources);
  if (computes_much(stage, pixels)) return std::nullopt;

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
  for (const ir::Stage* source : *sources) {
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
