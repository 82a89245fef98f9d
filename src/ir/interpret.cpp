#include "ir/interpret.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/operation.h"
#include "ir/shake.h"
#include "ir/visit.h"
#include "ir/window.h"

namespace weft::ir {

namespace {

/// A computed stage or a bound image: pixels over a box that need not start at 0.
struct Array {
  Buffer buffer;
  ConcreteBox box;
};

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
  };
  std::vector<Step> steps;
  std::vector<Value> slots;
  std::unordered_map<const Node*, int> slot_of;
};

/// Where a loop over a window stands.
struct LoopState {
  std::vector<std::int64_t> tap;
  std::size_t point = 0;
  std::vector<Value> accumulators;
};

class Interpreter {
 public:
  Interpreter(const Pipeline& pipeline, const Bindings& bindings, RunProgress* progress = nullptr,
              std::optional<Shake> shake = {})
      : pipeline_(pipeline),
        bindings_(bindings),
        sizes_(sizes_of(bindings)),
        shake_(std::move(shake)),
        progress_(progress) {}

  /// Makes it one of single pixels of a stage, which reads others through `source`.
  void prepare_pixels(const Stage& stage, PixelOf source) {
    read_pixel_ = std::move(source);
    bind_cases(stage, cases_);
  }
  Value pixel(const Stage& stage, const std::vector<std::int64_t>& at) {
    std::copy(at.begin(), at.end(), pixel_.begin());
    return chosen(stage, cases_);
  }

  /// The points of all domains, those of evolutions at each step.
  double work() {
    double total = 0;
    std::unordered_set<const Evolution*> known;
    for (const StagePtr& stage : pipeline_.stages) {
      const auto* evolve = std::get_if<Evolve>(&stage->definition);
      if (!evolve) {
        total += points_of(stage->domain());
      } else if (known.insert(evolve->evolution.get()).second) {
        double points = 0;
        for (const Evolving& field : evolve->evolution->fields) points += points_of(field.update->box);
        begin_expressions(0);
        Scope steps;
        bind(evolve->evolution->steps, steps);
        total += points * static_cast<double>(std::max<std::int64_t>(evaluate(steps).as_integer(), 0));
      }
    }
    return total;
  }

  std::map<std::string, Buffer> run() {
    for (const StagePtr& input : pipeline_.inputs) {
      const Buffer& image = bindings_.images.at(input->name);
      arrays_[input.get()] = {image, {std::vector<std::int64_t>(image.rank(), 0), image.extents()}};
    }
    if (progress_) {
      progress_->done = 0, progress_->step = 0, progress_->steps = 0;
      total_ = work();
    }
    for (const StagePtr& stage : pipeline_.stages) compute(*stage);
    std::map<std::string, Buffer> outputs;
    for (const StagePtr& output : pipeline_.outputs) {
      const Buffer& result = arrays_.at(output.get()).buffer;
      outputs[output->name] = output->is_input() ? result.packed() : result;
    }
    return outputs;
  }

 private:
  void compute(const Stage& stage) {
    std::visit(overloaded{
                   [&](const Pure&) {
                     Array array = allocated(stage);
                     compute(stage, array);
                     arrays_[&stage] = std::move(array);
                   },
                   [&](const Reduce& reduce) { compute(stage, reduce); },
                   [&](const Scatter& scatter) { compute(stage, scatter); },
                   [&](const Evolve& evolve) {
                     const Evolution& evolution = *evolve.evolution;
                     if (!evolved_.count(&evolution)) evolved_[&evolution] = this->evolve(evolution);
                     arrays_[&stage] = evolved_.at(&evolution).at(evolve.field);
                   },
                   [](const Input&) { throw InternalError("an input among the stages"); },
                   [](const Past&) { throw InternalError("a field's past among the stages"); },
               },
               stage.definition);
  }

  Array allocated(const Stage& stage) const {
    Array array{{}, weft::ir::evaluate(stage, sizes_)};
    array.buffer = Buffer::allocate(stage.type, array.box.extent);
    return array;
  }

