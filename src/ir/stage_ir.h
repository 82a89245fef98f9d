// The stage IR: what a pipeline means, before any decision about how to run it.
//
// A pipeline is a graph of stages. A stage is a function over an n-D box (x fastest), defined by an
// expression of the coordinates; expressions read other stages at affine or computed indices. Every node is
// immutable and knows its type; conversions that C++ would make implicitly are explicit Cast nodes.
// interpret.h defines the meaning, verify.h the invariants, print.h the text form.
#pragma once

#include <weft/error.h>
#include <weft/value_range.h>

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

// ---- windows ---------------------------------------------------------------------------------------------

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

// ---- boxes and borders -----------------------------------------------------------------------------------

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

// ---- expressions -----------------------------------------------------------------------------------------

struct Param {
  std::string name;
  Value initial;
  ValueRange range;  ///< What it may be.
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

/// Component `component` of one of the two states that an operator combines, or of the final state (side 0).
struct Operand {
  int side;  // 0: left, 1: right
  int component;
};
/// The number of the current step of an evolution, from 0; i32. In its updates only.
struct StepNumber {};

struct Node {
  Type type;
  std::variant<Const, Quantity, ParamRef, Unary, Binary, Select, Cast, Pack, Lane, Read, Coefficient,
               Accumulated, FoldResult, Median, Operand, StepNumber>
      op;
};

// ---- stages ----------------------------------------------------------------------------------------------

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

/// How two states become one. The operator is associative and `identity` leaves every state as it is, so the
/// elements may be combined in any grouping; they stay in order unless it is commutative as well.
struct Operator {
  std::vector<Expr> identity;  // of constants and parameters
  std::vector<Expr> combined;  // of Operands
  bool commutative;
};
/// A stage of rank 0: the elements at all points of a box, x fastest, combined. The elements of an empty box
/// combine to the identity.
struct Reduce {
  Box over;
  std::vector<Expr> element;  // a state, as a function of the coordinates of `over`
  Operator op;
  Expr result;  // of the final state
};

/// pixel(at) = op(pixel(at), value). A point outside the stage's box changes nothing.
struct Update {
  std::vector<Expr> at;  // i64, one per dimension of the stage
  Expr value;            // of the stage's type
};
/// Every pixel starts at `initial`; then the points of `over` make their updates, in any order.
struct Scatter {
  Box over;
  Expr initial;  // of constants and parameters
  BinaryOp op;   // associative and commutative: Add, Mul, Min, Max, And, Or, Xor
  std::vector<Update> updates;
};

/// What a field of an evolution held `age` steps ago, for updates to read: age 0 is what an earlier update of
/// the same step has written. Before the first step every age is the field's initial value.
struct Past {
  int age;
};
struct Evolving {
  StagePtr initial;
  std::vector<StagePtr> past;  ///< By age; null where no update reads it.
  StagePtr update;             ///< Pure, over a part of the field's box: the other pixels keep their value.
};
/// Fields that change step by step, each by its update, in order.
struct Evolution {
  std::vector<Evolving> fields;
  Expr steps;  ///< An integer constant or parameter; less than 1 is no step.
};
/// Field `field` after the last step.
struct Evolve {
  std::shared_ptr<const Evolution> evolution;
  int field;
};

/// Of a stage that may not be empty when the pipeline runs: who needs its pixels, and which extents decide.
/// If there are none, the stage needs them itself.
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
  std::variant<Input, Pure, Reduce, Scatter, Evolve, Past> definition;
  Where where;
  std::shared_ptr<const Need> need = nullptr;  ///< Null: the stage may be empty.

  int rank() const { return static_cast<int>(box.size()); }
  bool is_input() const { return std::holds_alternative<Input>(definition); }
  /// What the coordinates in the stage's expressions run over: its box, unless it reduces or scatters
  /// another.
  const Box& domain() const {
    if (const auto* reduce = std::get_if<Reduce>(&definition)) return reduce->over;
    if (const auto* scatter = std::get_if<Scatter>(&definition)) return scatter->over;
    return box;
  }
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
