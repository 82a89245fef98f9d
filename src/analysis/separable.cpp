#include "analysis/separable.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "analysis/interior.h"
#include "ir/visit.h"
#include "ir/window.h"

namespace weft::analysis {

using ir::BinaryOp;
using ir::Expr;

namespace {

constexpr int least_extent = 3;  // below, a column costs as much as it saves

/// How far taps are apart along x, by the first read that moves with them.
std::int64_t stride_of(const Expr& value) {
  std::int64_t stride = 0;
  ir::visit(value, [&](const Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e->op);
    const auto* index = read && !read->indices.empty() ? std::get_if<ir::Affine>(&read->indices[0]) : nullptr;
    if (!index || stride != 0) return;
    for (const auto& [atom, factor] : index->terms()) {
      if (std::holds_alternative<ir::TapCoord>(atom)) stride = factor;
    }
  });
  return std::max<std::int64_t>(stride, 1);
}

/// Whether `value` depends on the pixel and the tap only through reads at the tap's offset.
bool is_function_of_tap(const Expr& value, const ir::Loop& loop, std::int64_t stride) {
  bool only = true, reads = false;
  ir::visit(value, [&](const Expr& e) {
    if (const auto* read = std::get_if<ir::Read>(&e->op)) {
      reads = true;
      only &= is_at_tap(*read, loop, stride) && access_of(*read) == Access::Direct;
    }
    only &= !std::holds_alternative<ir::Quantity>(e->op) && !std::holds_alternative<ir::Coefficient>(e->op) &&
            !std::holds_alternative<ir::Accumulated>(e->op) &&
            !std::holds_alternative<ir::FoldResult>(e->op) && !std::holds_alternative<ir::Median>(e->op);
  });
  return only && reads;
}

bool starts_at_identity(const ir::Fold& fold, BinaryOp op) {
  const auto* initial = std::get_if<ir::Const>(&fold.initial[0]->op);
  if (!initial) return false;
  const Type type = initial->value.type;
  return initial->value == (op == BinaryOp::Add   ? ir::Value::integer(type, 0)
                            : op == BinaryOp::Min ? ir::largest(type)
                                                  : ir::least(type));
}

struct WindowBox {
  int low_x, low_y, width, height;

