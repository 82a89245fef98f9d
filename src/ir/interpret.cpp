#include "ir/interpret.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "ir/visit.h"
#include "ir/window.h"

namespace weft::ir {

std::int64_t border_index(BorderMode mode, std::int64_t index, std::int64_t extent) {
  if (extent <= 0) return -1;
  if (index >= 0 && index < extent) return index;
  const auto modulo = [](std::int64_t a, std::int64_t n) { return a - floor_div(a, n) * n; };
  switch (mode) {
    case BorderMode::Clamp: return index < 0 ? 0 : extent - 1;
    case BorderMode::Repeat: return modulo(index, extent);
    case BorderMode::Mirror: {
      const std::int64_t m = modulo(index, 2 * extent);
      return m < extent ? m : 2 * extent - 1 - m;
    }
    case BorderMode::Mirror101: {
      if (extent == 1) return 0;
      const std::int64_t m = modulo(index, 2 * extent - 2);
      return m < extent ? m : 2 * extent - 2 - m;
    }
    case BorderMode::Constant: break;
  }
  return -1;
}

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
  Interpreter(const Pipeline& pipeline, const Bindings& bindings)
      : pipeline_(pipeline), bindings_(bindings), sizes_(sizes_of(bindings)) {}

  std::map<std::string, Buffer> run() {
    for (const StagePtr& input : pipeline_.inputs) {
      const Buffer& image = bindings_.images.at(input->name);
      arrays_[input.get()] = {image, {std::vector<std::int64_t>(image.rank(), 0), image.extents()}};
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
    Array array{{}, weft::ir::evaluate(stage, sizes_)};
    array.buffer = Buffer::allocate(stage.type, array.box.extent);
    pixel_.assign(stage.box.size(), 0);
    loops_.clear();

    struct BoundCase {
      std::optional<Scope> when;
      Scope value;
    };
    std::deque<BoundCase> cases;
    for (const Case& c : std::get<Pure>(stage.definition).cases) {
      BoundCase& bound = cases.emplace_back();
      if (c.when) bind(c.when, bound.when.emplace());
      bind(c.value, bound.value);
    }
    if (array.buffer.pixels() > 0) {
      for_each_pixel(array.box, [&] {
        for (BoundCase& c : cases) {
          if (c.when && !evaluate(*c.when).lane[0].i) continue;
          store_pixel(array, evaluate(c.value));
          return;
        }
        throw InternalError("no case of '" + stage.name +
                            "' covers a pixel");  // analysis refused such a pipeline
      });
    }
    arrays_[&stage] = std::move(array);
  }

  template <class Body>
  void for_each_pixel(const ConcreteBox& box, Body body) {
    pixel_ = box.min;
    for (;;) {
      body();
      std::size_t d = 0;
      while (d < pixel_.size() && ++pixel_[d] == box.min[d] + box.extent[d]) {
        pixel_[d] = box.min[d];
        ++d;
      }
      if (d == pixel_.size()) return;
    }
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
            [&](const auto&) {
              for (const Expr& operand : operands(*e)) step.operands.push_back(bind(operand, scope));
            },
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
    step.source = &arrays_.at(n.source.get());
    for (const Range& range : n.region) {
      step.region.min.push_back(weft::ir::evaluate(range.min, sizes_));
      step.region.extent.push_back(weft::ir::evaluate(range.extent, sizes_));
    }
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
                result.lane[l] = apply(n.op, type.scalar, operand(0).lane[l]);
              return result;
            },
            [&](const Binary& n) {
              Value result{type, {}};
              for (int l = 0; l < type.lanes; ++l) {
                result.lane[l] = apply(n.op, operand(0).type.scalar, operand(0).lane[l], operand(1).lane[l]);
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
        },
        step.node->op);
  }

  Value read(const Read& n, const Scope::Step& step, const Scope& scope) {
    std::int64_t offset = 0;
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
      at -= step.source->box.min[d];
      if (at < 0 || at >= step.source->box.extent[d]) {
        throw InternalError("a read of '" + n.source->name +
                            "' leaves its box");  // analysis refused such a pipeline
      }
      offset += at * step.source->buffer.stride(static_cast<int>(d));
    }
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

  void store_pixel(const Array& array, const Value& value) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < pixel_.size(); ++d) {
      offset += (pixel_[d] - array.box.min[d]) * array.buffer.stride(static_cast<int>(d));
    }
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
};

}  // namespace

std::map<std::string, Buffer> interpret(const Pipeline& pipeline, const Bindings& bindings) {
  check_bindings(pipeline, bindings);
  return Interpreter(pipeline, bindings).run();
}

}  // namespace weft::ir
