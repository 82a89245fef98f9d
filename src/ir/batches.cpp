#include "ir/batches.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/operation.h"
#include "ir/visit.h"
#include "ir/window.h"

namespace weft::ir {
namespace {

template <class Body>
void for_each_tap(const Loop& loop, LoopState& state, Body body) {
  for (const auto& point : loop.domain.points) {
    std::copy(point.begin(), point.end(), state.tap.begin());
    body();
  }
}

void* address(const Buffer& buffer, std::int64_t offset) {
  return static_cast<std::byte*>(buffer.data()) + offset * size_of(buffer.type().scalar);
}

std::int64_t offset_of(const Array& array, const std::vector<std::int64_t>& at) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) {
    offset += (at[d] - array.box.min[d]) * array.buffer.stride(static_cast<int>(d));
  }
  return offset;
}

}  // namespace

Value load_pixel(const Array& array, const std::vector<std::int64_t>& at) {
  const std::int64_t offset = offset_of(array, at);
  Value value{array.buffer.type(), {}};
  for (int l = 0; l < value.type.lanes; ++l) {
    value.lane[l] = load(value.type.scalar, address(array.buffer, offset + l * array.buffer.lane_stride()));
  }
  return value;
}

void store_pixel(const Array& array, const std::vector<std::int64_t>& at, const Value& value) {
  const std::int64_t offset = offset_of(array, at);
  for (int l = 0; l < value.type.lanes; ++l) {
    store(value.type.scalar, address(array.buffer, offset + l), value.lane[l]);
  }
}

ConcreteBox Batches::box_of(const Box& box) const {
  ConcreteBox result;
  for (const Range& range : box) {
    result.min.push_back(weft::ir::evaluate(range.min, sizes_));
    result.extent.push_back(weft::ir::evaluate(range.extent, sizes_));
  }
  return result;
}

void Batches::begin_expressions(int rank) {
  pixel_.assign(rank, 0);
  columns_.assign(1, 0);
  loops_.clear();
}

// ---- binding: from names to addresses and slots ----

int Batches::bind(const Expr& e, Scope& scope) {
  if (auto known = scope.slot_of.find(e.get()); known != scope.slot_of.end()) return known->second;
  Scope::Step step;
  step.node = e;
  std::visit(overloaded{
                 [&](const Quantity& n) { step.affine.push_back(bound(n.value)); },
                 [&](const Read& n) { bind_read(n, scope, step); },
                 [&](const FoldResult& n) {
                   for (const Expr& initial : n.fold->initial) step.operands.push_back(bind(initial, scope));
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

LoopState* Batches::begun(const Loop& loop) {
  LoopState& state = loops_[&loop];
  state.tap.resize(loop.domain.rank);
  return &state;
}

void Batches::bind_read(const Read& n, Scope& scope, Scope::Step& step) {
  for (const Index& index : n.indices) {
    const auto* computed = std::get_if<Expr>(&index);
    step.computed.push_back(computed ? bind(*computed, scope) : -1);
    step.affine.push_back(computed ? BoundAffine{} : bound(std::get<Affine>(index)));
  }
  if (n.border && n.border->constant) step.operands.push_back(bind(n.border->constant, scope));
  if (!read_pixel_) step.source = &arrays_.at(n.source.get());
  step.region = box_of(n.region);
}

BoundAffine Batches::bound(const Affine& a) const {
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
                     auto inner = std::make_unique<const BoundAffine>(this->bound(*f.numerator));
                     bound.terms.push_back({nullptr, std::move(inner), f.divisor, factor});
                   },
               },
               atom);
  }
  return bound;
}

// ---- evaluation ----

void Batches::evaluate(Scope& scope) {
  for (std::size_t i = 0; i < scope.steps.size(); ++i) {
    scope.slots[i].resize(columns_.size());
    evaluate(scope.steps[i], scope, scope.slots[i]);
  }
}
const Value& Batches::single(Scope& scope) {
  columns_.resize(1);
  evaluate(scope);
  return scope.slots.back()[0];
}

void Batches::evaluate(const Scope::Step& step, const Scope& scope, Batch& to) {
  const Type type = step.node->type;
  const auto applied = [&](auto op, Scalar s, auto... numbers) {
    const Number result = apply(op, s, numbers...);
    return shake_ && is_float(s) ? (*shake_)(op, s, numbers..., result) : result;
  };
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
            each_lane([&](std::size_t k, int l) { return convert(n.mode, from, type.scalar, a[k].lane[l]); });
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

void Batches::read(const Read& n, const Scope::Step& step, const Scope& scope, std::size_t k,
                   Value& to) const {
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

const Batch& Batches::fold(const FoldResult& n, const Scope::Step& step, const Scope& scope) {
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

void Batches::median(const Median& n, const Scope::Step& step, Batch& to) {
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

}  // namespace weft::ir
