// Short names for what the code of lanes is full of.
#pragma once

#include <utility>

#include "kernel/build.h"

namespace weft::lower {

inline kernel::Expr less(const kernel::Expr& a, const kernel::Expr& b) {
  return kernel::binary(ir::BinaryOp::Lt, a, b);
}
inline kernel::Expr at_most(const kernel::Expr& a, const kernel::Expr& b) {
  return kernel::binary(ir::BinaryOp::Le, a, b);
}
inline kernel::Expr equal(const kernel::Expr& a, const kernel::Expr& b) {
  return kernel::binary(ir::BinaryOp::Eq, a, b);
}
inline kernel::Expr between(const kernel::Expr& least, const kernel::Expr& value, const kernel::Expr& end) {
  return kernel::both(at_most(least, value), less(value, end));
}
inline kernel::Expr either(const kernel::Expr& a, const kernel::Expr& b) {
  return kernel::binary(ir::BinaryOp::Or, a, b);
}
inline kernel::Expr limited(const kernel::Expr& value, const kernel::Expr& least, const kernel::Expr& most) {
  return kernel::min(kernel::max(value, least), most);
}

inline kernel::Expr converted(Scalar to, const kernel::Expr& value) {
  return kernel::cast(ir::CastMode::Convert, to, value);
}
inline kernel::For unrolled(const kernel::Symbol& variable, int count, kernel::Block body) {
  return {kernel::LoopKind::Unrolled, variable, kernel::literal(0), kernel::literal(count), std::move(body)};
}

}  // namespace weft::lower
