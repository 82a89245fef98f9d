// The stage IR: what a pipeline means, before any decision about how to run it.
//
// A pipeline is a graph of stages. A stage is a function over an n-D box (x fastest), defined by an
// expression of the coordinates; expressions read other stages at affine or computed indices. Every node is
// immutable and knows its type; conversions that C++ would make implicitly are explicit Cast nodes.
// interpret.h defines the meaning, verify.h the invariants, print.h the text form.
#pragma once

#include <weft/error.h>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/affine.h"
#include "ir/value.h"

namespace weft::ir {

struct Node;
struct Stage;
using Expr = std::shared_ptr<const Node>;
using StagePtr = std::shared_ptr<const Stage>;

// ---- windows
// ---------------------------------------------------------------------------------------------------

/// The points that a local operator visits, in order (row-major for windows built from masks and boxes).
struct Domain {
  int rank = 2;
  std::vector<std::vector<int>> points;
};
/// One coefficient per point of a dense box centred at floor(extent / 2), x fastest.
struct Mask {
  std::vector<int> extents;
  Type type;
  std::vector<Value> coefficients;
};
/// A loop over a domain; its address identifies it in TapCoord, Coefficient and Accumulated nodes.
struct Loop {
  Domain domain;
};
/// Starts every accumulator at `initial`; every tap of the loop then replaces all of them at once by `next`,
/// which reads them (Accumulated) as the tap found them.
struct Fold {
  std::shared_ptr<const Loop> loop;
  std::vector<Expr> initial, next;
};

// ---- boxes and borders
// -----------------------------------------------------------------------------------------

struct Range {
  Affine min, extent;
  bool operator==(const Range&) const = default;
};
using Box = std::vector<Range>;  ///< One range per dimension, x first; a scalar has none.

enum class BorderMode { Clamp, Mirror, Mirror101, Repeat, Constant };
/// What an access reads outside its region. Defined for any overshoot:
///   Clamp      … a a | a b c d | d d …        Repeat     … c d | a b c d | a b …
///   Mirror     … b a | a b c d | d c …        Mirror101  … c b | a b c d | c b …     Constant … v v | a b c
///   d | v v …
struct Border {
  BorderMode mode;
  Expr constant;  // of the source's type; Constant only
};
using Index = std::variant<Affine, Expr>;  ///< Affine, or computed (a gather; i64).

// ---- expressions
// -----------------------------------------------------------------------------------------------

struct Param {
  std::string name;
  Value initial;
  Where where;
};

struct Const {
  Value value;
};
struct Quantity {
  Affine value;
};  // a coordinate, a size, … as an i64
struct ParamRef {
  std::shared_ptr<const Param> param;
};
struct Unary {
  UnaryOp op;
  Expr a;
};
struct Binary {
  BinaryOp op;
  Expr a, b;
};
struct Select {
  Expr condition, a, b;
};  // both sides are evaluated; the condition has 1 lane or a's lanes
struct Cast {
  CastMode mode;
  Expr a;
};
struct Pack {
  std::vector<Expr> lanes;
};
struct Lane {
  Expr a;
  int lane;
};
/// source(indices). With a border, indices outside `region` are mapped into it (or give the constant).
struct Read {
  StagePtr source;
  std::vector<Index> indices;
  std::optional<Border> border;
  Box region;  // the source's box, or a crop of it
  Where where;
};
struct Coefficient {
  std::shared_ptr<const Loop> loop;
  std::shared_ptr<const Mask> mask;
};  // mask at the tap
struct Accumulated {
  std::shared_ptr<const Loop> loop;
  int accumulator;
};  // inside the loop's `next` only
struct FoldResult {
  std::shared_ptr<const Fold> fold;
  int accumulator;
};
/// The element of rank n/2 (from 0) of the n values that `value` takes over the loop, sorted ascending.
struct Median {
  std::shared_ptr<const Loop> loop;
  Expr value;
};

struct Node {
  Type type;
  std::variant<Const, Quantity, ParamRef, Unary, Binary, Select, Cast, Pack, Lane, Read, Coefficient,
               Accumulated, FoldResult, Median>
      op;
};

// ---- stages
// ----------------------------------------------------------------------------------------------------

/// An image that the user gives.
struct Input {};
/// The first case whose condition holds gives the pixel; a case without a condition always holds. Only the
/// chosen case is evaluated, so its reads need be inside their boxes only where its condition holds.
struct Case {
  Expr when;  // bool, or null
  Expr value;
};
struct Pure {
  std::vector<Case> cases;
};

/// Of a stage that may not be empty when the pipeline runs: who needs its pixels, and which extents decide.
struct Need {
  std::string who;              // "pyramid 'g' of 5 levels"
  std::vector<Affine> extents;  // of an image or stage
  std::int64_t least;           // of each extent
  Where where;
  std::string remedy;
};

struct Stage {
  std::string name;
  Type type;
  Box box;
  std::variant<Input, Pure> definition;
  Where where;
  std::shared_ptr<const Need> need = nullptr;  ///< Null: the stage may be empty.

  int rank() const { return static_cast<int>(box.size()); }
  bool is_input() const { return std::holds_alternative<Input>(definition); }
};

struct Pipeline {
  std::string name;
  std::vector<StagePtr> outputs;
  std::vector<StagePtr> inputs;  ///< In order of declaration.
  std::vector<std::shared_ptr<const Param>> params;
  std::vector<StagePtr> stages;  ///< Everything but the inputs, producers before consumers.
  bool strict = false;           ///< Floats are neither contracted nor reassociated.
};

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

}  // namespace weft::ir
