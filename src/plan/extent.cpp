#include "plan/extent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "kernel/evaluate.h"

namespace weft::plan {

using ir::BinaryOp;
using kernel::Expr;
using kernel::literal;

namespace {

/// Whether the sizes are all multiples of the last, up to the first.
bool are_multiples(const Extent& extent) {
  const auto count = static_cast<int>(extent.sizes.size());
  for (int i = 0; i < count; ++i) {
    if (extent.sizes[i] != extent.sizes.back() * (count - i)) return false;
  }
  return count > 3 && (extent.sizes.back() & (extent.sizes.back() - 1)) == 0;
}

/// The least size that is no less than `pixels`.
Expr no_less_than(const Expr& pixels, const Extent& extent) {
  const Expr least = literal(extent.sizes.front()), step = literal(extent.step);
  const Expr more = kernel::max(kernel::sub(pixels, least), literal(0));
  return kernel::add(least, kernel::mul(kernel::parts(more, step), step));
}

}  // namespace

Extent in_room(int least, int step, int room) { return {{least}, room, step}; }

Extent multiples(int step, int most, int enough) {
  Extent extent{{}, enough};
  for (int size = most / step * step; size > 0; size -= step) extent.sizes.push_back(size);
  return extent;
}

Expr with_size(const Extent& extent, const Expr& pixels, const Expr& side_by_side,
               const std::function<Expr(const Expr& size)>& given) {
  if (extent.is_all()) return given(pixels);
  if (extent.step > 0) {
    const Expr in_line =
        kernel::max(kernel::div(literal(extent.enough), kernel::max(side_by_side, literal(1))), literal(1));
    return given(no_less_than(kernel::parts(pixels, in_line), extent));
  }
  if (are_multiples(extent)) {
    const int step = extent.sizes.back(), most = extent.sizes.front();
    const Expr even = kernel::div(kernel::mul(pixels, side_by_side), literal(extent.enough));
    const Expr whole = kernel::binary(BinaryOp::And, even, literal(-step));
    return given(kernel::min(kernel::max(whole, literal(step)), literal(most)));
  }
  Expr result = given(literal(extent.sizes.back()));
  for (auto size = extent.sizes.rbegin() + 1; size != extent.sizes.rend(); ++size) {
    const Expr are_enough = kernel::binary(BinaryOp::Le, literal(std::int64_t{extent.enough} * *size),
                                           kernel::mul(pixels, side_by_side));
    result = kernel::select(are_enough, given(literal(*size)), result);
  }
  return result;
}

std::int64_t size_over(const Extent& extent, std::int64_t pixels, std::int64_t side_by_side) {
  const Expr size =
      with_size(extent, literal(pixels), literal(side_by_side), [](const Expr& s) { return s; });
  return kernel::evaluate(size, {});
}

Expr half_of(const Extent& extent, const Expr& size) {
  return no_less_than(kernel::parts(size, literal(2)), extent);
}

std::string to_string(const Extent& extent) {
  if (extent.is_all()) return "all";
  if (extent.step > 0)
    return fmt::format("{} + {}n for {} at most", extent.sizes.front(), extent.step, extent.enough);
  if (extent.is_fixed()) return std::to_string(extent.fixed());
  if (are_multiples(extent))
    return fmt::format("{}..{} for {}", extent.sizes.front(), extent.sizes.back(), extent.enough);
  return fmt::format("{} for {}", fmt::join(extent.sizes, "|"), extent.enough);
}

}  // namespace weft::plan