  /// A case of a pure stage.
  struct BoundCase {
    std::optional<Scope> when;
    Scope value;
  };
  using Cases = std::deque<BoundCase>;

  void bind_cases(const Stage& stage, Cases& cases) {
    begin_expressions(stage.rank());
    for (const Case& c : std::get<Pure>(stage.definition).cases) {
      BoundCase& bound = cases.emplace_back();
      if (c.when) bind(c.when, bound.when.emplace());
      bind(c.value, bound.value);
    }
  }
  /// Of the pixel at pixel_.
  const Value& chosen(const Stage& stage, Cases& cases) {
    for (BoundCase& c : cases) {
      if (!c.when || evaluate(*c.when).lane[0].i) return evaluate(c.value);
    }
    throw InternalError("no case of '" + stage.name +
                        "' covers a pixel");  // analysis refused such a pipeline
  }

  /// Computes the pixels of a pure stage's box into an array over that box or a larger one.
  void compute(const Stage& stage, const Array& array) {
    Cases cases;
    bind_cases(stage, cases);
    for_each_pixel(box_of(stage.box), [&] { store_pixel(array, pixel_, chosen(stage, cases)); });
  }

  // ---- reductions ----

  using State = std::vector<Value>;

  /// The expressions of a state in one scope.
  struct BoundState {
    Scope scope;
    std::vector<int> slots;
  };
  void bind(const std::vector<Expr>& components, BoundState& bound) {
    for (const Expr& e : components) bound.slots.push_back(bind(e, bound.scope));
  }
  State evaluate(BoundState& bound) {
    evaluate(bound.scope);
    State state;
    for (int slot : bound.slots) state.push_back(bound.scope.slots[slot]);
    return state;
  }

  /// Combines neighbours, then neighbouring pairs, and so on: float sums lose little. Each element is
  /// combined with the identity before, and that makes a NaN the identity of a minimum, a maximum or a place.
  void compute(const Stage& stage, const Reduce& reduce) {
    begin_expressions(static_cast<int>(reduce.over.size()));
    BoundState element, combined, identity;
    bind(reduce.element, element);
    bind(reduce.op.combined, combined);
    bind(reduce.op.identity, identity);
    const auto combine = [&](State& left, State right) {
      operands_ = {std::move(left), std::move(right)};
      left = evaluate(combined);
    };
    const State nothing = evaluate(identity);
    std::vector<std::optional<State>> pending;  // of 2^level elements each, or none
    for_each_pixel(box_of(reduce.over), [&] {
      State carry = nothing;
      combine(carry, evaluate(element));
      std::size_t level = 0;
      for (; level < pending.size() && pending[level]; ++level) {
        combine(*pending[level], std::move(carry));
        carry = std::move(*pending[level]);
        pending[level].reset();
      }
      if (level == pending.size()) pending.emplace_back();
      pending[level] = std::move(carry);
    });
    State total = nothing;
    for (auto state = pending.rbegin(); state != pending.rend(); ++state) {
      if (*state) combine(total, std::move(**state));
    }
    operands_[0] = std::move(total);
    Scope result;
    bind(reduce.result, result);
    const Array array = allocated(stage);
    store_pixel(array, {}, evaluate(result));
    arrays_[&stage] = array;
  }

  // ---- scattering ----

  void compute(const Stage& stage, const Scatter& scatter) {
    const Array array = allocated(stage);
    begin_expressions(static_cast<int>(scatter.over.size()));
    Scope initial;
    bind(scatter.initial, initial);
    std::vector<BoundState> updates(scatter.updates.size());  // indices, then the value
    for (std::size_t u = 0; u < updates.size(); ++u) {
      bind(scatter.updates[u].at, updates[u]);
      bind(std::vector{scatter.updates[u].value}, updates[u]);
    }
    const Value start = evaluate(initial);
    for_each_point(array.box, [&](const std::vector<std::int64_t>& at) { store_pixel(array, at, start); });
    for_each_pixel(box_of(scatter.over), [&] {
      for (BoundState& update : updates) {
        const State state = evaluate(update);
        std::vector<std::int64_t> at;
        bool inside = true;
        for (std::size_t d = 0; d < array.box.min.size(); ++d) {
          at.push_back(state[d].lane[0].i);
          inside &= at[d] >= array.box.min[d] && at[d] - array.box.min[d] < array.box.extent[d];
        }
        if (!inside) continue;
        Value pixel = load_pixel(array, at);
        for (int l = 0; l < pixel.type.lanes; ++l) {
          pixel.lane[l] = apply(scatter.op, pixel.type.scalar, pixel.lane[l], state.back().lane[l]);
        }
        store_pixel(array, at, pixel);
      }
    });
    arrays_[&stage] = array;
  }

