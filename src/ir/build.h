// Makes expression nodes: finds their types by C++'s rules, inserts the conversions that C++ would make, and
// throws weft::Error for what has no meaning. Nothing else in Weft makes nodes with operators.
#pragma once

#include "ir/stage_ir.h"

namespace weft::ir {

Expr constant(Value value);
Expr constant(Type type, double value);
Expr quantity(Affine value);
Expr param_ref(std::shared_ptr<const Param> param);
Expr unary(UnaryOp op, Expr a);  ///< sqrt, exp, … of an integer are computed in float (f64 for 64 bits)
Expr binary(BinaryOp op, Expr a, Expr b);  ///< Integral promotion and usual conversions; a scalar meets lanes
Expr select(Expr condition, Expr a, Expr b);  ///< Likewise, but two operands of one type keep it
Expr cast(CastMode mode, Type to, Expr a);    ///< `to` has 1 lane (applied to each) or a's lanes
Expr pack(std::vector<Expr> lanes);
Expr lane(Expr a, int lane);
Expr read(Read read);
Expr coefficient(std::shared_ptr<const Loop> loop, std::shared_ptr<const Mask> mask);
Expr accumulated(std::shared_ptr<const Loop> loop, int accumulator, Type type);
Expr fold_result(std::shared_ptr<const Fold> fold, int accumulator);
Expr median(std::shared_ptr<const Loop> loop, Expr value);
Expr operand(int side, int component, Type type);
Expr step_number();
Expr is_true(Expr a);  ///< bool from any scalar: a != 0

/// The type in which C++ computes with one or two operands.
Type promoted(Type a);
Type common_type(Type a, Type b);

}  // namespace weft::ir
