#include "lower/lower_reduce.h"

#include "analysis/interior.h"
#include "lower/lower_tiles.h"
#include "lower/reduction_parts.h"

namespace weft::lower {

using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

namespace {

/// The columns [x0, x1) of one of the strips of a row.
void columns(const ReductionParts& parts, const Rows& rows, const Expr& strip, Block& block) {
  const Expr width = literal(parts.columns_per_part());
  block.push_back({kernel::Let{"x0", kernel::add(rows.begin(0), kernel::mul(strip, width))}});
  block.push_back({kernel::Let{"x1", kernel::min(kernel::add(name("x0"), width), rows.end(0))}});
}

/// The elements of the current part.
void elements(const ReductionParts& parts, const Rows& rows, const ReductionParts::Arrays& accumulators,
              ExpressionLowering& expressions, Block& block) {
  const Expr part = name("part"), x0 = name("x0"), x1 = name("x1");
  if (rows.rank() == 0) return parts.single(expressions, accumulators, block);
  if (rows.rank() == 1) {
    columns(parts, rows, part, block);
    return parts.row(expressions, accumulators, x0, x1, block);
  }
  block.push_back({kernel::Let{"strips", parts.strips_per_row()}});
  block.push_back({kernel::Let{"rows", parts.rows_per_part()}});
  const Expr strips = name("strips"), of_part = name("rows"), row0 = name("row0");
  block.push_back({kernel::Let{"row0", kernel::mul(kernel::div(part, strips), of_part)}});
  For loop{LoopKind::Serial, "row", row0, kernel::min(kernel::add(row0, of_part), rows.count()),
           rows.coordinates_of(name("row"))};
  columns(parts, rows, kernel::binary(ir::BinaryOp::Rem, part, strips), block);
  if (parts.has_columns()) {
    parts.element(expressions, accumulators, name("l"), loop.body);
    loop = {LoopKind::Threads, "l", literal(0), kernel::sub(x1, x0), Block{{std::move(loop)}}};
  } else {
    parts.row(expressions, accumulators, x0, x1, loop.body);
  }
  block.push_back({std::move(loop)});
}

/// The kernel of a reduction that keeps no rows.
void lower_parts(const KernelContext& context, ReductionParts& parts) {
  const ir::Stage& stage = context.stage();
  const bool on_gpu = context.plan.is_of_blocks();
  kernel::Function function = parts.function(
      "_part", on_gpu ? "Parts of the elements of '" + stage.name + "', each combined by a block."
                      : "Parts [first, last) of the elements of '" + stage.name + "', each combined.");
  For loop{LoopKind::Serial, "part", name("first"), name("last"), {}};
  if (on_gpu) {
    function.body.push_back({kernel::Let{"parts", parts.count()}});
    loop = {LoopKind::BlocksX, "part", literal(0), name("parts"), {}};
  }
  const Rows rows(stage.domain(), context.layout);
  std::vector<Expr> coords = rows.coords();
  if (!coords.empty()) coords[0] = parts.column();
  // Reads whose border matters are resolved at every element.
  const bool needs_borders = !analysis::interior_of(stage).is_everything();
  ExpressionLowering expressions(context.layout, context.module.tables, context.names, stage,
                                 on_gpu          ? Place::Thread
                                 : needs_borders ? Place::Anywhere
                                                 : Place::Interior,
                                 coords, context.module.strict);
  const auto accumulators =
      parts.accumulators([&](const std::string& wanted) { return expressions.claim(wanted); }, function.body);
  parts.start(expressions, accumulators, loop.body);
  elements(parts, rows, accumulators, expressions, loop.body);
  parts.finish(expressions, accumulators, name("part"), loop.body);
  function.body.push_back({std::move(loop)});
  parts.launch_parts(std::move(function), parts.count());
}

}  // namespace

void lower_reduce(const KernelContext& context) {
  ReductionParts parts(context);
  if (context.plan.is_tiled())
    context.module.steps.push_back(lower_tiles(context, &parts));
  else
    lower_parts(context, parts);
  parts.launch_total();
}

}  // namespace weft::lower