  // ---- evolutions ----

  std::vector<Array> evolve(const Evolution& evolution) {
    std::vector<std::deque<Array>> history;  // per field, the latest first
    for (const Evolving& field : evolution.fields) {
      const Array& initial = arrays_.at(field.initial.get());
      history.emplace_back(std::max<std::size_t>(field.past.size(), 1),
                           Array{initial.buffer.packed(), initial.box});
    }
    begin_expressions(0);
    Scope steps;
    bind(evolution.steps, steps);
    const std::int64_t count = evaluate(steps).as_integer();
    if (progress_) progress_->steps = count;
    for (step_ = 0; step_ < count; ++step_) {
      if (progress_) progress_->step = step_ + 1;
      for (std::size_t f = 0; f < history.size(); ++f) {
        for (std::size_t g = 0; g < history.size(); ++g) bind_past(evolution.fields[g], history[g], g < f);
        Array next{history[f][0].buffer.packed(), history[f][0].box};
        compute(*evolution.fields[f].update, next);
        history[f].push_front(std::move(next));
        history[f].pop_back();
      }
    }
    if (progress_) progress_->steps = 0;
    std::vector<Array> result;
    for (const auto& states : history) result.push_back(states[0]);
    return result;
  }

  /// Lets the field's past be read by an update before or after its own in the step.
  void bind_past(const Evolving& field, const std::deque<Array>& history, bool is_updated) {
    for (std::size_t age = 0; age < field.past.size(); ++age) {
      if (!field.past[age] || (age == 0 && !is_updated)) continue;
      arrays_[field.past[age].get()] = history.at(is_updated ? age : age - 1);
    }
  }

  // ---- boxes ----

  ConcreteBox box_of(const Box& box) const {
    ConcreteBox result;
    for (const Range& range : box) {
      result.min.push_back(weft::ir::evaluate(range.min, sizes_));
      result.extent.push_back(weft::ir::evaluate(range.extent, sizes_));
    }
    return result;
  }

  void begin_expressions(int rank) {
    pixel_.assign(rank, 0);
    loops_.clear();
  }

  template <class Body>
  static void for_each_point(const ConcreteBox& box, Body body) {
    if (std::any_of(box.extent.begin(), box.extent.end(), [](auto e) { return e <= 0; })) return;
    std::vector<std::int64_t> at = box.min;
    for (;;) {
      body(at);
      std::size_t d = 0;
      while (d < at.size() && ++at[d] == box.min[d] + box.extent[d]) {
        at[d] = box.min[d];
        ++d;
      }
      if (d == at.size()) return;
    }
  }

  /// With pixel_ at each point in turn: expressions are bound to its elements.
  template <class Body>
  void for_each_pixel(const ConcreteBox& box, Body body) {
    for_each_point(box, [&](const std::vector<std::int64_t>& at) {
      std::copy(at.begin(), at.end(), pixel_.begin());
      body();
      if (progress_ && (at.empty() || at[0] == box.min[0])) advance(at.empty() ? 1 : box.extent[0]);
    });
  }

  // ---- progress: points of domains ----

  double points_of(const Box& box) const {
    double points = 1;
    for (const std::int64_t extent : box_of(box).extent) points *= static_cast<double>(extent);
    return points;
  }

  void advance(std::int64_t points) {
    finished_ += static_cast<double>(points);
    progress_->done.store(finished_ / total_, std::memory_order_relaxed);
  }

  // ---- binding: from names to addresses and slots ----

