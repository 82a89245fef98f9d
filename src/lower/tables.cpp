// Reads of tables at computed places. Processors gather 32 bits or more at a time; a loop that looks up bytes
// is not vectorised, and neither is what it computes to find them. So the places are found by a loop of their
// own, and bytes of small tables are looked up before the loop that uses them.
#include <unordered_set>

#include "ir/visit.h"
#include "lower/expressions.h"

namespace weft::lower {

namespace {

constexpr int gathered_bytes = 4;
constexpr int least_operations = 2;  // to find a place: fewer are not worth storing and loading it

int operations_in(const ir::Expr& e) {
  int count = 0;
  ir::visit({e}, [&](const ir::Expr& part) {
    const auto& op = part->op;
    count += std::holds_alternative<ir::Unary>(op) || std::holds_alternative<ir::Binary>(op) ||
             std::holds_alternative<ir::Select>(op);
  });
  return count;
}

/// Extents that are written down in the pipeline, from 0 on.
std::optional<std::int64_t> known_extent(const ir::Read& n) {
  const ir::Range& range = n.region[0];
  const bool is_whole = range == n.source->box[0] && range.min.is_constant() && range.min.constant() == 0;
  if (!is_whole || !range.extent.is_constant()) return std::nullopt;
  return range.extent.constant();
}

/// A table of so few bytes.
bool is_picked(const ir::Read& n, int most) {
  const auto extent = known_extent(n);
  return n.source->type == Type{Scalar::U8, 1} && extent && *extent <= most;
}

bool is_table_read(const ir::Read& n, int most_picked) {
  if (n.indices.size() != 1 || size_of(n.source->type.scalar) >= gathered_bytes) return false;
  const auto* place = std::get_if<ir::Expr>(&n.indices[0]);
  const bool is_found = !n.border || n.border->mode != ir::BorderMode::Constant;
  const auto extent = known_extent(n);
  return place && is_found && extent && *extent > 0 && *extent <= std::int64_t{1} << 30 &&
         (is_picked(n, most_picked) || operations_in(*place) >= least_operations);
}

}  // namespace

std::vector<const ir::Read*> ExpressionLowering::strip_tables(const std::vector<ir::Expr>& roots) {
  std::vector<const ir::Read*> tables;
  std::unordered_set<const ir::Node*> nodes;
  ir::visit(roots, [&](const ir::Expr& e) {  // operands first
    const auto* n = std::get_if<ir::Read>(&e->op);
    if (!n || !is_table_read(*n, limits().table) || !free_loops(e).empty()) return;
    bool is_nested = false;
    ir::visit({std::get<ir::Expr>(n->indices[0])},
              [&](const ir::Expr& inner) { is_nested |= nodes.count(inner.get()) > 0; });
    nodes.insert(e.get());
    if (!is_nested) tables.push_back(n);
  });
  return tables;
}

void ExpressionLowering::find_over_strip(const std::vector<const ir::Read*>& tables, kernel::Block& block,
                                         const Expr& count, int capacity) {
  kernel::For loop{kernel::LoopKind::Vector, i(), kernel::literal(0), count, {}};
  open(loop.body);
  for (const ir::Read* table : tables) {
    const Expr place = place_in_table(*table);
    const kernel::Symbol array = locals_.claim("place");
    block.push_back({kernel::LocalArray{array, place->type, capacity}});
    emit({kernel::Store{array, i_, place}});
    places_[table] = {array, place->type};
  }
  close();
  block.push_back({std::move(loop)});
  for (const ir::Read* table : tables) {
    if (!is_picked(*table, limits().table)) continue;
    const kernel::Symbol found = locals_.claim("found");
    block.push_back({kernel::LocalArray{found, Scalar::U8, capacity}});
    block.push_back({kernel::LookUp{found, layout_.arrays.at(table->source.get()).name,
                                    places_.at(table).array, *known_extent(*table), count}});
    looked_up_[table] = found;
  }
}

/// Its index in as few bits as the clamped index has; others in 32.
Expr ExpressionLowering::place_in_table(const ir::Read& n) {
  const auto& index = std::get<ir::Expr>(n.indices[0]);
  const Expr value = lower(index)[0];
  const Scalar type = value->type;
  const std::int64_t last = *known_extent(n) - 1;
  const bool clamps = n.border && n.border->mode == ir::BorderMode::Clamp;
  const bool fits = !is_float(type) && type != Scalar::Bool && size_of(type) <= gathered_bytes &&
                    last <= ir::largest({type, 1}).lane[0].i;
  if (clamps && fits) {
    const Expr below = kernel::binary(BinaryOp::Min, value, kernel::constant(type, {.i = last}));
    return kernel::binary(BinaryOp::Max, below, kernel::constant(type, {.i = 0}));
  }
  const Expr wide = kernel::cast(ir::CastMode::Convert, Scalar::I64, value);
  const Expr inside = n.border ? bordered_index(n, 0, wide) : wide;
  return kernel::cast(ir::CastMode::Convert, Scalar::I32, inside);
}

}  // namespace weft::lower
