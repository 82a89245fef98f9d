// What the interpreter computes with expressions: a row of neighbours at a time, which are the points of a batch, so that
// each step of an expression is looked up once for all of them.
//
//     in(x - 1, y) + 1   over x = 0 … 63 of a row:   64 reads, then 64 constants, then 64 sums
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/bindings.h"
#include "ir/interpret.h"
#include "ir/shake.h"
#include "ir/stage_ir.h"

namespace weft::ir {

/// A computed stage or a bound image: pixels over a box that need not start at 0.
struct Array {
  Buffer buffer;
  ConcreteBox box;
};
Value load_pixel(const Array& array, const std::vector<std::int64_t>& at);
/// The array is one that the interpreter has allocated.
void store_pixel(const Array& array, const std::vector<std::int64_t>& at, const Value& value);

/// A quasi-affine form over addresses instead of names, so that evaluating it needs no look-up.
struct BoundAffine {
  struct Term {
    const std::int64_t* coordinate;            // null: `floor` applies
    std::unique_ptr<const BoundAffine> floor;  // floor(floor / divisor)
    std::int64_t divisor, factor;
  };
  std::vector<Term> terms;
  std::int64_t constant = 0;

  std::int64_t operator()() const {
    std::int64_t sum = constant;
    for (const Term& t : terms)
      sum += t.factor * (t.coordinate ? *t.coordinate : floor_div((*t.floor)(), t.divisor));
    return sum;
  }
};

/// Values of one expression at all points that are evaluated together: neighbours of a row.
using Batch = std::vector<Value>;
constexpr std::int64_t most_points = 64;

/// Where a loop over a window stands.
struct LoopState {
  std::vector<std::int64_t> tap;
  std::vector<Batch> accumulators;
};

/// The expressions of one scope (a stage's case, or the body of a loop) as a list of steps, operands first.
struct Scope {
  struct Step {
    Expr node;
    std::vector<int> operands;        // slots
    std::vector<BoundAffine> affine;  // of a Read or a Quantity
    std::vector<int> computed;        // per index of a Read: the operand's slot, or -1 if affine
    const Array* source = nullptr;    // of a Read
    ConcreteBox region;               // of a Read with a border
    std::shared_ptr<Scope> body;      // of a fold or a median
    std::vector<int> body_slots;      // per accumulator of a fold: the slot of its next value in the body
    LoopState* loop = nullptr;        // of a Coefficient, an Accumulated, a fold or a median
  };
  std::vector<Step> steps;
  std::vector<Batch> slots;
  std::unordered_map<const Node*, int> slot_of;
};

/// Evaluates expressions that are bound to it.
class Batches {
 public:
  Batches(const Bindings& bindings, std::optional<Shake> shake)
      : bindings_(bindings), sizes_(sizes_of(bindings)), shake_(std::move(shake)) {}

  /// Begins with points of `rank` coordinates, and forgets what was bound before.
  void begin_expressions(int rank);
  /// The slot of the expression's values.
  int bind(const Expr& e, Scope& scope);
  /// At all points of columns_.
  void evaluate(Scope& scope);
  /// Of what is the same at all points, or at the first.
  const Value& single(Scope& scope);

  ConcreteBox box_of(const Box& box) const;

 protected:
  using State = std::vector<Value>;

  const Bindings& bindings_;
  Sizes sizes_;
  std::unordered_map<const Stage*, Array> arrays_;  ///< What is read.
  std::vector<std::int64_t> pixel_;    ///< That a value is computed for: points of a batch in turn.
  std::vector<std::int64_t> columns_;  ///< Of the batch: its points along x.
  std::array<State, 2> operands_;      ///< Of the operator that is evaluated.
  std::int64_t step_ = 0;              ///< Of the evolution that runs.
  PixelOf read_pixel_;                 ///< Instead of arrays, for single pixels.

 private:
  LoopState* begun(const Loop& loop);
  void bind_read(const Read& n, Scope& scope, Scope::Step& step);
  BoundAffine bound(const Affine& a) const;
  void evaluate(const Scope::Step& step, const Scope& scope, Batch& to);
  void read(const Read& n, const Scope::Step& step, const Scope& scope, std::size_t k, Value& to) const;
  const Batch& fold(const FoldResult& n, const Scope::Step& step, const Scope& scope);
  void median(const Median& n, const Scope::Step& step, Batch& to);

  std::optional<Shake> shake_;
  std::unordered_map<const Loop*, LoopState> loops_;
};

}  // namespace weft::ir
