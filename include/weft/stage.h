// Images, stages and the ways to read them.
#pragma once

#include <weft/expr.h>
#include <weft/window.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace weft {

namespace ir {
struct Stage;
struct Border;
}  // namespace ir

class Accessor;
class Interpolated;

/// How resample.h reads between the samples.
enum class Interpolation { Nearest, Bilinear, Bicubic, Lanczos3 };

/// What an access reads outside its box; defined for any overshoot, also when the window is larger than the
/// image.
class Border {
 public:
  enum class Mode { Clamp, Mirror, Mirror101, Repeat, Constant };

  static Border clamp() { return Border(Mode::Clamp); }          ///< a a | a b c d | d d
  static Border mirror() { return Border(Mode::Mirror); }        ///< b a | a b c d | d c
  static Border mirror101() { return Border(Mode::Mirror101); }  ///< c b | a b c d | c b
  static Border repeat() { return Border(Mode::Repeat); }        ///< c d | a b c d | a b
  static Border constant(const Expr& value) { return {Mode::Constant, value}; }
  /// By name: "clamp", "mirror", "mirror101", "repeat", "constant"; throws weft::Error listing them
  /// otherwise.
  static Border named(const std::string& mode, const Expr& value = 0,
                      std::source_location here = std::source_location::current());

  Mode mode() const { return mode_; }
  const Expr& value() const { return value_; }

 private:
  Border(Mode mode, Expr value = 0)
      : mode_(mode), value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Mode mode_;
  Expr value_;
};

template <class T>
class Option;  // application.h

namespace detail {
template <class T>
constexpr bool is_extent = std::is_convertible_v<T, Index> || std::is_same_v<T, Option<int>>;
template <class T>
constexpr bool is_value = std::is_convertible_v<T, Expr> && !is_extent<T>;
}  // namespace detail

/// The extents of a box, x first: in.size(), in.size() / 2, {in.width(), 256}, {640, 480}.
class Extents {
 public:
  Extents(std::vector<Index> extents)
      : extents_(std::move(extents)) {}  // NOLINT(google-explicit-constructor)
  template <class... I>
  requires(sizeof...(I) > 0 && (detail::is_extent<I> && ...)) Extents(const I&... extents)
      : extents_{whole(extents)...} {}  // NOLINT(google-explicit-constructor)
  template <class... I>
  requires((detail::is_extent<I> || detail::is_value<I>)&&... && (detail::is_value<I> || ...))
      Extents(const I&...) {  // NOLINT(google-explicit-constructor): explains a mistake
    static_assert(detail::never<I...>,
                  "a size is made of integers and the sizes of images: in.size(), {in.width() / 2, 256}; a "
                  "Param is known only in a run, and a pixel only at its place");
  }

  int rank() const { return static_cast<int>(extents_.size()); }
  const Index& operator[](int dim) const { return extents_[dim]; }
  Extents operator/(std::int64_t divisor) const;  ///< Rounds down, in every dimension.
  Extents operator*(std::int64_t factor) const;

 private:
  static Index whole(const Index& extent) { return extent; }
  static Index whole(const Option<int>& option);

  std::vector<Index> extents_;
};

/// The box of a stage that does not start at 0, such as an output region of interest.
struct BoxAt {
  std::vector<Index> min;
  Extents extents;
};

/// One index of an access, and where in the user's source it was written. Affine in the coordinates, or
/// computed.
struct At {
  At(const Index& index, std::source_location here = std::source_location::current());       // NOLINT
  At(std::integral auto index, std::source_location here = std::source_location::current())  // NOLINT
      : At(Index(index), here) {}
  At(std::floating_point auto index, std::source_location here = std::source_location::current())  // NOLINT
      : computed(Expr(index)), where(here) {}
  template <class T>
  requires(std::is_convertible_v<T, Expr> && !std::is_arithmetic_v<T> && !std::is_same_v<T, Index>)
      At(const T& value, std::source_location here = std::source_location::current())  // NOLINT
      : computed(Expr(value)), where(here) {}

  std::optional<Index> affine;
  std::optional<Expr> computed;
  Where where;
};

/// Anything that can be read: an image or a stage. Used as a value it means its current pixel.
class Source {
 public:
  operator Expr() const;  // NOLINT(google-explicit-constructor): dx * dx reads as in the formula
  Expr operator()(At x) const;
  Expr operator()(At x, At y) const;
  Expr operator()(At x, At y, At z) const;
  Expr operator()(At x, At y, At z, At w) const;
  /// Of the current pixel.
  Expr lane(int i, std::source_location here = std::source_location::current()) const {
    return Expr(*this).lane(i, here);
  }

