// Global operators: reductions to one value, and scattering into bins.
#pragma once

#include <weft/stage.h>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// The points that a global operator runs over: all of an image or stage, a crop of one, or any box.
class Over {
 public:
  Over(const Source& source);                // NOLINT(google-explicit-constructor)
  Over(const Accessor& accessor);            // NOLINT: a crop runs from 0
  Over(const Extents& extents);              // NOLINT: from 0
  Over(BoxAt box) : box_(std::move(box)) {}  // NOLINT
  int rank() const { return box_.extents.rank(); }
  const BoxAt& box() const { return box_; }

 private:
  BoxAt box_;
};

/// An associative operator over all elements. Integers are summed and multiplied in 64 bits. Floats stay in
/// their type (half becomes float); each element takes part in at most 4096 + 32 roundings of a sum, usually
/// in less than 100, so that the error is at most that many times 2^-24 (2^-53) of the sum of magnitudes. The
/// grouping depends on the schedule and the size alone, not on the number of threads.
class Reduce {
 public:
  static Reduce sum() { return Reduce(Kind::Sum); }
  static Reduce product() { return Reduce(Kind::Product); }
  static Reduce min() {
    return Reduce(Kind::Min);
  }  ///< The largest value of the type where there are no elements.
  static Reduce max() { return Reduce(Kind::Max); }
  /// The coordinates of the least (greatest) element, of equal ones the first, x fastest: an i32 per
  /// dimension, x in lane 0. All are -1 where there are no elements.
  static Reduce arg_min() { return Reduce(Kind::ArgMin); }
  static Reduce arg_max() { return Reduce(Kind::ArgMax); }

  /// Any other: combine(a, b) of two values of one type, associative. Elements are combined in order, x
  /// fastest, unless it is commutative, too.
  using Combine = std::function<Expr(const Expr& a, const Expr& b)>;
  explicit Reduce(Combine combine) : kind_(Kind::Custom), combine_(std::move(combine)) {}
  /// What leaves every value as it is: the type of the result, and its value where there are no elements.
  Reduce& identity(const Expr& value) { return identity_ = value, *this; }
  Reduce& commutative() { return commutative_ = true, *this; }

  enum class Kind { Sum, Product, Min, Max, ArgMin, ArgMax, Custom };
  Kind kind() const { return kind_; }
  const Combine& combine() const { return combine_; }
  const std::optional<Expr>& identity() const { return identity_; }
  bool is_commutative() const { return commutative_ || kind_ != Kind::Custom; }

 private:
  explicit Reduce(Kind kind) : kind_(kind) {}
  Kind kind_;
  Combine combine_;
  std::optional<Expr> identity_;
  bool commutative_ = false;
};

/// A scalar: the value at every point of the common box of what it reads at the current pixel, combined.
/// reduce("peak", mag, Reduce::max()); reduce("energy", dx * dx + dy * dy, Reduce::sum()).
Stage reduce(const std::string& name, const Expr& value, const Reduce& op,
             std::source_location here = std::source_location::current());

/// pixel(at) = op(pixel(at), value), one index per dimension of what is scattered into.
struct ScatterUpdate {
  enum class Op { Add, Multiply, Min, Max };
  Op op;
  std::vector<Expr> at;
  Expr value;
};
inline ScatterUpdate add(std::vector<Expr> at, const Expr& value) {
  return {ScatterUpdate::Op::Add, std::move(at), value};
}
inline ScatterUpdate multiply(std::vector<Expr> at, const Expr& value) {
  return {ScatterUpdate::Op::Multiply, std::move(at), value};
}
inline ScatterUpdate minimum(std::vector<Expr> at, const Expr& value) {
  return {ScatterUpdate::Op::Min, std::move(at), value};
}
inline ScatterUpdate maximum(std::vector<Expr> at, const Expr& value) {
  return {ScatterUpdate::Op::Max, std::move(at), value};
}
using ScatterUpdates = std::vector<ScatterUpdate>;

namespace detail {
using ScatterBody = std::function<ScatterUpdates(const std::vector<Var>&)>;
Stage make_reduce(const std::string& name, const Over& over, const Body& body, const Reduce& op,
                  const Where& where);
Stage make_scatter(const std::string& name, const Extents& extents, const Expr& initial, const Over& over,
                   const ScatterBody& body, const Where& where);
inline ScatterUpdates as_updates(const ScatterUpdate& update) { return {update}; }
inline ScatterUpdates as_updates(const ScatterUpdates& updates) { return updates; }
}  // namespace detail

/// reduce("sum", in, [&](Var x, Var y) { return in(x, y) * x; }, Reduce::sum()).
template <class F>
requires(!std::is_convertible_v<F, Reduce>) Stage
    reduce(const std::string& name, const Over& over, F f, const Reduce& op,
           std::source_location here = std::source_location::current()) {
  detail::check_arity(name, detail::arity<F>, over.rank(), here);
  return detail::make_reduce(name, over, detail::body_of(std::move(f)), op, here);
}

/// Pixels that start at `initial` and are updated at computed places, in any order, once per point of `over`
/// and update: scatter("histogram", {256}, 0u, in, [&](Var x, Var y) { return add({in(x, y)}, 1u); }). Its
/// type is that of `initial`, and a value that may not fit it has to be cast. An update outside the box
/// changes nothing. A body may return several updates.
template <class F>
Stage scatter(const std::string& name, const Extents& extents, const Expr& initial, const Over& over, F f,
              std::source_location here = std::source_location::current()) {
  if constexpr (detail::takes_coordinates<F>()) {
    detail::check_arity(name, detail::arity<F>, over.rank(), here);
    return detail::make_scatter(
        name, extents, initial, over,
        [f](const std::vector<Var>& v) { return detail::as_updates(detail::call_with(f, v)); }, here);
  }
  return {};
}

}  // namespace weft