  std::size_t pixels() const { return static_cast<std::size_t>(width) * height; }
  std::size_t at(const std::vector<int>& point) const {
    return static_cast<std::size_t>(point[1] - low_y) * width + (point[0] - low_x);
  }
};
/// The least box around the taps.
WindowBox box_around(const ir::Domain& domain) {
  auto low = domain.points.at(0), high = low;
  for (const auto& point : domain.points) {
    for (int d = 0; d < 2; ++d) low[d] = std::min(low[d], point[d]), high[d] = std::max(high[d], point[d]);
  }
  return {low[0], low[1], high[0] - low[0] + 1, high[1] - low[1] + 1};
}

/// The product of the tap's own weight and another factor, if it is one.
const ir::Binary* weighted(const Expr& value, const ir::Loop& loop) {
  const auto* product = std::get_if<ir::Binary>(&value->op);
  const auto* coefficient =
      product && product->op == BinaryOp::Mul ? std::get_if<ir::Coefficient>(&product->a->op) : nullptr;
  return coefficient && coefficient->loop.get() == &loop ? product : nullptr;
}

/// The weights as column x row: exact for integers, to rounding for floats.
bool factorise(const std::vector<double>& weights, const WindowBox& w, bool integers,
               std::vector<double>& column, std::vector<double>& row) {
  const auto at = [&](int x, int y) { return weights[static_cast<std::size_t>(y) * w.width + x]; };
  int pivot = 0;
  for (int i = 1; i < w.width * w.height; ++i) {
    if (std::fabs(weights[i]) > std::fabs(weights[pivot])) pivot = i;
  }
  const int px = pivot % w.width, py = pivot / w.width;
  if (weights[pivot] == 0) return false;
  double scale = weights[pivot];
  if (integers) {
    std::int64_t common = 0;
    for (int x = 0; x < w.width; ++x) common = std::gcd(common, static_cast<std::int64_t>(at(x, py)));
    scale = std::copysign(static_cast<double>(common), weights[pivot]);
  }
  row.clear();
  column.clear();
  for (int x = 0; x < w.width; ++x) row.push_back(at(x, py) / scale);
  for (int y = 0; y < w.height; ++y) column.push_back(at(px, y) / row[px]);
  const double tolerance = integers ? 0 : 1e-6 * std::fabs(weights[pivot]);
  for (int y = 0; y < w.height; ++y) {
    if (integers && column[y] != std::nearbyint(column[y])) return false;
    for (int x = 0; x < w.width; ++x) {
      if (std::fabs(column[y] * row[x] - at(x, y)) > tolerance) return false;
    }
  }
  return true;
}

/// A 16-bit type if every partial sum of a column fits; such columns fill twice the lanes.
Scalar narrowest_column(const Separable& s, Scalar type) {
  const auto* cast = std::get_if<ir::Cast>(&s.value->op);
  if (type != Scalar::I32 || s.op != BinaryOp::Add || !cast || size_of(cast->a->type.scalar) > 2 ||
      !is_integer(cast->a->type.scalar)) {
    return type;
  }
  const double low = ir::least(cast->a->type).as_double(), high = ir::largest(cast->a->type).as_double();
  double least = 0, greatest = 0;
  for (const ir::Value& c : s.column) {
    least += std::min(c.as_double() * low, c.as_double() * high);
    greatest += std::max(c.as_double() * low, c.as_double() * high);
  }
  if (least >= -32768 && greatest <= 32767) return Scalar::I16;
  return least >= 0 && greatest <= 65535 ? Scalar::U16 : type;
}

struct SeparableOrWhy {
  std::optional<Separable> separable;
  std::string why;
};

SeparableOrWhy separable_or_why(const ir::Fold& fold, bool strict, bool or_line = false) {
  const auto not_since = [](const char* why) { return SeparableOrWhy{std::nullopt, why}; };
  if (fold.next.size() != 1) return not_since("it has several accumulators");
  const auto* step = std::get_if<ir::Binary>(&fold.next[0]->op);
  const bool is_sum = step && step->op == BinaryOp::Add;
  if (!step || (!is_sum && step->op != BinaryOp::Min && step->op != BinaryOp::Max))
    return not_since("it is no sum, minimum or maximum");
  const ir::Domain& domain = fold.loop->domain;
  if (domain.rank != 2) return not_since("it is no rectangle");
  const WindowBox window = box_around(domain);
  const ir::Binary* product = is_sum ? weighted(step->b, *fold.loop) : nullptr;
  // Of a weighted sum taps may be missing: their weights are 0.
  if (domain.points.size() != window.pixels() && !product) return not_since("it is no rectangle");
  const bool is_line = window.width == 1 || window.height == 1;
  if ((window.width < least_extent || window.height < least_extent) && !(or_line && is_line))
    return not_since("it has fewer than 3 columns or rows");
  const auto* so_far = std::get_if<ir::Accumulated>(&step->a->op);
  if (!so_far || so_far->loop != fold.loop || !starts_at_identity(fold, step->op))
    return not_since("it begins with a value of its own");
  const Type type = fold.next[0]->type;
  if (is_float(type.scalar) && strict) return not_since("strict floats keep their order");
  if (type.scalar == Scalar::F16) return not_since("half floats are rounded after each tap");

  Separable result{step->op, step->b, {}, {}, window.low_x, window.low_y, 1, type.scalar};
  std::vector<double> weights(window.pixels(), product ? 0.0 : 1.0), column, row;
  if (product) {
    const ir::Mask& mask = *std::get<ir::Coefficient>(product->a->op).mask;
    for (const auto& point : domain.points)
      weights[window.at(point)] = ir::coefficient_at(mask, point).as_double();
    result.value = product->b;
  }
  result.stride = static_cast<int>(stride_of(result.value));
  if (!is_function_of_tap(result.value, *fold.loop, result.stride))
    return not_since("a tap's value depends on more than the pixel there");
  if (!factorise(weights, window, !is_float(type.scalar), column, row))
    return not_since("its weights are no column times a row");
  for (double c : column) result.column.push_back(ir::Value::real(type.lane(), c));
  for (double r : row) result.row.push_back(ir::Value::real(type.lane(), r));
  result.column_type = narrowest_column(result, type.scalar);
  return {std::move(result), ""};
}

}  // namespace

bool loads_little(const ir::Fold& fold) {
  if (fold.next.size() != 1 || fold.loop->domain.points.size() > 9) return false;
  const auto* step = std::get_if<ir::Binary>(&fold.next[0]->op);
  if (!step || step->op != BinaryOp::Add || !is_float(fold.next[0]->type.scalar)) return false;
  const ir::Binary* product = weighted(step->b, *fold.loop);
  return std::holds_alternative<ir::Read>((product ? product->b : step->b)->op);
}

std::optional<Separable> as_separable(const ir::Fold& fold, bool strict) {
  return separable_or_why(fold, strict).separable;
}

std::optional<Separable> as_separable_or_line(const ir::Fold& fold, bool strict) {
  return separable_or_why(fold, strict, true).separable;
}

std::string why_not_separable(const ir::Fold& fold, bool strict) {
  return separable_or_why(fold, strict).why;
}

}  // namespace weft::analysis
