// A recipe is a pipeline as a plain value: everything that its definition says, as small structs. From one
// recipe a pipeline is built (build.h) and its C++ is printed (print.h), so that what failed
// can be shown; and a recipe can be taken apart (shrink.h), so that little of it is left to look at.
//
// Sources are numbered: first the images, then the stages. A stage reads only sources of lower numbers.
#pragma once

#include <weft/reduce.h>
#include <weft/resample.h>
#include <weft/stage.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/value.h"
#include "schedule/groups.h"

namespace weft::fuzz {

struct Term;

/// floor((scale * the extent of an image + inner) / divisor) + offset; without an image, the offset alone.
struct Size {
  int image = -1, dim = 0;
  int scale = 1, inner = 0, divisor = 1, offset = 0;

  /// Whether the two differ by a constant.
  bool like(const Size& o) const {
    return image == o.image && dim == o.dim && scale == o.scale && inner == o.inner && divisor == o.divisor;
  }
  bool operator==(const Size&) const = default;
};

struct Range {
  Size min, extent;
  bool like(const Range& o) const { return min.like(o.min) && extent.like(o.extent); }
  bool operator==(const Range&) const = default;
};
using Box = std::vector<Range>;

/// (scale * coordinate + other + tap_scale * tap + offset) / divisor % modulo, where parts may be missing; or
/// computed.
struct Index {
  int coordinate = -1, scale = 1, other = -1;  ///< `other` is a second coordinate.
  int loop = -1, tap = 0, tap_scale = 1;       ///< The dimension `tap` of the tap of that loop.
  Size offset{};
  int divisor = 1, modulo = 0;  ///< No remainder is taken if `modulo` is 0.
  std::vector<Term> computed;   ///< One term, and then nothing else counts; or none.
};

/// A read. Without indices it is the current pixel.
struct Access {
  int source = 0;
  int age = -1;  ///< In an update: how many steps back the source is read; 0 is now().
  std::optional<Border::Mode> border{};
  std::vector<Term> constant;  ///< What a constant border gives: one term, or none.
  Box crop{};                  ///< Empty: the whole source.
  bool valid = false;
  std::vector<Index> indices{};
};

/// The points of a window: those that are listed, if any. With coefficients (width * height of them, depth
/// 0), those where they are not 0.
struct Window {
  int width = 1, height = 1, depth = 0;  ///< Of two dimensions if the depth is 0.
  std::vector<double> coefficients{};
  std::vector<std::array<int, 2>> listed{};  ///< Up to four, within the extents, in any order.
  Scalar scalar = Scalar::I32;               ///< Of the coefficients: i32, f32 or f64.

