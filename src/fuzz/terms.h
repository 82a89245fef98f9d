// Draws the expressions of recipes.
#pragma once

#include "fuzz/bounds.h"
#include "fuzz/random.h"
#include "fuzz/recipe.h"

namespace weft::fuzz {

/// Draws of small things.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_.bits() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(double p) { return random_.uniform() < p; }
  template <class T>
  T one_of(const std::vector<T>& items) {
    return items[below(static_cast<int>(items.size()))];
  }
  Scalar scalar() { return static_cast<Scalar>(below(12)); }

 private:
  Random random_;
};

/// floor(size / k), size * k and such, where they have a form.
Size divided(const Size& size, int k);
std::optional<Size> multiplied(const Size& size, int k);
bool is_zero(const Size& size);

/// A pixel's expressions are evaluated so often at most.
constexpr int most_taps = 40;

/// What an expression may use where it stands.
struct Context {
  int lanes = 1;              ///< Terms have this many lanes or one.
  int depth = 3;              ///< How many operators deep.
  std::vector<int> sources;   ///< All that may be read at computed places.
  std::vector<int> at_pixel;  ///< Those that may be read at the current pixel.
  Box box;                    ///< Of the body, or of what its earlier cases leave; empty outside of bodies.
  std::optional<Type> given;  ///< What a window gives.
  /// In an update: the first field of the evolution and how many there are, and which is updated.
  int first_field = 0, fields = 0, field = 0;
  bool marches =
      false;  ///< In an update: reads fields most often, at distances that are the same for all pixels.
  std::vector<std::pair<int, Window>> loops;  ///< Those around, by number.
  std::vector<std::pair<int, Type>> accumulators;
  int taps = 1;  ///< How often it is evaluated.

  bool in_body() const { return !box.empty(); }
  bool in_update() const { return fields > 0; }
  Context deeper() const;
};

class Terms {
 public:
  Terms(const Recipe& recipe, Bounds& bounds, Dice& dice) : recipe_(recipe), bounds_(bounds), dice_(dice) {}

  Term term(const Context& context);
  /// Of one lane, and exact.
  Term integer(const Context& context);
  Term condition(const Context& context);
  Term literal(Scalar scalar);
  /// coordinate >= or == size, as a condition.
  static Term compared(Op op, int coordinate, const Size& size);

  Access bordered(int source, const Context& context);
  Box crop(int source);
  Window window(int most_points);

  /// What resampling pixels of a type gives.
  static Type type_of(Interpolation kernel, Type pixel);
  static Term operation(Op op, std::vector<Term> operands);
  static Term cast(Term::Kind kind, Scalar to, Term operand);

 private:
  Term leaf(const Context& context);
  Term read(const Context& context);
  std::optional<Term> interpolated(int source, const Context& context);
  Access field_access(const Context& context);
  Term fitting(Term term, int lanes);
  Term random_operation(const Context& context);
  Term packed(const Context& context);
  void list_points(Window& window);
  Term window_term(const Context& context);
  Term fold(const Context& context);
  Term position(const Context& context);
  bool is_legal(const Term& term) { return bounds_.of(term).has_value(); }

  std::optional<Index> safe_index(const Range& reader, int coordinate, const Range& source, bool is_image,
                                  const Context& context);
  std::optional<Index> safe_index(int source, int dim, const Context& context);
  Index any_index(int source, int dim, const Context& context);
  void add_tap(Index& index, int dim, const Context& context);

  const Recipe& recipe_;
  Bounds& bounds_;
  Dice& dice_;
  int next_loop_ = 0;
};

}  // namespace weft::fuzz
