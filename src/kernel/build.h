// Makes kernel expressions, folding constants of index arithmetic as it goes.
#pragma once

#include <optional>

#include "kernel/ir.h"

namespace weft::kernel {

Expr literal(std::int64_t value);  ///< i64
Expr constant(Scalar type, ir::Number value);
Expr name(Symbol name, Scalar type = Scalar::I64);
Expr unary(ir::UnaryOp op, Expr a);
Expr binary(ir::BinaryOp op, Expr a, Expr b);
Expr select(Expr condition, Expr a, Expr b);
Expr cast(ir::CastMode mode, Scalar to, Expr a);
/// The whole part of a float that surely is within the integer type, or NaN.
Expr fitting_cast(Scalar to, Expr a);
Expr index_call(IndexOp op, Expr a, Expr b);
Expr half_of_sum(Expr a, Expr b);
Expr load(Symbol array, Scalar type, Expr index);

/// x + c or x - c of i64, split; c is 0 for anything else.
std::pair<Expr, std::int64_t> split_constant(const Expr& e);
/// An integer and a constant of its type.
Expr offset(Expr e, std::int64_t by);
Expr add(Expr a, Expr b);
Expr sub(Expr a, Expr b);
Expr mul(Expr a, Expr b);
Expr div(Expr a, Expr b);  ///< Of non-negative numbers, or truncated.
/// How many parts of a size make up an extent.
Expr parts(const Expr& extent, const Expr& size);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr min(const std::vector<Expr>& values);  ///< Of one at least.
Expr max(const std::vector<Expr>& values);
Expr both(Expr a, Expr b);  ///< Logical and; either may be null, meaning true.

void append(Block& block, Block more);

/// Whether `e` is the integer `value`.
bool is_literal(const Expr& e, std::int64_t value);
/// The value of an integer constant.
std::optional<std::int64_t> literal_value(const Expr& e);
bool same(const Expr& a, const Expr& b);  ///< Structurally equal.

}  // namespace weft::kernel
