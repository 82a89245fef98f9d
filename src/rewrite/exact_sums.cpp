#include "rewrite/exact_sums.h"

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

constexpr int most_fraction_bits = 16;

/// The same mask coefficient in every lane.
const ir::Coefficient* as_coefficient(const Expr& e) {
  if (const auto* pack = std::get_if<ir::Pack>(&e->op)) {
    for (const Expr& lane : pack->lanes) {
      if (lane != pack->lanes[0]) return nullptr;
    }
    return as_coefficient(pack->lanes[0]);
  }
  return std::get_if<ir::Coefficient>(&e->op);
}

/// The integer of at most 16 bits that `e` converts to float.
Expr as_small_integer(const Expr& e) {
  const auto* cast = std::get_if<ir::Cast>(&e->op);
  if (!cast || cast->mode != CastMode::Convert || e->type.scalar != Scalar::F32) return nullptr;
  const Scalar from = cast->a->type.scalar;
  return is_integer(from) && size_of(from) <= 2 ? cast->a : nullptr;
}

/// What a fold adds per tap: coefficient * value.
struct Product {
  const ir::Coefficient* coefficient;
  Expr value;
};

std::optional<Product> as_weighted_sum(const ir::Fold& fold) {
  if (fold.next.size() != 1) return std::nullopt;
  const auto* initial = std::get_if<ir::Const>(&fold.initial[0]->op);
  const auto* sum = std::get_if<ir::Binary>(&fold.next[0]->op);
  if (!initial || !sum || sum->op != BinaryOp::Add || !std::holds_alternative<ir::Accumulated>(sum->a->op))
    return std::nullopt;
  for (int l = 0; l < initial->value.type.lanes; ++l) {
    if (initial->value.as_double(l) != 0) return std::nullopt;
  }
  const auto* product = std::get_if<ir::Binary>(&sum->b->op);
  if (!product || product->op != BinaryOp::Mul) return std::nullopt;
  const ir::Coefficient* coefficient = as_coefficient(product->a);
  const Expr value = as_small_integer(product->b);
  if (!coefficient || !value || coefficient->mask->type.scalar != Scalar::F32) return std::nullopt;
  return Product{coefficient, value};
}

/// The least number of bits after the binary point that holds every coefficient, if few do.
std::optional<int> fraction_bits(const ir::Mask& mask) {
  for (int bits = 0; bits <= most_fraction_bits; ++bits) {
    bool all = true;
    for (const ir::Value& c : mask.coefficients) {
      const double scaled = std::ldexp(c.as_double(), bits);
      all &= scaled == std::nearbyint(scaled) && std::fabs(scaled) < 1 << 24;
    }
    if (all) return bits;
  }
  return std::nullopt;
}

/// An integer sum that stands for the float sum * 2^-bits, and the range of its values.
struct IntegerSum {
  Expr sum;
  int bits;
  double least, greatest;
};

std::optional<IntegerSum> integer_sum(const ir::Fold& fold) {
  const std::optional<Product> product = as_weighted_sum(fold);
  const std::optional<int> bits = product ? fraction_bits(*product->coefficient->mask) : std::nullopt;
  if (!bits) return std::nullopt;
  auto mask = std::make_shared<ir::Mask>(*product->coefficient->mask);
  mask->type.scalar = Scalar::I32;
  const Type pixel = product->value->type;
  const double low = ir::least(pixel).as_double(), high = ir::largest(pixel).as_double();
  IntegerSum result{nullptr, *bits, 0, 0};
  for (ir::Value& c : mask->coefficients) {
    const double scaled = std::ldexp(c.as_double(), *bits);
    c = ir::Value::real(mask->type, scaled);
    result.least += std::min(scaled * low, scaled * high);
    result.greatest += std::max(scaled * low, scaled * high);
  }
  // Every partial sum lies between the two, as each term's range holds 0 or both bounds have its sign.
  if (low > 0 || high < 0 || result.least <= -(1 << 24) || result.greatest >= 1 << 24) return std::nullopt;
  const Type type = pixel.lanes == 1 ? Type{Scalar::I32, 1} : Type{Scalar::I32, pixel.lanes};
  auto integer = std::make_shared<ir::Fold>();
  integer->loop = fold.loop;
  integer->initial = {ir::constant(ir::Value::integer(type, 0))};
  integer->next = {ir::binary(BinaryOp::Add, ir::accumulated(fold.loop, 0, type),
                              ir::binary(BinaryOp::Mul, ir::coefficient(fold.loop, mask), product->value))};
  result.sum = ir::fold_result(std::move(integer), 0);
  return result;
}

class ExactSums {
 public:
  Expr operator()(const Expr& e) {
    if (const auto* result = std::get_if<ir::FoldResult>(&e->op))
      return float_from_integer_sum(*result, e->type);
    if (const auto* cast = std::get_if<ir::Cast>(&e->op)) return rounded_by_shift(*cast, e->type);
    return nullptr;
  }

 private:
  /// A fold → float(integer fold) * 2^-bits.
  Expr float_from_integer_sum(const ir::FoldResult& result, Type type) {
    const std::optional<IntegerSum> integer = integer_sum(*result.fold);
    if (!integer) return nullptr;
    const Expr value = ir::cast(CastMode::Convert, type.lane(), integer->sum);
    const Expr scaled =
        integer->bits == 0
            ? value
            : ir::binary(BinaryOp::Mul, value, ir::constant(type.lane(), std::ldexp(1.0, -integer->bits)));
    sums_[scaled.get()] = *integer;
    kept_.push_back(scaled);
    return scaled;
  }

  /// saturate(float(s) * 2^-bits) → saturate((s + 2^(bits-1) - 1 + ((s >> bits) & 1)) >> bits): half to even.
  Expr rounded_by_shift(const ir::Cast& cast, Type type) {
    const auto known = sums_.find(cast.a.get());
    if (cast.mode != CastMode::Saturate || known == sums_.end() || !is_integer(type.scalar)) return nullptr;
    const IntegerSum& s = known->second;
    Expr rounded = s.sum;
    if (s.bits > 0) {
      const Expr odd =
          ir::binary(BinaryOp::And, ir::binary(BinaryOp::Shr, s.sum, integer(s.bits)), integer(1));
      const Expr biased =
          ir::binary(BinaryOp::Add, ir::binary(BinaryOp::Add, s.sum, integer((1 << (s.bits - 1)) - 1)), odd);
      rounded = ir::binary(BinaryOp::Shr, biased, integer(s.bits));
    }
    const bool fits = std::ldexp(s.least, -s.bits) >= ir::least(type).as_double() &&
                      std::ldexp(s.greatest, -s.bits) <= ir::largest(type).as_double();
    return ir::cast(fits ? CastMode::Convert : CastMode::Saturate, type.lane(), rounded);
  }

  static Expr integer(std::int64_t value) {
    return ir::constant(ir::Value::integer(Type{Scalar::I32, 1}, value));
  }

  std::unordered_map<const ir::Node*, IntegerSum> sums_;
  std::vector<Expr> kept_;  // keys of sums_ stay alive
};

}  // namespace

ir::Pipeline exact_sums(const ir::Pipeline& pipeline) {
  return rewrite_stages(pipeline, [](const ir::Stage&) {
    auto rule = std::make_shared<ExactSums>();
    return [rule](const Expr& e) { return (*rule)(e); };
  });
}

}  // namespace weft::rewrite
