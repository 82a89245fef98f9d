#include "lower/updates.h"

#include <algorithm>
#include <limits>

#include "analysis/interior.h"

namespace weft::lower {

namespace {

/// What an index is in 32 bits, if that is all that it has, and those of the box are as few; null otherwise.
const ir::Expr* small_index(const ir::Expr& index, const ir::Range& range) {
  const auto* cast = std::get_if<ir::Cast>(&index->op);
  if (!cast || cast->mode != ir::CastMode::Convert || is_float(cast->a->type.scalar)) return nullptr;
  const Scalar from = cast->a->type.scalar;
  const bool fits = size_of(from) < 4 || from == Scalar::I32;
  const bool is_known = range.min.is_constant(0) && range.extent.is_constant() &&
                        range.extent.constant() <= std::numeric_limits<std::int32_t>::max();
  return fits && is_known ? &cast->a : nullptr;
}

}  // namespace

ir::Value identity_of(BinaryOp op, Type type) {
  switch (op) {
    case BinaryOp::Mul: return ir::Value::integer(type, 1);
    case BinaryOp::Min: return ir::largest(type);
    case BinaryOp::Max: return ir::least(type);
    case BinaryOp::And: return ir::Value::integer(type, -1);
    default: return ir::Value::integer(type, 0);
  }
}

void place_updates(ExpressionLowering& expressions, const ir::Stage& stage, const Rows& bins,
                   const std::vector<PartOfBox>& parts, Block& block,
                   const std::function<void(const PlacedUpdate&)>& make) {
  for (const ir::Update& update : std::get<ir::Scatter>(stage.definition).updates) {
    PlacedUpdate placed;
    for (int d = 0; d < bins.rank(); ++d) {
      const kernel::Symbol name = expressions.claim("bin");
      const auto part =
          std::find_if(parts.begin(), parts.end(), [d](const PartOfBox& p) { return p.dim == d; });
      const bool is_divided = part != parts.end();
      if (const ir::Expr* small =
              !parts.empty() && !is_divided ? small_index(update.at[d], stage.box[d]) : nullptr) {
        const auto constant = [](std::int64_t v) { return kernel::constant(Scalar::I32, {.i = v}); };
        const Expr value = kernel::cast(ir::CastMode::Convert, Scalar::I32, expressions.lower(*small)[0]);
        block.push_back({kernel::Let{name, value}});
        const Expr at = kernel::name(name, Scalar::I32);
        const Expr extent = constant(stage.box[d].extent.constant());
        placed.inside =
            kernel::both(placed.inside, kernel::both(kernel::binary(BinaryOp::Le, constant(0), at),
                                                     kernel::binary(BinaryOp::Lt, at, extent)));
        placed.at.push_back(kernel::cast(ir::CastMode::Convert, Scalar::I64, at));
        continue;
      }
      block.push_back({kernel::Let{name, kernel::sub(expressions.lower(update.at[d])[0], bins.begin(d))}});
      const Expr at = kernel::name(name);
      placed.at.push_back(at);
      const auto* affine = std::get_if<ir::Quantity>(&update.at[d]->op);
      if (affine && (is_divided ? part->form == affine->value
                                : analysis::stays_inside(affine->value, stage.box[d], stage.domain())))
        continue;
      const Expr from = is_divided ? kernel::sub(part->from, bins.begin(d)) : literal(0),
                 to = is_divided ? kernel::sub(part->to, bins.begin(d)) : bins.extent(d);
      placed.inside = kernel::both(placed.inside, kernel::both(kernel::binary(BinaryOp::Le, from, at),
                                                               kernel::binary(BinaryOp::Lt, at, to)));
    }
    placed.value = expressions.lower(update.value);
    make(placed);
  }
}

std::pair<Expr, Expr> points_that_lead_to(const Rows& points, const analysis::Bands& bands,
                                          const ir::Affine& form, const Expr& from, const Expr& to) {
  ir::Scaled s;
  ir::as_scaled(form, bands.along, &s);
  const Expr rest = points.lower(s.rest);
  const auto numerator = [&](const Expr& index) {
    return kernel::sub(kernel::mul(index, literal(s.divisor)), rest);
  };
  const std::int64_t scale = std::abs(s.scale);
  const auto floor = [&](const Expr& e) {
    return scale == 1 ? e : kernel::index_call(kernel::IndexOp::FloorDiv, e, literal(scale));
  };
  // p >= (from * divisor - rest) / scale and p < (to * divisor - rest) / scale
  if (s.scale > 0) {
    const auto ceiling = [&](const Expr& e) { return floor(kernel::add(e, literal(scale - 1))); };
    return {ceiling(numerator(from)), ceiling(numerator(to))};
  }
  // -p >= … and -p < …
  const auto after = [&](const Expr& index) {
    return kernel::add(floor(kernel::sub(literal(0), numerator(index))), literal(1));
  };
  return {after(to), after(from)};
}

Block changed_pixel(const ir::Stage& stage, const kernel::Symbol& array, const Expr& place,
                    const Lanes& value, int lane_pitch, bool strict) {
  const BinaryOp op = std::get<ir::Scatter>(stage.definition).op;
  Block block;
  for (int l = 0; l < stage.type.lanes; ++l) {
    const Expr scalar = kernel::add(place, literal(l * lane_pitch));
    const Expr old = computable(kernel::load(array, stage.type.scalar, scalar));
    const Expr made = simplified_binary(op, old, computable(value[l]), strict);
    block.push_back({kernel::Store{array, scalar, stored_as(stage.type.scalar, made)}});
  }
  return block;
}

void lower_updates(ExpressionLowering& expressions, const ir::Stage& stage, const Rows& bins, Block& block,
                   const std::function<Block(Expr bin, const Lanes& value)>& change) {
  expressions.open(block);
  place_updates(expressions, stage, bins, {}, block, [&](const PlacedUpdate& update) {
    Expr bin = literal(0);
    for (int d = bins.rank(); d-- > 0;) bin = kernel::add(kernel::mul(bin, bins.extent(d)), update.at[d]);
    Block made = change(bin, update.value);
    if (update.inside)
      block.push_back({kernel::If{update.inside, std::move(made), {}}});
    else
      kernel::append(block, std::move(made));
  });
  expressions.close();
}

}  // namespace weft::lower
