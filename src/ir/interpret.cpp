#include "ir/interpret.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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

/// Values of one expression at all points that are evaluated together: neighbours of a row.
using Batch = std::vector<Value>;
constexpr std::int64_t most_points = 64;

/// Where a loop over a window stands.
struct LoopState {
  std::vector<std::int64_t> tap;
  std::size_t point = 0;
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
    columns_.assign(1, at.empty() ? 0 : at[0]);
    Value result;
    compute(stage, cases_, [&](std::int64_t, const Value& value) { result = value; });
    return result;
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
        total += points * static_cast<double>(std::max<std::int64_t>(single(steps).as_integer(), 0));
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
  /// Of each pixel the first case that holds; `store` gets its column and its value.
  template <class Store>
  void compute(const Stage& stage, Cases& cases, Store store) {
    std::vector<std::int64_t> rest = std::move(columns_);
    for (BoundCase& c : cases) {
      columns_ = std::exchange(rest, {});
      if (c.when) {
        evaluate(*c.when);
        std::vector<std::int64_t> chosen;
        for (std::size_t k = 0; k < columns_.size(); ++k)
          (c.when->slots.back()[k].lane[0].i ? chosen : rest).push_back(columns_[k]);
        columns_ = std::move(chosen);
        if (columns_.empty()) continue;
      }
      evaluate(c.value);
      for (std::size_t k = 0; k < columns_.size(); ++k) store(columns_[k], c.value.slots.back()[k]);
      if (rest.empty()) return;
    }
    throw InternalError("no case of '" + stage.name +
                        "' covers a pixel");  // analysis refused such a pipeline
  }

