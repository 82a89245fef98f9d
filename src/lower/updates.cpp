#include "lower/updates.h"

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

void lower_updates(ExpressionLowering& expressions, const ir::Scatter& scatter, const Rows& bins,
                   Block& block, const std::function<Block(Expr bin, const Lanes& value)>& change) {
  expressions.open(block);
  for (const ir::Update& update : scatter.updates) {
    Expr inside, bin = literal(0);
    std::vector<Expr> at;
    for (int d = 0; d < bins.rank(); ++d) {
      const std::string name = expressions.claim("bin");
      block.push_back({kernel::Let{name, kernel::sub(expressions.lower(update.at[d])[0], bins.begin(d))}});
      at.push_back(kernel::name(name));
      inside = kernel::both(inside, kernel::both(kernel::binary(BinaryOp::Le, literal(0), at[d]),
                                                 kernel::binary(BinaryOp::Lt, at[d], bins.extent(d))));
    }
    for (int d = bins.rank(); d-- > 0;) bin = kernel::add(kernel::mul(bin, bins.extent(d)), at[d]);
    Block made = change(bin, expressions.lower(update.value));
    if (inside)
      block.push_back({kernel::If{inside, std::move(made), {}}});
    else
      kernel::append(block, std::move(made));
  }
  expressions.close();
}

}  // namespace weft::lower
