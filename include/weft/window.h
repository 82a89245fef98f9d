// The windows of local operators: masks (points with coefficients) and domains (points alone).
#pragma once

#include <weft/expr.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

namespace weft {

namespace ir {
struct Domain;
struct Loop;
struct Mask;
}  // namespace ir

class Domain;

/// The current point of a window: offsets from the window's centre.
class Tap {
 public:
  Tap(std::shared_ptr<const ir::Loop> loop, int rank);
  Index x, y, z;  ///< Dimensions beyond the window's rank are 0.
  int rank() const { return rank_; }
  Index operator[](int dim) const { return dim == 0 ? x : dim == 1 ? y : z; }
  const std::shared_ptr<const ir::Loop>& loop() const { return loop_; }

 private:
  std::shared_ptr<const ir::Loop> loop_;
  int rank_;
};

/// Coefficients of a window, centred at floor(extent / 2). Integer coefficients make an integer mask; one
/// float among them makes a float mask. `convolve` correlates: it does not flip the mask.
class Mask {
 public:
  /// A number that remembers whether it was written as an integer, a float or a double.
  struct Coefficient {
    Coefficient(int v) : value(v), scalar(Scalar::I32) {}     // NOLINT
    Coefficient(float v) : value(v), scalar(Scalar::F32) {}   // NOLINT
    Coefficient(double v) : value(v), scalar(Scalar::F64) {}  // NOLINT
    double value;
    Scalar scalar;
  };
  Mask(std::initializer_list<std::initializer_list<Coefficient>> rows,
       std::source_location here = std::source_location::current());
  /// width x height coefficients, row by row.
  Mask(int width, int height, const std::vector<Coefficient>& coefficients,
       std::source_location here = std::source_location::current());
  /// f(dx, dy) at every point of a width x height window around its centre.
  static Mask from(int width, int height, const std::function<Coefficient(int dx, int dy)>& f);

  Mask operator*(Coefficient factor) const;
  Mask operator/(Coefficient divisor) const;
  Mask transposed() const;
  /// The mask whose coefficient at (x, y) is row(x) * column(y).
  static Mask outer(const std::vector<Coefficient>& column, const std::vector<Coefficient>& row);

  int width() const;
  int height() const;
  /// The coefficient at a point of a window no larger than the mask, inside for_each.
  Expr operator()(const Tap& tap) const;

  const std::shared_ptr<const ir::Mask>& node() const { return node_; }

 private:
  explicit Mask(std::shared_ptr<const ir::Mask> node) : node_(std::move(node)) {}
  Mask map(const std::function<double(double)>& f, Scalar with) const;
  std::shared_ptr<const ir::Mask> node_;
};

/// The points of a window.
class Domain {
 public:
  Domain(int width, int height, std::source_location here = std::source_location::current());
  Domain(int width, int height, int depth, std::source_location here = std::source_location::current());
  template <class... E>
  requires((std::is_convertible_v<E, Expr> && ...) && !(std::is_convertible_v<E, int> && ...))
      Domain(const E&...) {  // NOLINT(google-explicit-constructor): explains a mistake
    static_assert(sizeof...(E) == 0,
                  "a window is made of integers: a Param is known only in a run; make it an Option");
  }
  /// Any points, visited in the order given: Domain{{0, -1}, {-1, 0}, {1, 0}, {0, 1}}.
  Domain(std::initializer_list<std::vector<int>> points,
         std::source_location here = std::source_location::current());
  /// The points where the mask is not 0.
  explicit Domain(const Mask& mask, std::source_location here = std::source_location::current());
  static Domain disc(int radius);  ///< dx*dx + dy*dy <= radius*radius

  const ir::Domain& node() const { return *node_; }

 private:
  explicit Domain(std::shared_ptr<const ir::Domain> node) : node_(std::move(node)) {}
  std::shared_ptr<const ir::Domain> node_;
};

/// A variable of a local operator's body: starts at a value and is updated inside for_each.
class Accumulator {
 public:
  Accumulator(Type type, const Expr& initial);
  Accumulator(const Accumulator& other);  ///< A variable of its own, with the other's current value.
  ~Accumulator();
  operator Expr() const;  // NOLINT(google-explicit-constructor): reads the current value
  void assign(const Expr& value);

 private:
  struct State;
  friend void for_each(const Domain&, const std::function<void(Tap)>&);
  std::unique_ptr<State> state_;
};

template <class T>
class Accum : public Accumulator {
 public:
  Accum(const Accum&) = default;
  Accum(const Expr& initial = T{})
      : Accumulator(type_of<T>(), initial) {}                     // NOLINT(google-explicit-constructor)
  Accum(T initial) : Accumulator(type_of<T>(), Expr(initial)) {}  // NOLINT(google-explicit-constructor)
  Accum& operator=(const Accum& other) { return *this = Expr(other); }
  Accum& operator=(const Expr& value) { return assign(value), *this; }
  Accum& operator+=(const Operand& value) { return *this = current(value) + value; }
  Accum& operator-=(const Operand& value) { return *this = current(value) - value; }
  Accum& operator*=(const Operand& value) { return *this = current(value) * value; }
  Accum& operator/=(const Operand& value) { return *this = current(value) / value; }

 private:
  /// The current value, beside another operand.
  Operand current(const Operand& other) const { return {Expr(*this), other.here}; }
};

/// Runs the body once, symbolically, for the points of the domain in order. Accumulators that it updates hold
/// their values after the last point once for_each returns.
void for_each(const Domain& domain, const std::function<void(Tap)>& body);

// Operators over the values that `value` takes at the points of a domain.
Expr sum(const Domain& domain, const std::function<Expr(Tap)>& value);
Expr product(const Domain& domain, const std::function<Expr(Tap)>& value);
Expr minimum(const Domain& domain, const std::function<Expr(Tap)>& value);
Expr maximum(const Domain& domain, const std::function<Expr(Tap)>& value);
/// The element of rank n/2, from 0, of the n values in ascending order; lane by lane. NaN is above all other
/// values; compiled targets may give another value of a window that has one.
Expr median(const Domain& domain, const std::function<Expr(Tap)>& value);

}  // namespace weft
