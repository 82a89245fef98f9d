#include "ir/interpret.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/batches.h"
#include "ir/visit.h"

namespace weft::ir {

namespace {

class Interpreter : private Batches {
 public:
  Interpreter(const Pipeline& pipeline, const Bindings& bindings, RunProgress* progress = nullptr,
              std::optional<Shake> shake = {})
      : Batches(bindings, std::move(shake)), pipeline_(pipeline), progress_(progress) {}

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

  /// The expressions of a state in one scope.
  struct BoundState {
    Scope scope;
    std::vector<int> slots;
  };
  using Batches::bind, Batches::single;
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
      updates[u].slots.push_back(bind(scatter.updates[u].value, updates[u].scope));
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

  const Pipeline& pipeline_;
  std::unordered_map<const Evolution*, std::vector<Array>> evolved_;
  RunProgress* progress_;  // or null
  double total_ = 0, finished_ = 0;
  Cases cases_;  // of single pixels
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

PixelInterpreter::PixelInterpreter(const Pipeline& pipeline, const Bindings& bindings, const Stage& stage,
                                   PixelOf source) {
  const auto interpreter = std::make_shared<Interpreter>(pipeline, bindings);
  interpreter->prepare_pixels(stage, std::move(source));
  pixel_ = [interpreter, &stage](const std::vector<std::int64_t>& at) {
    return interpreter->pixel(stage, at);
  };
}

}  // namespace weft::ir
