#include "ir/affine.h"

#include <algorithm>
#include <numeric>

namespace weft::ir {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a < 0); }

bool FloorDiv::operator==(const FloorDiv& o) const {
  return divisor == o.divisor && *numerator == *o.numerator;
}

Affine& Affine::add(const Atom& atom, std::int64_t times) {
  if (times == 0) return *this;
  const auto same =
      std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) { return term.atom == atom; });
  if (same == terms_.end()) {
    terms_.push_back({atom, times});
  } else if ((same->factor += times) == 0) {
    terms_.erase(same);
  }
  return *this;
}

Affine& Affine::add(const Affine& o, std::int64_t times) {
  if (&o == this) return *this *= 1 + times;
  constant_ += times * o.constant_;
  for (const Term& term : o.terms_) add(term.atom, times * term.factor);
  return *this;
}

Affine& Affine::operator*=(std::int64_t factor) {
  if (factor == 0) return *this = Affine();
  constant_ *= factor;
  for (Term& term : terms_) term.factor *= factor;
  return *this;
}

bool Affine::operator==(const Affine& o) const {
  return constant_ == o.constant_ && terms_.size() == o.terms_.size() &&
         std::all_of(terms_.begin(), terms_.end(), [&](const Term& t) {
           return std::find(o.terms_.begin(), o.terms_.end(), t) != o.terms_.end();
         });
}

Affine Affine::floor_div(std::int64_t divisor) const {
  // floor((floor(A/d) + k) / e) = floor((A + k*d) / (d*e))
  if (terms_.size() == 1 && terms_[0].factor == 1) {
    if (const auto* inner = std::get_if<FloorDiv>(&terms_[0].atom)) {
      return (*inner->numerator + constant_ * inner->divisor).floor_div(inner->divisor * divisor);
    }
  }
  // What divides comes out of the floor: floor((2*x + 3) / 2) = x + floor(3 / 2).
  Affine whole(ir::floor_div(constant_, divisor)),
      rest(constant_ - ir::floor_div(constant_, divisor) * divisor);
  for (const Term& term : terms_) {
    if (term.factor % divisor == 0)
      whole.add(term.atom, term.factor / divisor);
    else
      rest.add(term.atom, term.factor);
  }
  if (rest.is_constant()) return whole;
  std::int64_t common = divisor;
  for (const Term& term : rest.terms_) common = std::gcd(common, term.factor);
  if (common > 1) {
    for (Term& term : rest.terms_) term.factor /= common;
    rest.constant_ = ir::floor_div(rest.constant_, common);
    divisor /= common;
  }
  return divisor == 1 ? whole + rest
                      : whole + Affine(Atom(FloorDiv{std::make_shared<Affine>(std::move(rest)), divisor}));
}

Affine Affine::substitute(const std::function<Affine(const Atom&)>& with) const {
  Affine result(constant_);
  for (const Term& term : terms_) {
    const auto* floor = std::get_if<FloorDiv>(&term.atom);
    result.add(floor ? floor->numerator->substitute(with).floor_div(floor->divisor) : with(term.atom),
               term.factor);
  }
  return result;
}

std::int64_t Affine::evaluate(const std::function<std::int64_t(const Atom&)>& value_of) const {
  std::int64_t result = constant_;
  for (const Term& term : terms_) {
    const auto* floor = std::get_if<FloorDiv>(&term.atom);
    result += term.factor * (floor ? ir::floor_div(floor->numerator->evaluate(value_of), floor->divisor)
                                   : value_of(term.atom));
  }
  return result;
}

bool Affine::mentions(const std::function<bool(const Atom&)>& predicate) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    const auto* floor = std::get_if<FloorDiv>(&term.atom);
    return floor ? floor->numerator->mentions(predicate) : predicate(term.atom);
  });
}

std::string Affine::to_string(const std::function<std::string(const Atom&)>& name) const {
  std::string text;
  for (const Term& term : terms_) {
    const auto* floor = std::get_if<FloorDiv>(&term.atom);
    std::string atom = name(term.atom);
    if (floor) {
      const Affine& n = *floor->numerator;
      const bool simple = n.terms_.size() == 1 && n.constant_ == 0 && n.terms_[0].factor == 1;
      atom =
          (simple ? n.to_string(name) : "(" + n.to_string(name) + ")") + "/" + std::to_string(floor->divisor);
    }
    const std::int64_t magnitude = term.factor < 0 ? -term.factor : term.factor;
    const std::string product = magnitude == 1
                                    ? (floor && text.empty() && term.factor < 0 ? "(" + atom + ")" : atom)
                                    : std::to_string(magnitude) + "*" + (floor ? "(" + atom + ")" : atom);
    if (text.empty()) {
      text = (term.factor < 0 ? "-" : "") + product;
    } else {
      text += (term.factor < 0 ? " - " : " + ") + product;
    }
  }
  if (text.empty()) return std::to_string(constant_);
  if (constant_ != 0)
    text += (constant_ < 0 ? " - " : " + ") + std::to_string(constant_ < 0 ? -constant_ : constant_);
  return text;
}

std::string Affine::to_string() const { return to_string(name_of); }

std::string dim_name(int dim) {
  constexpr const char* names[] = {"x", "y", "z", "w"};
  return dim < 4 ? names[dim] : "d" + std::to_string(dim);
}

std::string name_of(const Atom& atom) {
  if (const auto* coord = std::get_if<Coord>(&atom)) return dim_name(coord->dim);
  if (const auto* tap = std::get_if<TapCoord>(&atom)) return "t." + dim_name(tap->dim);
  if (const auto* size = std::get_if<Size>(&atom)) {
    constexpr const char* names[] = {"w", "h", "d"};
    return size->image + "." + (size->dim < 3 ? names[size->dim] : "n" + std::to_string(size->dim));
  }
  return "";
}

bool mentions_coord(const Affine& a, int dim) {
  return a.mentions([dim](const Atom& atom) {
    const auto* coord = std::get_if<Coord>(&atom);
    return coord && coord->dim == dim;
  });
}

bool mentions_tap(const Affine& a) {
  return a.mentions([](const Atom& atom) { return std::holds_alternative<TapCoord>(atom); });
}

Affine at_taps(const Affine& a, const KnownTaps& known) {
  return a.substitute([&](const Atom& atom) {
    const auto* tap = std::get_if<TapCoord>(&atom);
    const std::optional<std::int64_t> number = tap ? known(*tap) : std::nullopt;
    return number ? Affine(*number) : Affine(atom);
  });
}

bool as_scaled(const Affine& a, int dim, Scaled* out) {
  Affine rest(a.constant());
  std::int64_t scale = 0;
  const FloorDiv* floor = nullptr;
  for (const auto& term : a.terms()) {
    const auto* coord = std::get_if<Coord>(&term.atom);
    const auto* inner = std::get_if<FloorDiv>(&term.atom);
    if (coord && coord->dim == dim) {
      scale = term.factor;
    } else if (inner && mentions_coord(*inner->numerator, dim)) {
      if (floor || term.factor != 1) return false;
      floor = inner;
    } else {
      rest.add(term.atom, term.factor);
    }
  }
  if (!floor) {
    *out = {scale, rest, 1};
    return true;
  }
  if (scale != 0) return false;
  Scaled inside;
  if (!as_scaled(*floor->numerator, dim, &inside) || inside.divisor != 1) return false;
  *out = {inside.scale, inside.rest + rest * floor->divisor, floor->divisor};
  return true;
}

bool is_coord(const Affine& a, int dim) { return a == Affine(Atom(Coord{dim})); }

}  // namespace weft::ir