  Expr pixel(const std::source_location& here) const;  ///< The current pixel, read at `here`.

  /// Reads through a border mode; it belongs to this access, other readers may use another.
  Accessor border(const Border& border) const;
  /// Local operators of this accessor give a result that is smaller by the window instead of needing a
  /// border.
  Accessor valid() const;
  /// A region of interest: its (0, 0) is the source's `min`, and borders apply at its own edges.
  Accessor crop(const std::vector<Index>& min, const Extents& extents,
                std::source_location here = std::source_location::current()) const;

  const std::string& name() const;
  Type type() const;
  int rank() const;
  Extents size() const;
  Index width() const { return size()[0]; }
  Index height() const { return size()[1]; }
  /// Throws weft::Error for a stage that is not defined yet.
  const std::shared_ptr<const ir::Stage>& node() const { return node({}); }

 protected:
  explicit Source(const std::source_location& declared) : declared_(declared) {}  // and not defined
  explicit Source(std::shared_ptr<const ir::Stage> node) : node_(std::move(node)) {}

 private:
  friend class Accessor;
  const std::shared_ptr<const ir::Stage>& node(const Where& reader) const;

  std::shared_ptr<const ir::Stage> node_;
  std::source_location declared_;
};

/// A source with a border mode, a crop, or both.
class Accessor {
 public:
  Accessor(const Source& source);  // NOLINT(google-explicit-constructor): no border
  operator Expr() const;           // NOLINT(google-explicit-constructor): the current pixel
  Expr operator()(At x) const;
  Expr operator()(At x, At y) const;
  Expr operator()(At x, At y, At z) const;
  Expr operator()(At x, At y, At z, At w) const;
  /// The pixel at the tap's offset from the current one.
  Expr operator()(const Tap& tap) const;
  /// Of the current pixel.
  Expr lane(int i, std::source_location here = std::source_location::current()) const {
    return Expr(*this).lane(i, here);
  }

  Accessor border(const Border& border) const;
  Accessor valid() const;
  /// Reads at real coordinates, between the samples: resample.h. Needs a border.
  Interpolated interpolate(Interpolation kernel,
                           std::source_location here = std::source_location::current()) const;
  int rank() const { return source_.rank(); }
  Type type() const { return source_.type(); }
  Extents size() const;  ///< Of the crop, or of the source.
  bool is_valid_only() const { return valid_; }
  const std::optional<Border>& border_mode() const { return border_; }
  const Source& source() const { return source_; }
  const std::vector<Index>& origin() const { return origin_; }  ///< Of the crop; empty without one.

 private:
  friend class Source;
  Expr read(const std::vector<At>& indices) const;

  Source source_;
  std::optional<Border> border_;
  std::vector<Index> origin_;
  std::optional<Extents> extents_;
  bool valid_ = false;
};

/// An input image of pixels T. Rank 2 unless said.
class AnyImage : public Source {
 public:
  /// The caller of the pipeline decides among some scalar types and lane counts; the first of each is the
  /// default.
  AnyImage(const char* name, const std::vector<Scalar>& scalars, const std::vector<int>& lanes = {1},
           std::source_location here = std::source_location::current());

 protected:
  AnyImage(const char* name, Type type, int rank, const Where& where);
  AnyImage(const char* name, Type type, const Extents& extents, const Where& where);
};

template <class T>
class Image : public AnyImage {
 public:
  explicit Image(const char* name, int rank = 2, std::source_location here = std::source_location::current())
      : AnyImage(name, type_of<T>(), rank, here) {}
  /// An image that has to have the given size: Image<float> b("b", a.size()), c("c", {640, 480}).
  template <std::integral I>
  Image(const char* name, std::initializer_list<I> extents,
        std::source_location here = std::source_location::current())
      : AnyImage(name, type_of<T>(), Extents(std::vector<Index>(extents.begin(), extents.end())), here) {}
  Image(const char* name, const Extents& extents, std::source_location here = std::source_location::current())
      : AnyImage(name, type_of<T>(), extents, here) {}
};

/// A piecewise definition: the first case whose condition holds gives the pixel, and only that one is
/// evaluated. The cases have to cover the box, or end in otherwise().
class Cases {
 public:
  Cases& when(const Expr& condition, const Expr& value,
              std::source_location here = std::source_location::current());
  Cases& otherwise(const Expr& value);

  struct Case {
    std::optional<Expr> condition;
    Expr value;
  };
  const std::vector<Case>& list() const { return list_; }

 private:
  std::vector<Case> list_;
};
inline Cases cases() { return {}; }