  /// Computes the pixels of a pure stage's box into an array over that box or a larger one.
  void compute(const Stage& stage, const Array& array) {
    Cases cases;
    bind_cases(stage, cases);
    for_each_batch(box_of(stage.box), [&] {
      compute(stage, cases, [&](std::int64_t x, const Value& value) {
        if (!pixel_.empty()) pixel_[0] = x;
        store_pixel(array, pixel_, value);
      });
    });
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
  static State state_at(const BoundState& bound, std::size_t point) {
    State state;
    for (int slot : bound.slots) state.push_back(bound.scope.slots[slot][point]);
    return state;
  }
  State single(BoundState& bound) {
    single(bound.scope);
    return state_at(bound, 0);
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
      left = single(combined);
    };
    const State nothing = single(identity);
    std::vector<std::optional<State>> pending;  // of 2^level elements each, or none
    for_each_batch(box_of(reduce.over), [&] {
      evaluate(element.scope);
      for (std::size_t k = 0; k < element.scope.slots[0].size(); ++k) {
        State carry = nothing;
        combine(carry, state_at(element, k));
        std::size_t level = 0;
        for (; level < pending.size() && pending[level]; ++level) {
          combine(*pending[level], std::move(carry));
          carry = std::move(*pending[level]);
          pending[level].reset();
        }
        if (level == pending.size()) pending.emplace_back();
        pending[level] = std::move(carry);
      }
    });
    State total = nothing;
    for (auto state = pending.rbegin(); state != pending.rend(); ++state) {
      if (*state) combine(total, std::move(**state));
    }
    operands_[0] = std::move(total);
    Scope result;
    bind(reduce.result, result);
    const Array array = allocated(stage);
    store_pixel(array, {}, single(result));
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
    const Value start = single(initial);
    for_each_point(array.box, [&](const std::vector<std::int64_t>& at) { store_pixel(array, at, start); });
    for_each_batch(box_of(scatter.over), [&] {
      for (BoundState& update : updates) evaluate(update.scope);
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        for (const BoundState& update : updates) apply_update(scatter, array, state_at(update, k));
      }
    });
    arrays_[&stage] = array;
  }

  void apply_update(const Scatter& scatter, const Array& array, const State& state) const {
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < array.box.min.size(); ++d) {
      at.push_back(state[d].lane[0].i);
      if (at[d] < array.box.min[d] || at[d] - array.box.min[d] >= array.box.extent[d]) return;
    }
    Value pixel = load_pixel(array, at);
    for (int l = 0; l < pixel.type.lanes; ++l)
      pixel.lane[l] = apply(scatter.op, pixel.type.scalar, pixel.lane[l], state.back().lane[l]);
    store_pixel(array, at, pixel);
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
    const std::int64_t count = single(steps).as_integer();
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
    columns_.assign(1, 0);
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

  /// With pixel_ in each row in turn, and columns_ all of it by pieces: expressions are bound to the elements of pixel_.
  template <class Body>
  void for_each_batch(const ConcreteBox& box, Body body) {
    const std::int64_t columns = box.extent.empty() ? 1 : box.extent[0];
    ConcreteBox rows = box;
    if (!rows.extent.empty()) rows.extent[0] = std::min<std::int64_t>(columns, 1);
    for_each_point(rows, [&](const std::vector<std::int64_t>& at) {
      std::copy(at.begin(), at.end(), pixel_.begin());
      const std::int64_t first = at.empty() ? 0 : at[0], end = first + columns;
      for (std::int64_t x = first; x < end; x += most_points) {
        columns_.resize(std::min(most_points, end - x));
        std::iota(columns_.begin(), columns_.end(), x);
        body();
      }
      if (progress_) advance(columns);
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
    std::visit(overloaded{
                   [&](const Quantity& n) { step.affine.push_back(bind(n.value)); },
                   [&](const Read& n) { bind_read(n, scope, step); },
                   [&](const FoldResult& n) {
                     for (const Expr& initial : n.fold->initial)
                       step.operands.push_back(bind(initial, scope));
                     step.body = std::make_shared<Scope>();
                     step.loop = begun(*n.fold->loop);
                     for (const Expr& next : n.fold->next) step.body_slots.push_back(bind(next, *step.body));
                   },
                   [&](const Median& n) {
                     step.body = std::make_shared<Scope>();
                     step.loop = begun(*n.loop);
                     bind(n.value, *step.body);
                   },
                   [&](const Operation auto&) {
                     for (const Expr& operand : operands(*e)) step.operands.push_back(bind(operand, scope));
                   },
                   [](const Const&) {},
                   [](const ParamRef&) {},
                   [&](const Coefficient& n) { step.loop = &loops_.at(n.loop.get()); },
                   [&](const Accumulated& n) { step.loop = &loops_.at(n.loop.get()); },
                   [](const Operand&) {},
                   [](const StepNumber&) {},
               },
               e->op);
    scope.steps.push_back(std::move(step));
    scope.slots.emplace_back();
    return scope.slot_of[e.get()] = static_cast<int>(scope.slots.size()) - 1;
  }

  LoopState* begun(const Loop& loop) {
    LoopState& state = loops_[&loop];
    state.tap.resize(loop.domain.rank);
    return &state;
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

  /// At all points of columns_.
  void evaluate(Scope& scope) {
    for (std::size_t i = 0; i < scope.steps.size(); ++i) {
      scope.slots[i].resize(columns_.size());
      evaluate(scope.steps[i], scope, scope.slots[i]);
    }
  }
  /// Of what is the same at all points, or at the first.
  const Value& single(Scope& scope) {
    columns_.resize(1);
    evaluate(scope);
    return scope.slots.back()[0];
  }

  template <class Op, class... Numbers>
  Number applied(Op op, Scalar s, Numbers... operands) {
    const Number result = apply(op, s, operands...);
    return shake_ && is_float(s) ? (*shake_)(op, s, operands..., result) : result;
  }

  void evaluate(const Scope::Step& step, const Scope& scope, Batch& to) {
    const Type type = step.node->type;
    const auto operand = [&](int i) -> const Batch& { return scope.slots[step.operands[i]]; };
    const auto all = [&](const Value& value) { std::fill(to.begin(), to.end(), value); };
    const auto each = [&](auto set) {
      for (std::size_t k = 0; k < to.size(); ++k) {
        if (!pixel_.empty()) pixel_[0] = columns_[k];
        to[k].type = type;
        set(k);
      }
    };
    const auto each_lane = [&](auto number_at) {
      for (std::size_t k = 0; k < to.size(); ++k) {
        to[k].type = type;
        for (int l = 0; l < type.lanes; ++l) to[k].lane[l] = number_at(k, l);
      }
    };
    std::visit(
        overloaded{
            [&](const Const& n) { all(n.value); },
            [&](const Quantity&) { each([&](std::size_t k) { to[k].lane[0].i = step.affine[0](); }); },
            [&](const ParamRef& n) { all(value_of(*n.param, bindings_)); },
            [&](const Unary& n) {
              const Batch& a = operand(0);
              each_lane([&](std::size_t k, int l) { return applied(n.op, type.scalar, a[k].lane[l]); });
            },
            [&](const Binary& n) {
              const Batch &a = operand(0), &b = operand(1);
              const Scalar scalar = a[0].type.scalar;
              each_lane(
                  [&](std::size_t k, int l) { return applied(n.op, scalar, a[k].lane[l], b[k].lane[l]); });
            },
            [&](const Select&) {
              const Batch& condition = operand(0);
              const bool by_lane = condition[0].type.lanes > 1;
              each_lane([&](std::size_t k, int l) {
                const bool chosen = condition[k].lane[by_lane ? l : 0].i != 0;
                return operand(chosen ? 1 : 2)[k].lane[l];
              });
            },
            [&](const Cast& n) {
              const Batch& a = operand(0);
              const Scalar from = a[0].type.scalar;
              each_lane(
                  [&](std::size_t k, int l) { return convert(n.mode, from, type.scalar, a[k].lane[l]); });
            },
            [&](const Pack&) { each_lane([&](std::size_t k, int l) { return operand(l)[k].lane[0]; }); },
            [&](const Lane& n) { each_lane([&](std::size_t k, int) { return operand(0)[k].lane[n.lane]; }); },
            [&](const Read& n) { each([&](std::size_t k) { read(n, step, scope, k, to[k]); }); },
            [&](const Coefficient& n) { all(coefficient_at(*n.mask, step.loop->tap)); },
            [&](const Accumulated& n) { to = step.loop->accumulators[n.accumulator]; },
            [&](const FoldResult& n) { to = fold(n, step, scope); },
            [&](const Median& n) { median(n, step, to); },
            [&](const Operand& n) { all(operands_[n.side].at(n.component)); },
            [&](const StepNumber&) { all(Value::integer(type, step_)); },
        },
        step.node->op);
  }

  void read(const Read& n, const Scope::Step& step, const Scope& scope, std::size_t k, Value& to) const {
    std::int64_t offset = 0;
    std::vector<std::int64_t> point;  // of single pixels
    for (std::size_t d = 0; d < n.indices.size(); ++d) {
      std::int64_t at = step.computed[d] >= 0 ? scope.slots[step.computed[d]][k].lane[0].i : step.affine[d]();
      if (n.border) {
        const std::int64_t inside =
            border_index(n.border->mode, at - step.region.min[d], step.region.extent[d]);
        if (inside < 0) {
          to = n.border->constant ? scope.slots[step.operands[0]][k] : Value::integer(step.node->type, 0);
          return;
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
    if (read_pixel_) {
      to = read_pixel_(*n.source, point);
      return;
    }
    const Buffer& buffer = step.source->buffer;
    for (int l = 0; l < to.type.lanes; ++l)
      to.lane[l] = load(to.type.scalar, address(buffer, offset + l * buffer.lane_stride()));
  }

  template <class Body>
  void for_each_tap(const Loop& loop, LoopState& state, Body body) {
    for (state.point = 0; state.point < loop.domain.points.size(); ++state.point) {
      std::copy(loop.domain.points[state.point].begin(), loop.domain.points[state.point].end(),
                state.tap.begin());
      body();
    }
  }

  const Batch& fold(const FoldResult& n, const Scope::Step& step, const Scope& scope) {
    LoopState& state = *step.loop;
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

  void median(const Median& n, const Scope::Step& step, Batch& to) {
    std::vector<Batch> taps;
    for_each_tap(*n.loop, *step.loop, [&] {
      evaluate(*step.body);
      taps.push_back(step.body->slots.back());
    });
    const Type type = step.node->type;
    const bool real = is_float(type.scalar), is_unsigned = !is_signed(type.scalar);
    std::vector<Number> values(taps.size());
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    for (std::size_t k = 0; k < to.size(); ++k) {
      to[k] = {type, {}};
      for (int l = 0; l < type.lanes; ++l) {
        std::transform(taps.begin(), taps.end(), values.begin(),
                       [&](const Batch& tap) { return tap[k].lane[l]; });
        std::nth_element(values.begin(), middle, values.end(), [&](const Number& a, const Number& b) {
          if (real) return a.f < b.f || (std::isnan(b.f) && !std::isnan(a.f));
          if (is_unsigned) return static_cast<std::uint64_t>(a.i) < static_cast<std::uint64_t>(b.i);
          return a.i < b.i;
        });
        to[k].lane[l] = *middle;
      }
    }
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
  std::vector<std::int64_t> pixel_;    // that a value is computed for; of a batch one after the other
  std::vector<std::int64_t> columns_;  // of the batch: its points along x
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
