#include "lower/lower_reduce.h"

#include "analysis/interior.h"
#include "lower/lower_tiles.h"
#include "lower/reduction_parts.h"

namespace weft::lower {

namespace {

/// The columns [x0, x1) of one of the strips of a row.
struct Columns {
  Expr x0, x1;
};
Columns columns(const ReductionParts& parts, const Rows& rows, const Expr& strip, Block& block) {
  const Expr width = literal(parts.columns_per_part());
  const kernel::Symbol x1 = rows.layout().names.local("x1");
  block.push_back({kernel::Let{parts.x0(), kernel::add(rows.begin(0), kernel::mul(strip, width))}});
  block.push_back({kernel::Let{x1, kernel::min(kernel::add(name(parts.x0()), width), rows.end(0))}});
  return {name(parts.x0()), name(x1)};
}

/// The elements of a part.
void elements(const ReductionParts& parts, const Rows& rows, const Expr& part,
              const ReductionParts::Arrays& accumulators, ExpressionLowering& expressions, Block& block) {
  if (rows.rank() == 0) return parts.single(expressions, accumulators, block);
  if (rows.rank() == 1) {
    const auto [x0, x1] = columns(parts, rows, part, block);
    return parts.row(expressions, accumulators, x0, x1, block);
  }
  const kernel::Names& names = rows.layout().names;
  const auto let = [&](const char* word, const Expr& value) {
    const kernel::Symbol symbol = names.local(word);
    block.push_back({kernel::Let{symbol, value}});
    return name(symbol);
  };
  const Expr strips = let("strips", parts.strips_per_row()), of_part = let("rows", parts.rows_per_part());
  const Expr row0 = let("row0", kernel::mul(kernel::div(part, strips), of_part));
  const kernel::Symbol row = names.local("row");
  For loop{LoopKind::Serial, row, row0, kernel::min(kernel::add(row0, of_part), rows.count()),
           rows.coordinates_of(name(row))};
  const auto [x0, x1] = columns(parts, rows, kernel::binary(ir::BinaryOp::Rem, part, strips), block);
  if (parts.has_columns()) {
    parts.element(expressions, accumulators, name(parts.l()), loop.body);
    loop = {LoopKind::Threads, parts.l(), literal(0), kernel::sub(x1, x0), Block{{std::move(loop)}}};
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
  const Variables& variables = context.layout.variables;
  const kernel::Symbol part = context.layout.names.local("part");
  For loop{LoopKind::Serial, part, name(variables.first), name(variables.last), {}};
  if (on_gpu) {
    const kernel::Symbol all = context.layout.names.local("parts");
    function.body.push_back({kernel::Let{all, parts.count()}});
    loop = {LoopKind::BlocksX, part, literal(0), name(all), {}};
  }
  const Rows rows(stage.domain(), context.layout);
  std::vector<Expr> coords = rows.coords();
  if (!coords.empty()) coords[0] = parts.column();
  // Reads whose border matters are resolved at every element.
  const bool needs_borders = !analysis::interior_of(stage).is_everything();
  const Place place = on_gpu ? Place::Thread : needs_borders ? Place::Anywhere : Place::Interior;
  ExpressionLowering expressions(context, stage, place, coords);
  const auto accumulators =
      parts.accumulators([&](const std::string& wanted) { return expressions.claim(wanted); }, function.body);
  parts.start(expressions, accumulators, loop.body);
  elements(parts, rows, name(part), accumulators, expressions, loop.body);
  parts.finish(expressions, accumulators, name(part), loop.body);
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
