#include "plan/extent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <optional>

#include "kernel/evaluate.h"

namespace weft::plan {

using ir::BinaryOp;
using kernel::Expr;
using kernel::literal;

namespace {

/// By which sizes differ that are multiples of it: all there are from the last up to the first.
std::optional<int> step_of(const Extent& extent) {
  const std::size_t count = extent.sizes.size();
  if (count < 4) return std::nullopt;
  const int step = extent.sizes[count - 2] - extent.sizes[count - 1];
  for (std::size_t i = 1; i < count; ++i) {
    if (extent.sizes[i - 1] - extent.sizes[i] != step) return std::nullopt;
  }
  const bool is_power = step > 0 && (step & (step - 1)) == 0;
  return is_power && extent.sizes.back() % step == 0 ? std::optional(step) : std::nullopt;
}

/// The least size that is no less than `pixels`.
Expr no_less_than(const Expr& pixels, const Extent& extent) {
  const Expr least = literal(extent.sizes.front()), step = literal(extent.step);
  const Expr more = kernel::max(kernel::sub(pixels, least), literal(0));
  return kernel::add(least, kernel::mul(kernel::parts(more, step), step));
}

}  // namespace

Extent in_room(int least, int step, int room) { return {{least}, room, step}; }

Extent multiples(int step, int least, int most, int enough) {
  Extent extent{{}, enough};
  for (int size = most / step * step; size >= least; size -= step) extent.sizes.push_back(size);
  return extent;
}

Expr with_size(const Extent& extent, const Expr& pixels, const Expr& side_by_side,
               const std::function<Expr(const Expr& size)>& given, const Expr& room) {
  if (extent.is_all()) return given(pixels);
  if (extent.step > 0) {
    const Expr tiles = room ? room : literal(extent.enough);
    const Expr in_line = kernel::max(kernel::div(tiles, kernel::max(side_by_side, literal(1))), literal(1));
    return given(no_less_than(kernel::parts(pixels, in_line), extent));
  }
  if (const auto step = step_of(extent)) {
    const int least = extent.sizes.back(), most = extent.sizes.front();
    const Expr even = kernel::div(kernel::mul(pixels, side_by_side), literal(extent.enough));
    const Expr whole = kernel::binary(BinaryOp::And, even, literal(-*step));
    return given(kernel::min(kernel::max(whole, literal(least)), literal(most)));
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
  if (const auto step = step_of(extent)) {
    const std::string by = *step == extent.sizes.back() ? "" : fmt::format(" by {}", *step);
    return fmt::format("{}..{}{} for {}", extent.sizes.front(), extent.sizes.back(), by, extent.enough);
  }
  return fmt::format("{} for {}", fmt::join(extent.sizes, "|"), extent.enough);
}

}  // namespace weft::plan
