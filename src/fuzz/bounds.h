// How far compiled code may be from the interpreter. Integers are exact, and so are strict pipelines, since
// both sides round each operation alike and call the same mathematical functions. Elsewhere, floats may be
// contracted and reassociated: for every expression, an interval that holds its value and a bound on the
// difference are propagated through the operations, as in any textbook on interval arithmetic and forward
// error analysis.
//
// The same bounds decide what makes a sensible recipe at all: an inexact float must not decide anything, as
// it would in a comparison, as an index, or in a rounding to an integer.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "fuzz/recipe.h"

namespace weft::fuzz {

struct Bound {
  double low = 0, high = 0;  ///< The value lies between, or may also be NaN if one of them is infinite.
  double error = 0;          ///< What compiled code computes is this close to it.
  /// Or it is infinite or NaN, and compiled code computes the same; then the interval is that of the others.
  bool special = false;

  double magnitude() const;
  bool is_finite() const;
};

/// Evaluates bounds within one recipe.
class Bounds {
 public:
  explicit Bounds(const Recipe& recipe);

  /// Of a term of the given stage, or nothing if it would let rounding errors decide something or grow out of
  /// hand. An accumulator outside of its fold is taken to be modest.
  std::optional<Bound> of(const Term& term);
  /// Of the value of a whole stage, whose sources are known.
  std::optional<Bound> of(const Stage& stage);

  /// Of the fields of an evolution after any number of steps that a run may take.
  std::optional<std::vector<Bound>> of_evolution(const std::vector<Stage>& fields, int first_source);
  /// Takes the fields from this source on to be modest, as long as their updates are not known.
  void assume_fields(int first_source, const std::vector<Type>& types);

  /// Makes known the next stage.
  void add(const Bound& stage) { sources_.push_back(stage); }

 private:
  std::optional<Bound> of_operator(const Term& term);
  std::optional<Bound> computed(Op op, const std::vector<Bound>& operands, Scalar s) const;
  std::optional<Bound> of_access(const Access& access);
  std::optional<Bound> of_window(Combine combine, const Bound& value, int points, Type type) const;
  std::optional<Bound> of_fold(const Term& term);
  std::optional<Bound> of_interpolated(const Term& term);
  std::optional<Bound> of_resampled(const Bound& value, Interpolation kernel, Type type, int rank) const;
  std::optional<Bound> of_pyramid(const Stage& stage);
  std::optional<Bound> of_cases(const Stage& stage);
  std::optional<Bound> of_window_stage(const Stage& stage);
  std::optional<Bound> of_reduce(const Stage& stage);
  std::optional<Bound> of_scatter(const Stage& stage);

  const Recipe& recipe_;
  std::vector<Bound> sources_;
  std::vector<std::pair<int, Bound>> accumulators_;  ///< Innermost last.
  std::optional<Bound> given_;
  std::map<int, Bound> fields_;  ///< At any step, by source.
};

/// The bounds of all stages of a recipe, or nothing if some stage that an output needs has none.
std::optional<std::vector<Bound>> bounds_of(const Recipe& recipe);

}  // namespace weft::fuzz
