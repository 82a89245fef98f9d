#include "plan/parts.h"

#include "kernel/build.h"
#include "kernel/evaluate.h"
#include "plan/block_strip.h"
#include "plan/core_strip.h"

namespace weft::plan {

namespace {

constexpr int most_accumulators =
    64;  // of a core: enough to hide the latency of an addition on wide registers

}  // namespace

Parts parts_of(const ir::Reduce& reduce, const Memory& memory) {
  int bytes = 0;
  for (const ir::Expr& e : reduce.element) bytes += size_of(e->type);
  Parts parts{part_pixels, 1, 1, false, bytes};
  if (!reduce.op.commutative || reduce.over.empty()) return parts;
  // The same on every GPU, so that sums are: any block divides them.
  parts.accumulators = memory.is_of_blocks() ? part_columns : most_accumulators;
  if (!memory.is_of_blocks() || reduce.over.size() < 2) return parts;
  return {part_columns, least_part_rows, part_columns, true, bytes};
}

kernel::Expr rows_of_part(const Parts& parts, const kernel::Expr& all_columns) {
  const kernel::Expr one = kernel::literal(1), columns = kernel::max(all_columns, one);
  return kernel::mul(kernel::max(kernel::div(kernel::literal(parts.columns), columns), one),
                     kernel::literal(parts.rows));
}

std::int64_t rows_of_part(const Parts& parts, std::int64_t all_columns) {
  return kernel::evaluate(rows_of_part(parts, kernel::literal(all_columns)), {});
}

}  // namespace weft::plan
