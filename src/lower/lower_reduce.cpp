#include "lower/lower_reduce.h"

#include "analysis/interior.h"
#include "analysis/operations.h"
#include "lower/lower_tiles.h"
#include "lower/reduction_parts.h"

namespace weft::lower {

namespace {

constexpr int most_short_operations = 32;  // of an element that may be code of its own for each row of a part

Expr let(const Rows& rows, Block& block, const char* word, const Expr& value) {
  const kernel::Symbol symbol = rows.layout().names.local(word);
  block.push_back({kernel::Let{symbol, value}});
  return name(symbol);
}

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

/// The elements of a part of a core.
void elements(const ReductionParts& parts, const Rows& rows, const Expr& part,
              const ReductionParts::Arrays& accumulators, ExpressionLowering& expressions, Block& block) {
  if (rows.rank() == 0) return parts.single(expressions, accumulators, block);
  if (rows.rank() == 1) {
    const auto [x0, x1] = columns(parts, rows, part, block);
    return parts.row(expressions, accumulators, x0, x1, block);
  }
  const Expr strips = let(rows, block, "strips", parts.strips_per_row()),
             of_part = let(rows, block, "rows", parts.rows_per_part()),
             row0 = let(rows, block, "row0", kernel::mul(kernel::div(part, strips), of_part));
  const kernel::Symbol row = rows.layout().names.local("row");
  For loop{LoopKind::Serial, row, row0, kernel::min(kernel::add(row0, of_part), rows.count()),
           rows.coordinates_of(name(row))};
  const auto [x0, x1] = columns(parts, rows, kernel::binary(ir::BinaryOp::Rem, part, strips), block);
  parts.row(expressions, accumulators, x0, x1, loop.body);
  block.push_back({std::move(loop)});
}

/// Parts whose columns have a thread each: strips side by side along x of the grid, and bands of their rows along y. The
/// loads of a part are under way together, if it has as many rows as most and little is computed for each.
void columns_of_threads(const ReductionParts& parts, const Rows& rows, bool is_short,
                        const ReductionParts::Arrays& accumulators, ExpressionLowering& expressions,
                        Block& block) {
  const Expr strips = let(rows, block, "strips", parts.strips_per_row()),
             of_band = let(rows, block, "rows", parts.rows_per_part()),
             bands = let(rows, block, "bands", kernel::parts(rows.count(), of_band));
  const kernel::Names& names = rows.layout().names;
  const kernel::Symbol strip = names.local("strip"), band = names.local("band"), row = names.local("row");
  For down{LoopKind::BlocksY, band, literal(0), bands, {}};
  Block& part = down.body;
  const Expr begin = kernel::min(kernel::mul(name(band), of_band), rows.count()),
             first = let(rows, part, "row0", begin),
             count = let(rows, part, "row_count", kernel::min(of_band, kernel::sub(rows.count(), first)));
  const auto each_row = [&](const std::function<Block()>& element) {
    const auto loop = [&](LoopKind kind, const Expr& of_rows) {
      Block work = rows.coordinates_of(kernel::add(first, name(row)));
      kernel::append(work, element());
      return Block{{For{kind, row, literal(0), of_rows, std::move(work)}}};
    };
    Block all;
    if (is_short) {
      const Expr usual = literal(parts.least_rows());
      all.push_back({kernel::If{kernel::binary(ir::BinaryOp::Eq, count, usual),
                                loop(LoopKind::Unrolled, usual), loop(LoopKind::Serial, count)}});
    } else {
      all = loop(LoopKind::Serial, count);
    }
    const Expr has_column = kernel::binary(ir::BinaryOp::Lt, parts.column(), rows.end(0));
    return Block{{kernel::If{has_column, std::move(all), {}}}};
  };
  parts.own_column(expressions, accumulators, each_row, part);
  parts.finish(expressions, accumulators, kernel::add(kernel::mul(name(band), strips), name(strip)), part);
  For across{LoopKind::BlocksX, strip, literal(0), strips, {}};
  const Expr x0 = kernel::add(rows.begin(0), kernel::mul(name(strip), literal(parts.columns_per_part())));
  across.body.push_back({kernel::Let{parts.x0(), x0}});
  across.body.push_back({std::move(down)});
  block.push_back({std::move(across)});
}

/// The kernel of a reduction that keeps no rows.
void lower_parts(const KernelContext& context, ReductionParts& parts) {
  const ir::Stage& stage = context.stage();
  const bool on_gpu = context.plan.is_of_blocks();
  kernel::Function function = parts.function(
      "_part", on_gpu ? "Parts of the elements of '" + stage.name + "', each combined by a block."
                      : "Parts [first, last) of the elements of '" + stage.name + "', each combined.");
  const Rows rows(stage.domain(), context.layout);
  std::vector<Expr> coords = rows.coords();
  if (!coords.empty()) coords[0] = parts.column();
  // Reads whose border matters are resolved at every element.
  const bool needs_borders = !analysis::interior_of(stage).is_everything();
  const Place place = on_gpu ? Place::Thread : needs_borders ? Place::Anywhere : Place::Interior;
  ExpressionLowering expressions(context, stage, place, coords);
  const auto accumulators =
      parts.accumulators([&](const std::string& wanted) { return expressions.claim(wanted); }, function.body);
  if (parts.has_columns()) {
    const analysis::Operations of_element = analysis::operations(stage);
    const bool is_short = of_element.alu + of_element.sfu <= most_short_operations;
    columns_of_threads(parts, rows, is_short, accumulators, expressions, function.body);
    return parts.launch_parts(std::move(function), parts.strips_per_row(), parts.strips_below());
  }
  const Variables& variables = context.layout.variables;
  const kernel::Symbol part = context.layout.names.local("part");
  For loop{LoopKind::Serial, part, name(variables.first), name(variables.last), {}};
  if (on_gpu)
    loop = {LoopKind::BlocksX, part, literal(0), let(rows, function.body, "parts", parts.count()), {}};
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