  int bind(const Expr& e, Scope& scope) {
    if (auto known = scope.slot_of.find(e.get()); known != scope.slot_of.end()) return known->second;
    Scope::Step step;
    step.node = e;
    std::visit(
        overloaded{
            [&](const Quantity& n) { step.affine.push_back(bind(n.value)); },
            [&](const Read& n) { bind_read(n, scope, step); },
            [&](const FoldResult& n) {
              for (const Expr& initial : n.fold->initial) step.operands.push_back(bind(initial, scope));
              step.body = std::make_shared<Scope>();
              loops_.try_emplace(n.fold->loop.get()).first->second.tap.resize(n.fold->loop->domain.rank);
              for (const Expr& next : n.fold->next) step.body_slots.push_back(bind(next, *step.body));
            },
            [&](const Median& n) {
              step.body = std::make_shared<Scope>();
              loops_.try_emplace(n.loop.get()).first->second.tap.resize(n.loop->domain.rank);
              bind(n.value, *step.body);
            },
            [&](const Operation auto&) {
              for (const Expr& operand : operands(*e)) step.operands.push_back(bind(operand, scope));
            },
            [](const Const&) {},
            [](const ParamRef&) {},
            [](const Coefficient&) {},
            [](const Accumulated&) {},
            [](const Operand&) {},
            [](const StepNumber&) {},
        },
        e->op);
    scope.steps.push_back(std::move(step));
    scope.slots.emplace_back();
    return scope.slot_of[e.get()] = static_cast<int>(scope.slots.size()) - 1;
  }

  void bind_read(const Read& n, Scope& scope, Scope::Step& step) {
    for (const Index& index : n.indices) {
      const auto* computed = std::get_if<Expr>(&index);
      step.computed.push_back(computed ? bind(*computed, scope) : -1);
      step.affine.push_back(computed ? BoundAffine{} : bind(std::get<Affine>(index)));
    }
    if (n.border && n.border->constant) step.operands.push_back(bind(n.border->constant, scope));
    if (!read_pixel_) step.source = &arrays_.at(n.source.get());
    step.region = box_of(n.region);
  }

  BoundAffine bind(const Affine& a) {
    BoundAffine bound;
    bound.constant = a.constant();
    for (const auto& [atom, factor] : a.terms()) {
      std::visit(overloaded{
                     [&](const Coord& c) {
                       bound.terms.push_back({&pixel_.at(c.dim), nullptr, 1, factor});
                     },
                     [&](const TapCoord& t) {
                       bound.terms.push_back({&loops_.at(t.loop.get()).tap.at(t.dim), nullptr, 1, factor});
                     },
                     [&](const Size& s) { bound.constant += factor * sizes_.at(s.image).at(s.dim); },
                     [&](const FloorDiv& f) {
                       auto inner = std::make_unique<const BoundAffine>(bind(*f.numerator));
                       bound.terms.push_back({nullptr, std::move(inner), f.divisor, factor});
                     },
                 },
                 atom);
    }
    return bound;
  }

  // ---- evaluation ----

  const Value& evaluate(Scope& scope) {
    for (std::size_t i = 0; i < scope.steps.size(); ++i) scope.slots[i] = evaluate(scope.steps[i], scope);
    return scope.slots.back();
  }

  template <class Op, class... Numbers>
  Number applied(Op op, Scalar s, Numbers... operands) {
    const Number result = apply(op, s, operands...);
    return shake_ && is_float(s) ? (*shake_)(op, s, operands..., result) : result;
  }