  int extent(int dim) const { return dim == 0 ? width : dim == 1 ? height : std::max(depth, 1); }
  int least(int dim) const { return -(extent(dim) / 2); }
  int greatest(int dim) const { return extent(dim) - extent(dim) / 2 - 1; }
  int points() const;
};

#define WEFT_ENUMERATOR(op, ...) op,
enum class Op {
  Neg,
  Not,
  BitNot,
  Abs,
  WEFT_FUNCTIONS_OF_ONE(WEFT_ENUMERATOR)  //
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  And,
  Or,
  Xor,
  Shl,
  Shr,  //
  Lt,
  Le,
  Gt,
  Ge,
  Eq,
  Ne,
  Both,
  Either,
  Min,
  Max,
  WEFT_FUNCTIONS_OF_TWO(WEFT_ENUMERATOR)  //
  Dot,
  Select,
  Clamp,
  Lerp
};
#undef WEFT_ENUMERATOR
constexpr int op_count = static_cast<int>(Op::Lerp) + 1;

/// Operators of custom reductions: of integers. Affine maps x -> a * x + b are pairs (a, b), and combined by
/// composition, which does not commute.
enum class Associative { Xor, And, Or, Affine };

enum class Combine { Sum, Product, Minimum, Maximum, Median };

/// An expression.
struct Term {
  enum class Kind {
    Literal,      ///< `literal`
    Position,     ///< `position`, as a value
    Parameter,    ///< number `id`
    Operator,     ///< `op` of the operands
    Cast,         ///< of the operand to the scalar of `type`
    Saturate,     ///< likewise
    Pack,         ///< of two to four operands
    Lane,         ///< number `id` of the operand
    Read,         ///< `access`
    Window,       ///< `combine` of the operand's values over `window`; `id` is the loop
    Coefficient,  ///< of `window` at the tap of loop `id`
    Fold,         ///< over `window`: initial values, then next values, then the result; `id` is the loop
    Accumulator,  ///< number `id`: see accumulator_of
    Given,        ///< what a window gives to the function after it
    StepNumber,   ///< in updates
    Interpolated  ///< `access` at the operands, a coordinate per dimension; `interpolation` says how
  };
  Kind kind = Kind::Literal;
  Type type{};
  ir::Value literal{};
  int id = 0;
  Op op = Op::Neg;
  Combine combine = Combine::Sum;
  std::vector<Term> operands{};
  Window window{};
  Index position{};
  Access access{};
  Interpolation interpolation = Interpolation::Nearest;
};

/// A fold's accumulators have numbers of their own in the stage, at most this many per loop.
constexpr int accumulators_per_loop = 4;
inline int accumulator_of(int loop, int i) { return loop * accumulators_per_loop + i; }
inline int accumulators_of(const Term& fold) { return static_cast<int>(fold.operands.size() / 2); }

struct Case {
  std::vector<Term> when{};  ///< One condition; none in the last case.
  Term value{};
};

struct Stage {
  enum class Kind { Point, Convolve, Local, Body, Reduce, Scatter, Evolve, Resize, Pyramid };
  Kind kind = Kind::Point;
  Box box{};                  ///< Of a body; for the others, what it comes to.
  std::vector<Case> cases{};  ///< One, but for bodies and updates.
  weft::Reduce::Kind reduce = weft::Reduce::Kind::Sum;
  Associative associative = Associative::Xor;  ///< If the reduction is a custom one.
  Box over{};  ///< What a reduction's body runs over; empty: it is written with current pixels.
  ScatterUpdate::Op update = ScatterUpdate::Op::Add;
  std::vector<Term> at{};  ///< Where a scatter's value goes; it runs over `access.source`,
  Term initial{};          ///< and starts from this.
  /// The fields of an evolution are stages that follow one another, updated in this order. Each starts as
  /// `access.source` and is defined by its cases. All have the same steps: a literal or a parameter.
  int field = 0;              ///< The number of this field among those of its evolution.
  int fields = 1;             ///< How many the evolution has.
  int frozen = 0;             ///< As of freeze().
  std::vector<Term> steps{};  ///< One, or none for other stages.
  Interpolation interpolation = Interpolation::Nearest;  ///< Of resize.
  int levels = 2;   ///< Of a pyramid, which is built up from its source and collapsed again.
  Access access{};  ///< Of resize, pyramids, convolve and local, as are:
  Window window{};
  weft::Local local = weft::Local::Sum;
  Type window_type{};        ///< What the window, or resizing, gives.
  std::vector<Term> post{};  ///< One term over Given, or none.
  Type type{};               ///< What it comes to.
};

struct Image {
  Type type{};
  int rank = 2;
  std::vector<Size> extents{};  ///< Declared, or free if empty.
  bool extreme = false;         ///< Holds infinities, NaNs and the like; else modest numbers.
  bool special = false;         ///< Holds modest numbers with some infinities and NaNs among them.
};

struct Parameter {
  Scalar scalar = Scalar::I32;
  int initial = 1;
};

/// One run: the extents of the images that are free.
struct Run {
  std::vector<std::vector<std::int64_t>>
      extents;  ///< One list per image; empty for images that are not free.
};

struct Recipe {
  std::uint64_t seed = 0;
  bool strict = true;
  std::vector<Image> images{};
  std::vector<Parameter> params{};
  std::vector<Stage> stages{};
  std::vector<int> outputs{};  ///< Numbers of stages, from 0.
  std::vector<Run> runs{};
  std::optional<schedule::Grouping> grouping{};  ///< Of CompileOptions::schedule; none: the compiler chooses.

  int first_stage() const { return static_cast<int>(images.size()); }
  bool is_image(int source) const { return source < first_stage(); }
  Type type_of(int source) const {
    return is_image(source) ? images[source].type : stages[source - first_stage()].type;
  }
  Box box_of(int source) const;  ///< An image's is from 0 to its extents.
};

const char* border_name(Border::Mode mode);  ///< "clamp", …
std::string image_name(int image);
std::string parameter_name(int parameter);
std::string stage_name(int stage);
std::string field_name(int stage);
std::string pipeline_name(const Recipe& recipe);

bool reads(const Term& term);  ///< Has an access.
/// Everything a term holds directly: operands, computed indices, constants of borders.
void each_child(Term& term, const std::function<void(Term&)>& visit);
void each_child(Access& access, const std::function<void(Term&)>& visit);
/// Every access and every term of a stage that is not inside another term.
void each_root(Stage& stage, const std::function<void(Term&)>& visit);
/// The term and all within it.
void each_term(Term& term, const std::function<void(Term&)>& visit);
/// All accesses of a stage.
void each_access(Stage& stage, const std::function<void(Access&)>& visit);

/// Which sources the outputs need, images whose size alone is used among them.
std::vector<bool> needed_sources(const Recipe& recipe);

}  // namespace weft::fuzz
