#include "lower/steps.h"

#include <bit>

namespace weft::lower {

Expr Steps::origin(int d) const { return rows_.lower(box_[d].min.floor_div(step_[d]) * step_[d]); }

Expr Steps::extent(int d) const {
  return step_[d] == 1 ? rows_.extent(d) : kernel::sub(rows_.end(d), origin(d));
}

Expr Steps::whole(const Expr& end, int d) const {
  if (step_[d] == 1) return end;
  return kernel::binary(BinaryOp::And, kernel::add(end, literal(step_[d] - 1)), literal(-step_[d]));
}

Expr Steps::at_rate(const Expr& coordinate, int d, int rate) const {
  if (rate >= step_[d]) return kernel::mul(coordinate, literal(rate / step_[d]));
  const int shift = std::countr_zero(static_cast<unsigned>(step_[d] / rate));
  return kernel::binary(BinaryOp::Shr, coordinate, literal(shift));
}

}  // namespace weft::lower
