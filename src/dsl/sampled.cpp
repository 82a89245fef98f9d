#include "dsl/sampled.h"

#include <algorithm>

#include "ir/stage_ir.h"

namespace weft::dsl {

Accessor from_zero(const Accessor& source) {
  const ir::Box& box = source.source().node()->box;
  const bool begins_at_zero =
      std::all_of(box.begin(), box.end(), [](const ir::Range& range) { return range.min.is_constant(0); });
  if (begins_at_zero || !source.origin().empty()) return source;
  std::vector<Index> min;
  for (const ir::Range& range : box) min.emplace_back(Index(range.min));
  return source.source().crop(min, source.size()).border(source.border_mode().value());
}

Expr read_at(const Accessor& source, const std::vector<At>& at) {
  if (at.size() == 1) return source(at[0]);
  if (at.size() == 2) return source(at[0], at[1]);
  return source(at[0], at[1], at[2]);
}

}  // namespace weft::dsl
