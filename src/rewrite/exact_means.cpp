#include "rewrite/exact_means.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {

using ir::BinaryOp;
using ir::CastMode;
using ir::Expr;

namespace {

constexpr std::int64_t most_of_16_bits = 65535;

/// Both ends included; no lane has a value outside.
struct Range {
  std::int64_t least, greatest;
};

Range of_type(Type type) { return {ir::least(type).as_integer(), ir::largest(type).as_integer()}; }

std::optional<Range> range_of(const Expr& e);

/// 0 + value + value ..., once per tap.
std::optional<Range> range_of_sum(const ir::Fold& fold) {
  if (fold.next.size() != 1) return std::nullopt;
  const auto* initial = std::get_if<ir::Const>(&fold.initial[0]->op);
  const auto* step = std::get_if<ir::Binary>(&fold.next[0]->op);
  if (!initial || !(initial->value == ir::Value::integer(initial->value.type, 0))) return std::nullopt;
  if (!step || step->op != BinaryOp::Add || !std::holds_alternative<ir::Accumulated>(step->a->op))
    return std::nullopt;
  const std::optional<Range> tap = range_of(step->b);
  if (!tap || tap->least < 0) return std::nullopt;
  return Range{0, tap->greatest * static_cast<std::int64_t>(fold.loop->domain.points.size())};
}

/// Of an integer that is not negative and never wraps: sums over windows, and what types of 16 bits hold.
std::optional<Range> range_of(const Expr& e) {
  if (!is_integer(e->type.scalar)) return std::nullopt;
  std::optional<Range> range;
  const auto* fold = std::get_if<ir::FoldResult>(&e->op);
  const auto* cast = std::get_if<ir::Cast>(&e->op);
  if (fold) {
    range = range_of_sum(*fold->fold);
  } else if (cast && cast->mode == CastMode::Convert) {
    range = range_of(cast->a);
  }
  if (range) {
    const Range held = of_type(e->type);
    if (held.least <= range->least && range->greatest <= held.greatest) return range;
  }
  if (size_of(e->type.scalar) <= 2) return of_type(e->type);
  return std::nullopt;
}

bool is_odd_divisor(double d) { return d >= 3 && d <= most_of_16_bits && std::fmod(d, 2) == 1; }

Expr divided_in_integers(const Expr& e) {
  const auto* cast = std::get_if<ir::Cast>(&e->op);
  if (!cast || cast->mode != CastMode::Saturate || !is_integer(e->type.scalar)) return nullptr;
  const auto* quotient = std::get_if<ir::Binary>(&cast->a->op);
  if (!quotient || quotient->op != BinaryOp::Div || cast->a->type.scalar != Scalar::F32) return nullptr;
  const auto* real = std::get_if<ir::Cast>(&quotient->a->op);
  const std::optional<double> number = ir::as_number(quotient->b);
  if (!real || real->mode != CastMode::Convert || !number || !is_odd_divisor(*number)) return nullptr;
  const std::optional<Range> sum = range_of(real->a);
  const auto divisor = static_cast<std::int64_t>(*number);
  if (!sum || sum->least < 0 || sum->greatest + divisor / 2 > most_of_16_bits) return nullptr;

  const auto integer = [](std::int64_t value) {
    return ir::constant(ir::Value::integer(Type{Scalar::I32, 1}, value));
  };
  const Expr biased = ir::binary(BinaryOp::Add, real->a, integer(divisor / 2));
  const Expr narrow = ir::cast(CastMode::Convert, Type{Scalar::U16, 1}, biased);
  const bool fits = (sum->greatest + divisor / 2) / divisor <= of_type(e->type).greatest;
  return ir::cast(fits ? CastMode::Convert : CastMode::Saturate, e->type.lane(),
                  ir::binary(BinaryOp::Div, narrow, integer(divisor)));
}

}  // namespace

ir::Pipeline exact_means(const ir::Pipeline& pipeline) {
  return rewrite_stages(pipeline, [](const ir::Stage&) -> Rule { return divided_in_integers; });
}

}  // namespace weft::rewrite