  Value evaluate(const Scope::Step& step, const Scope& scope) {
    const Type type = step.node->type;
    const auto operand = [&](int i) -> const Value& { return scope.slots[step.operands[i]]; };
    return std::visit(
        overloaded{
            [&](const Const& n) { return n.value; },
            [&](const Quantity&) {
              return Value{type, {Number{.i = step.affine[0]()}}};
            },
            [&](const ParamRef& n) { return value_of(*n.param, bindings_); },
            [&](const Unary& n) {
              Value result{type, {}};
              for (int l = 0; l < type.lanes; ++l)
                result.lane[l] = applied(n.op, type.scalar, operand(0).lane[l]);
              return result;
            },
            [&](const Binary& n) {
              Value result{type, {}};
              for (int l = 0; l < type.lanes; ++l) {
                result.lane[l] =
                    applied(n.op, operand(0).type.scalar, operand(0).lane[l], operand(1).lane[l]);
              }
              return result;
            },
            [&](const Select&) {
              Value result{type, {}};
              for (int l = 0; l < type.lanes; ++l) {
                const bool chosen = operand(0).lane[operand(0).type.lanes == 1 ? 0 : l].i != 0;
                result.lane[l] = operand(chosen ? 1 : 2).lane[l];
              }
              return result;
            },
            [&](const Cast& n) {
              Value result{type, {}};
              for (int l = 0; l < type.lanes; ++l) {
                result.lane[l] = convert(n.mode, operand(0).type.scalar, type.scalar, operand(0).lane[l]);
              }
              return result;
            },
            [&](const Pack&) {
              Value result{type, {}};
              for (int l = 0; l < type.lanes; ++l) result.lane[l] = operand(l).lane[0];
              return result;
            },
            [&](const Lane& n) {
              return Value{type, {operand(0).lane[n.lane]}};
            },
            [&](const Read& n) { return read(n, step, scope); },
            [&](const Coefficient& n) { return coefficient_at(*n.mask, loops_.at(n.loop.get()).tap); },
            [&](const Accumulated& n) { return loops_.at(n.loop.get()).accumulators[n.accumulator]; },
            [&](const FoldResult& n) { return fold(n, step, scope); },
            [&](const Median& n) { return median(n, step); },
            [&](const Operand& n) { return operands_[n.side].at(n.component); },
            [&](const StepNumber&) { return Value::integer(type, step_); },
        },
        step.node->op);
  }

  Value read(const Read& n, const Scope::Step& step, const Scope& scope) {
    std::int64_t offset = 0;
    std::vector<std::int64_t> point;  // of single pixels
    for (std::size_t d = 0; d < n.indices.size(); ++d) {
      std::int64_t at = step.computed[d] >= 0 ? scope.slots[step.computed[d]].lane[0].i : step.affine[d]();
      if (n.border) {
        const std::int64_t inside =
            border_index(n.border->mode, at - step.region.min[d], step.region.extent[d]);
        if (inside < 0) {
          return n.border->constant ? scope.slots[step.operands[0]] : Value::integer(step.node->type, 0);
        }
        at = inside + step.region.min[d];
      }
      if (read_pixel_) {
        point.push_back(at);
        continue;
      }
      at -= step.source->box.min[d];
      if (at < 0 || at >= step.source->box.extent[d]) {
        throw InternalError("a read of '" + n.source->name +
                            "' leaves its box");  // analysis refused such a pipeline
      }
      offset += at * step.source->buffer.stride(static_cast<int>(d));
    }
    if (read_pixel_) return read_pixel_(*n.source, point);
    const Buffer& buffer = step.source->buffer;
    Value result{step.node->type, {}};
    for (int l = 0; l < result.type.lanes; ++l) {
      result.lane[l] = load(result.type.scalar, address(buffer, offset + l * buffer.lane_stride()));
    }
    return result;
  }

  template <class Body>
  void for_each_tap(const Loop& loop, LoopState& state, Body body) {
    for (state.point = 0; state.point < loop.domain.points.size(); ++state.point) {
      std::copy(loop.domain.points[state.point].begin(), loop.domain.points[state.point].end(),
                state.tap.begin());
      body();
    }
  }

  Value fold(const FoldResult& n, const Scope::Step& step, const Scope& scope) {
    LoopState& state = loops_.at(n.fold->loop.get());
    state.accumulators.clear();
    for (int slot : step.operands) state.accumulators.push_back(scope.slots[slot]);
    for_each_tap(*n.fold->loop, state, [&] {
      evaluate(*step.body);
      for (std::size_t i = 0; i < state.accumulators.size(); ++i) {
        state.accumulators[i] = step.body->slots[step.body_slots[i]];
      }
    });
    return state.accumulators[n.accumulator];
  }