/// A named function over a box, defined by an expression of its own, other stages' and the images' pixels.
class Stage : public Source {
 public:
  /// Not defined yet: it cannot be read before another stage is assigned to it.
  Stage(std::source_location declared = std::source_location::current()) : Source(declared) {}  // NOLINT
  explicit Stage(std::shared_ptr<const ir::Stage> node) : Source(std::move(node)) {}
};

namespace detail {
using Body = std::function<Cases(const std::vector<Var>&)>;
Stage make_stage(const std::string& name, const BoxAt& box, const Body& body, const Where& where);
Cases as_cases(const Expr& value);
inline Cases as_cases(const Cases& value) { return value; }

/// How many coordinates f takes; 0 if it is no function of one to four.
template <class F>
constexpr int arity = std::is_invocable_v<F, Var>                  ? 1
                      : std::is_invocable_v<F, Var, Var>           ? 2
                      : std::is_invocable_v<F, Var, Var, Var>      ? 3
                      : std::is_invocable_v<F, Var, Var, Var, Var> ? 4
                                                                   : 0;
/// Calls f with as many coordinates as it takes.
template <class F>
auto call_with(const F& f, const std::vector<Var>& v) {
  if constexpr (std::is_invocable_v<F, Var>)
    return f(v.at(0));
  else if constexpr (std::is_invocable_v<F, Var, Var>)
    return f(v.at(0), v.at(1));
  else if constexpr (std::is_invocable_v<F, Var, Var, Var>)
    return f(v.at(0), v.at(1), v.at(2));
  else
    return f(v.at(0), v.at(1), v.at(2), v.at(3));
}
/// Whether f is a function of coordinates; if not, the compiler says so, and nothing else.
template <class F>
constexpr bool takes_coordinates() {
  static_assert(arity<F> > 0,
                "a body takes one to four coordinates of type Var, not int: [&](Var x, Var y) { ... }");
  return arity<F> > 0;
}
template <class F>
Body body_of(F f) {
  if constexpr (takes_coordinates<F>()) {
    using Value = decltype(call_with(f, {}));
    constexpr bool is_pixel = std::is_convertible_v<Value, Expr> || std::is_convertible_v<Value, Cases>;
    static_assert(is_pixel, "a body returns the value of a pixel, or cases()");
    if constexpr (is_pixel) return [f](const std::vector<Var>& v) { return as_cases(call_with(f, v)); };
  }
  return {};
}
BoxAt box_from_zero(const Extents& extents);
void check_arity(const std::string& name, int arity, int rank, const Where& where);
}  // namespace detail

/// The general form: stage("half", in.size() / 2, [&](Var x, Var y) { return in(2 * x, 2 * y); }).
template <class F>
Stage stage(const std::string& name, const BoxAt& box, F f,
            std::source_location here = std::source_location::current()) {
  detail::check_arity(name, detail::arity<F>, box.extents.rank(), here);
  return detail::make_stage(name, box, detail::body_of(std::move(f)), here);
}
template <class F>
Stage stage(const std::string& name, const Extents& extents, F f,
            std::source_location here = std::source_location::current()) {
  detail::check_arity(name, detail::arity<F>, extents.rank(), here);
  return detail::make_stage(name, detail::box_from_zero(extents), detail::body_of(std::move(f)), here);
}

/// A point operator: its box is the common box of what it reads at the current pixel.
Stage point(const std::string& name, const Expr& value,
            std::source_location here = std::source_location::current());
/// A local operator with a linear mask: sum of mask(t) * source(x + t.x, y + t.y) over the mask's non-zero
/// points.
Stage convolve(const std::string& name, const Accessor& source, const Mask& mask,
               std::source_location here = std::source_location::current());

/// Applied to what a window gives, in the same stage: [](Expr e) { return saturate<std::uint8_t>(e); }.
using Post = std::function<Expr(const Expr&)>;
Stage convolve(const std::string& name, const Accessor& source, const Mask& mask, const Post& post,
               std::source_location here = std::source_location::current());

/// The stage, for use instead of the one given: images that would leave it without pixels are an error of the
/// run, which recommends the remedy. Other stages may be empty.
Stage never_empty(const Stage& stage, const std::string& remedy = "give a larger image");

enum class Local { Sum, Min, Max, Product, Median, Mean };
/// A local operator over the values of a window.
Stage local(const std::string& name, const Accessor& source, const Domain& domain, Local op,
            std::source_location here = std::source_location::current());
Stage local(const std::string& name, const Accessor& source, const Domain& domain, Local op, const Post& post,
            std::source_location here = std::source_location::current());

}  // namespace weft
