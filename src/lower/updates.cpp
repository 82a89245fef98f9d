#include "lower/updates.h"

#include "analysis/interior.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::literal;

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
                   const std::optional<PartOfBox>& part, Block& block,
                   const std::function<void(const PlacedUpdate&)>& make) {
  for (const ir::Update& update : std::get<ir::Scatter>(stage.definition).updates) {
    PlacedUpdate placed;
    for (int d = 0; d < bins.rank(); ++d) {
      const std::string name = expressions.claim("bin");
      block.push_back({kernel::Let{name, kernel::sub(expressions.lower(update.at[d])[0], bins.begin(d))}});
      const Expr at = kernel::name(name);
      placed.at.push_back(at);
      const auto* affine = std::get_if<ir::Quantity>(&update.at[d]->op);
      const bool is_divided = part && part->dim == d;
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

void lower_updates(ExpressionLowering& expressions, const ir::Stage& stage, const Rows& bins, Block& block,
                   const std::function<Block(Expr bin, const Lanes& value)>& change) {
  expressions.open(block);
  place_updates(expressions, stage, bins, std::nullopt, block, [&](const PlacedUpdate& update) {
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
