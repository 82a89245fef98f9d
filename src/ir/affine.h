// Quasi-affine integer forms: what sizes, boxes and most accesses are made of.
//
//     2*x + 1          floor((x + 1) / 2)          floor(w / 2) - 1
//
// A form is a sum of integer multiples of atoms plus a constant; an atom is a coordinate of the current
// pixel, of the current tap, a size of an input image, or the floor of another form over a positive integer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft::ir {

struct Loop;   // stage_ir.h: the loop over a window
struct Stage;  // stage_ir.h
class Affine;

/// Dimension `dim` of the pixel being computed: 0 is x.
struct Coord {
  int dim;
  bool operator==(const Coord&) const = default;
};
/// Dimension `dim` of the current point of a loop over a window.
struct TapCoord {
  std::shared_ptr<const Loop> loop;
  int dim;
  bool operator==(const TapCoord&) const = default;
};
/// The extent of input `image` in dimension `dim`.
struct Size {
  std::string image;
  int dim;
  std::shared_ptr<const Stage> input = nullptr;  ///< Keeps the image in reach; null in its own box.
  bool operator==(const Size& o) const { return image == o.image && dim == o.dim; }
};
/// floor(numerator / divisor), divisor > 1.
struct FloorDiv {
  std::shared_ptr<const Affine> numerator;
  std::int64_t divisor;
  bool operator==(const FloorDiv& o) const;
};
using Atom = std::variant<Coord, TapCoord, Size, FloorDiv>;

class Affine {
 public:
  struct Term {
    Atom atom;
    std::int64_t factor;  // never 0
    bool operator==(const Term&) const = default;
  };

  Affine() = default;
  Affine(std::int64_t constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  explicit Affine(Atom atom) : terms_{{std::move(atom), 1}} {}

  const std::vector<Term>& terms() const { return terms_; }
  std::int64_t constant() const { return constant_; }
  bool is_constant() const { return terms_.empty(); }
  bool is_constant(std::int64_t value) const { return terms_.empty() && constant_ == value; }

  /// Adds `times` * the atom, or the form, in place: add(y, 4) makes 2*x + 3 into 2*x + 4*y + 3. Quicker than a sum with a product,
  /// which is a form of its own.
  Affine& add(const Atom& atom, std::int64_t times);
  Affine& add(const Affine& o, std::int64_t times);
  Affine& operator+=(const Affine& o) { return add(o, 1); }
  Affine& operator*=(std::int64_t factor);
  friend Affine operator+(Affine a, const Affine& b) { return a.add(b, 1); }
  friend Affine operator-(Affine a, const Affine& b) { return a.add(b, -1); }
  friend Affine operator*(Affine a, std::int64_t factor) { return a *= factor; }
  bool operator==(const Affine& o) const;  ///< Equal up to the order of terms.

  /// floor(this / divisor), simplified; divisor > 0.
  Affine floor_div(std::int64_t divisor) const;

  /// Every atom replaced, inside floors too; `with` returns the replacement of an atom that is no FloorDiv.
  Affine substitute(const std::function<Affine(const Atom&)>& with) const;
  /// The value, given the value of each atom that is no FloorDiv.
  std::int64_t evaluate(const std::function<std::int64_t(const Atom&)>& value_of) const;
  /// True if some atom (inside floors too) satisfies the predicate.
  bool mentions(const std::function<bool(const Atom&)>& predicate) const;
  /// "2*x + 1"; atoms that are no FloorDiv are spelt by `name`.
  std::string to_string(const std::function<std::string(const Atom&)>& name) const;
  std::string to_string() const;  ///< x y z w, t.x t.y, in.w in.h in.d

 private:
  std::vector<Term> terms_;
  std::int64_t constant_ = 0;
};

std::string dim_name(int dim);  ///< "x", "y", "z", "w", "d4", …
std::string name_of(const Atom& atom);

bool mentions_coord(const Affine& a, int dim);  ///< Depends on dimension `dim` of the pixel.
bool mentions_tap(const Affine& a);
/// `a` at a tap: those that `known` says are numbers.
using KnownTaps = std::function<std::optional<std::int64_t>(const TapCoord&)>;
Affine at_taps(const Affine& a, const KnownTaps& known);

/// floor((scale*x + rest) / divisor), the form that footprints and interior ranges are computed from.
struct Scaled {
  std::int64_t scale;
  Affine rest;
  std::int64_t divisor;
};
/// `a` as a scaled access along `dim`; nothing if dim occurs in a floor that is summed with something
/// dependent on it, or under several floors. scale is 0 if `a` does not depend on dim.
bool as_scaled(const Affine& a, int dim, Scaled* out);

/// `a` is exactly the coordinate `dim`.
bool is_coord(const Affine& a, int dim);

std::int64_t floor_div(std::int64_t a, std::int64_t b);  ///< b > 0

}  // namespace weft::ir