  Value median(const Median& n, const Scope::Step& step) {
    LoopState& state = loops_.at(n.loop.get());
    std::vector<Value> values;
    for_each_tap(*n.loop, state, [&] { values.push_back(evaluate(*step.body)); });
    Value result{step.node->type, {}};
    const bool real = is_float(result.type.scalar), is_unsigned = !is_signed(result.type.scalar);
    for (int l = 0; l < result.type.lanes; ++l) {
      auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), middle, values.end(), [&](const Value& a, const Value& b) {
        if (real) return a.lane[l].f < b.lane[l].f || (std::isnan(b.lane[l].f) && !std::isnan(a.lane[l].f));
        if (is_unsigned)
          return static_cast<std::uint64_t>(a.lane[l].i) < static_cast<std::uint64_t>(b.lane[l].i);
        return a.lane[l].i < b.lane[l].i;
      });
      result.lane[l] = middle->lane[l];
    }
    return result;
  }

  static void* address(const Buffer& buffer, std::int64_t offset) {
    return static_cast<std::byte*>(buffer.data()) + offset * size_of(buffer.type().scalar);
  }

  static std::int64_t offset_of(const Array& array, const std::vector<std::int64_t>& at) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      offset += (at[d] - array.box.min[d]) * array.buffer.stride(static_cast<int>(d));
    }
    return offset;
  }

  static Value load_pixel(const Array& array, const std::vector<std::int64_t>& at) {
    const std::int64_t offset = offset_of(array, at);
    Value value{array.buffer.type(), {}};
    for (int l = 0; l < value.type.lanes; ++l) {
      value.lane[l] = load(value.type.scalar, address(array.buffer, offset + l * array.buffer.lane_stride()));
    }
    return value;
  }

  /// The array is one that the interpreter has allocated.
  static void store_pixel(const Array& array, const std::vector<std::int64_t>& at, const Value& value) {
    const std::int64_t offset = offset_of(array, at);
    for (int l = 0; l < value.type.lanes; ++l) {
      store(value.type.scalar, address(array.buffer, offset + l), value.lane[l]);
    }
  }

  const Pipeline& pipeline_;
  const Bindings& bindings_;
  Sizes sizes_;
  std::unordered_map<const Stage*, Array> arrays_;
  std::vector<std::int64_t> pixel_;
  std::unordered_map<const Loop*, LoopState> loops_;
  std::array<State, 2> operands_;  // of the operator that is evaluated
  std::int64_t step_ = 0;          // of the evolution that runs
  std::unordered_map<const Evolution*, std::vector<Array>> evolved_;
  std::optional<Shake> shake_;
  RunProgress* progress_;  // or null
  double total_ = 0, finished_ = 0;
  PixelOf read_pixel_;  // of single pixels
  Cases cases_;         // likewise
};

}  // namespace

std::map<std::string, Buffer> interpret(const Pipeline& pipeline, const Bindings& bindings,
                                        RunProgress* progress) {
  check_bindings(pipeline, bindings);
  return Interpreter(pipeline, bindings, progress).run();
}

std::map<std::string, Buffer> interpret_shaken(const Pipeline& pipeline, const Bindings& bindings,
                                               std::uint64_t seed) {
  check_bindings(pipeline, bindings);
  return Interpreter(pipeline, bindings, nullptr, Shake(seed)).run();
}

double work_of(const Pipeline& pipeline, const Bindings& bindings) {
  return Interpreter(pipeline, bindings).work();
}

class PixelInterpreter::Implementation : public Interpreter {
 public:
  using Interpreter::Interpreter;
};

PixelInterpreter::PixelInterpreter(const Pipeline& pipeline, const Bindings& bindings, const Stage& stage,
                                   PixelOf source)
    : stage_(stage), impl_(std::make_unique<Implementation>(pipeline, bindings)) {
  impl_->prepare_pixels(stage, std::move(source));
}
PixelInterpreter::~PixelInterpreter() = default;

Value PixelInterpreter::operator()(const std::vector<std::int64_t>& at) { return impl_->pixel(stage_, at); }

}  // namespace weft::ir
