#include "kernel/trips.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir/stage_ir.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

using ir::Number;
constexpr std::int64_t warp = 32;
constexpr std::int64_t many_steps = 1 << 16;  // so that bands of steps are whole

std::int64_t whole_warps(std::int64_t items) { return (items + warp - 1) / warp * warp; }

/// Which tile stands for all, by where it is along each dimension of the grid. The middle one may be narrow or have no
/// pixel: of two tiles it is the last, and of an image of few strips one at an end of its rows, of which some lie below it.
enum class TilePlace { Middle, BeforeMiddle, Quarter };

std::int64_t number_of(TilePlace place, std::int64_t count) {
  switch (place) {
    case TilePlace::Middle: return count / 2;
    case TilePlace::BeforeMiddle: return (count - 1) / 2;
    case TilePlace::Quarter: return count / 4;
  }
  return 0;
}

/// Parameters that say how often a repeat runs.
std::set<Symbol> steps_of(const Module& module) {
  std::set<Symbol> names;
  for (const Step& step : module.steps) {
    const auto* repeat = std::get_if<Repeat>(&step);
    if (repeat == nullptr) continue;
    for (const Turns& part : repeat->parts) {
      any_of(part.to, [&](const Node& n) {
        if (const auto* name = std::get_if<Name>(&n.op)) names.insert(name->name);
        return false;
      });
    }
  }
  for (const Field& size : module.sizes) names.erase(size.name);
  return names;
}

class TripCounter {
 public:
  TripCounter(const Module& module, const Function& function, const Grid& grid, const FieldValues& fields,
              TilePlace place)
      : place_(place), threads_(std::int64_t{grid.block[0]} * grid.block[1] * grid.block[2]) {
    for (const auto& [name, value] : fields) integers_[name] = value.i;
    for (const Array& array : module.arrays) {
      scalar_bytes_[array.name] = size_of(array.type.scalar);
      pixel_bytes_[array.name] = size_of(array.type.scalar) * array.type.lanes;
    }
    list(function.body, -1);
    result_.threads = is_of_blocks(function.body) ? static_cast<double>(threads_) : 1;
    run(function.body, -1, {result_.threads, result_.threads});
    double lanes = 1;
    for (const auto& [array, bytes] : stored_) {
      result_.pixels = std::max(result_.pixels, bytes / static_cast<double>(pixel_bytes_.at(array)));
      lanes = std::max(lanes, static_cast<double>(pixel_bytes_.at(array) / scalar_bytes_.at(array)));
    }
    for (const auto& [copy, scalars] : updated_) result_.pixels = std::max(result_.pixels, scalars / lanes);
  }

  KernelTrips result() && { return std::move(result_); }

 private:
  /// Threads that a statement is run by: those of warps that have one, and those themselves.
  struct Weight {
    double issued, active;
  };

  static bool is_of_blocks(const Block& body) {
    bool found = false;
    visit_statements(body, [&](const Stmt& s) {
      const auto* loop = std::get_if<For>(&s.op);
      found |= loop != nullptr && (loop->kind == LoopKind::BlocksX || loop->kind == LoopKind::BlocksY ||
                                   loop->kind == LoopKind::BlocksZ || loop->kind == LoopKind::Threads);
    });
    return found;
  }

  static bool goes_on_from_its_item(const For& loop) {
    bool found = false;
    visit_statements(loop.body, [&](const Stmt& s) {
      const auto* inside = std::get_if<For>(&s.op);
      found |=
          inside != nullptr && inside->kind == LoopKind::Rolled && any_of(inside->from, [&](const Node& n) {
            const auto* name = std::get_if<Name>(&n.op);
            return name != nullptr && name->name == loop.variable;
          });
    });
    return found;
  }

  void list(const Block& block, int parent) {
    for (const Stmt& statement : block) {
      int inside = parent;
      if (const auto* loop = std::get_if<For>(&statement.op);
          loop != nullptr && loop->kind != LoopKind::Unrolled) {
        inside = static_cast<int>(result_.loops.size());
        number_[loop] = inside;
        result_.loops.push_back({loop, parent});
      } else if (parent >= 0) {
        const auto count = [&](const Expr& e) {
          any_of(e, [&](const Node& n) {
            result_.loops[static_cast<std::size_t>(parent)].loads +=
                std::holds_alternative<Load>(n.op) ? 1 : 0;
            return false;
          });
        };
        each_operand(statement, count);
      }
      each_block(statement, [&](const Block& inner) { list(inner, inside); });
    }
  }

  std::optional<Number> value_of(const Expr& e) const {
    if (is_float(e->type)) return {};
    return std::visit(ir::overloaded{
                          [&](const Const& n) -> std::optional<Number> { return n.value.lane[0]; },
                          [&](const Name& n) -> std::optional<Number> {
                            const auto found = integers_.find(n.name);
                            if (found == integers_.end()) return {};
                            return Number{.i = found->second};
                          },
                          [&](const Unary& n) -> std::optional<Number> {
                            const auto a = value_of(n.a);
                            if (!a) return {};
                            return ir::apply(n.op, e->type, *a);
                          },
                          [&](const Binary& n) -> std::optional<Number> {
                            const auto a = value_of(n.a), b = value_of(n.b);
                            if (!a || !b) return {};
                            return ir::apply(n.op, n.a->type, *a, *b);
                          },
                          [&](const Select& n) -> std::optional<Number> {
                            const auto condition = value_of(n.condition);
                            if (!condition) return {};
                            return value_of(condition->i ? n.a : n.b);
                          },
                          [&](const Cast& n) -> std::optional<Number> {
                            const auto a = value_of(n.a);
                            if (!a) return {};
                            return ir::convert(n.mode, n.a->type, e->type, *a);
                          },
                          [&](const IndexCall& n) -> std::optional<Number> {
                            const auto a = value_of(n.a), b = value_of(n.b);
                            if (!a || !b || b->i <= 0) return {};
                            if (n.op == IndexOp::FloorDiv) return Number{.i = ir::floor_div(a->i, b->i)};
                            if (n.op == IndexOp::Clamp)
                              return Number{.i = std::clamp<std::int64_t>(a->i, 0, b->i - 1)};
                            if (0 <= a->i && a->i < b->i) return a;
                            return {};
                          },
                          [](const Load&) -> std::optional<Number> { return {}; },
                          [](const MedianOf&) -> std::optional<Number> { return {}; },
                          [](const HalfOfSum&) -> std::optional<Number> { return {}; },
                      },
                      e->op);
  }

  void set(const Symbol& name, const Expr& value) {
    if (const auto number = value_of(value))
      integers_[name] = number->i;
    else
      integers_.erase(name);
  }

  /// The array that a pointer points into, in the end.
  Symbol array_of(Symbol name) const {
    for (auto found = pointers_.find(name); found != pointers_.end(); found = pointers_.find(name))
      name = found->second;
    return name;
  }

  void store(const Symbol& name, std::int64_t count, const Weight& weight) {
    const Symbol array = array_of(name);
    if (const auto own = types_.find(array); own != types_.end()) {
      iteration_ += count * own->second;
      return;
    }
    const auto found = pixel_bytes_.find(array);
    if (found == pixel_bytes_.end()) return;  // a thread's own
    const std::int64_t bytes = count * scalar_bytes_.at(array);
    iteration_ += bytes;
    stored_[array] += static_cast<double>(bytes) * weight.active;
  }

  void run(const Block& block, int around, const Weight& weight) {
    for (const Stmt& statement : block) run(statement, around, weight);
  }

  void run(const Stmt& statement, int around, const Weight& weight) {
    if (const auto* let = std::get_if<Let>(&statement.op)) return set(let->name, let->value);
    if (const auto* assign = std::get_if<Assign>(&statement.op)) return set(assign->name, assign->value);
    if (const auto* pointer = std::get_if<Pointer>(&statement.op)) {
      pointers_[pointer->name] = pointer->array;
    } else if (const auto* array = std::get_if<LocalArray>(&statement.op)) {
      if (array->storage == Storage::Shared) types_[array->name] = size_of(array->type);
      pack_[array->name] = array->count;
    } else if (const auto* pack = std::get_if<LoadPack>(&statement.op)) {
      pack_[pack->name] = pack->scalars();
    } else if (const auto* one = std::get_if<Store>(&statement.op)) {
      store(one->array, 1, weight);
    } else if (const auto* several = std::get_if<StorePack>(&statement.op)) {
      store(several->array, pack_.count(several->name) ? pack_.at(several->name) : 1, weight);
    } else if (const auto* update = std::get_if<Atomic>(&statement.op)) {
      const Symbol updated = array_of(update->array);
      if (const auto bytes = scalar_bytes_.find(updated); bytes != scalar_bytes_.end())
        stored_[updated] += static_cast<double>(bytes->second) * weight.active;
      else if (types_.count(updated))
        updated_[updated] += weight.active;
    } else if (const auto* test = std::get_if<IsAligned>(&statement.op)) {
      integers_[test->name] = 1;
    } else if (const auto* scope = std::get_if<Scope>(&statement.op)) {
      run(scope->body, around, weight);
    } else if (const auto* choice = std::get_if<If>(&statement.op)) {
      const auto condition = value_of(choice->condition);
      run(!condition || condition->i ? choice->then : choice->otherwise, around, weight);
    } else if (const auto* loop = std::get_if<For>(&statement.op)) {
      run(*loop, around, weight);
    }
  }

  void run(const For& loop, int around, const Weight& weight) {
    const auto from = value_of(loop.from), to = value_of(loop.to);
    const auto step = loop.step ? value_of(loop.step) : Number{.i = 1};
    const bool known = from && to && step && step->i > 0;
    const std::int64_t begin = from ? from->i : 0, by = known ? step->i : 1;
    const std::int64_t count = known ? std::max<std::int64_t>(0, (to->i - begin + by - 1) / by) : 1;
    if (loop.kind == LoopKind::Unrolled) {
      for (std::int64_t i = 0; i < count; ++i) {
        integers_[loop.variable] = begin + i * by;
        run(loop.body, around, weight);
      }
      return;
    }
    const int number = number_.at(&loop);
    LoopTrips& trips = result_.loops[static_cast<std::size_t>(number)];
    const std::int64_t outer = iteration_;
    const auto inside = [&](std::int64_t i, const Weight& each) {
      iteration_ = 0;
      integers_[loop.variable] = begin + i * by;
      run(loop.body, number, each);
      LoopTrips& own = result_.loops[static_cast<std::size_t>(number)];
      own.stored = std::max(own.stored, iteration_);
    };
    switch (loop.kind) {
      case LoopKind::Serial:
      case LoopKind::Vector:
      case LoopKind::Scalar:
      case LoopKind::Rolled:
      case LoopKind::Unrolled:
        trips.entries[count] += weight.issued;
        for (std::int64_t i = 0; i < count; ++i) inside(i, weight);
        break;
      case LoopKind::GridX:
      case LoopKind::GridY:
      case LoopKind::GridZ:
      case LoopKind::BlocksX:
      case LoopKind::BlocksY:
      case LoopKind::BlocksZ:  // one for each piece of work
        trips.entries[1] += weight.issued;
        if (count > 0) inside(number_of(place_, count), weight);
        break;
      case LoopKind::Warps:
        trips.entries[1] += weight.issued;
        threads_ /= count;
        for (std::int64_t i = 0; i < count; ++i) {
          const auto warps = static_cast<double>(count);
          inside(i, {weight.issued / warps, weight.active / warps});
        }
        threads_ *= count;
        break;
      case LoopKind::Lanes:
        trips.entries[1] += weight.issued;
        for (std::int64_t i = 0; i < count; ++i) {
          const auto lanes = static_cast<double>(count);
          inside(i, {weight.issued / lanes, weight.active / lanes});
        }
        break;
      case LoopKind::Threads: {
        // Of many items a warp's in the middle are looked at: a warp knows all that lanes differ in, unless they go on from
        // their own item to others.
        const std::int64_t issued = whole_warps(count);
        const std::int64_t looked = count >= 3 * warp && !goes_on_from_its_item(loop) ? warp : count;
        const double blocks = weight.issued / static_cast<double>(threads_);
        const std::int64_t least = issued / threads_, more = issued % threads_;
        if (more > 0) trips.entries[least + 1] += blocks * static_cast<double>(more);
        if (more < threads_) trips.entries[least] += blocks * static_cast<double>(threads_ - more);
        const std::int64_t first = looked < count ? count / 2 / warp * warp : 0;
        for (std::int64_t i = 0; i < looked; ++i) {
          inside(first + i, {blocks * static_cast<double>(issued) / static_cast<double>(looked),
                             blocks * static_cast<double>(count) / static_cast<double>(looked)});
        }
        break;
      }
    }
    iteration_ = outer;
    integers_.erase(loop.variable);
  }

  TilePlace place_;
  std::int64_t threads_;
  std::map<Symbol, std::int64_t> integers_, scalar_bytes_, pixel_bytes_, types_, pack_;
  std::map<Symbol, Symbol> pointers_;
  std::unordered_map<const For*, int> number_;
  std::map<Symbol, double> stored_;   ///< Bytes, by array of the module.
  std::map<Symbol, double> updated_;  ///< Scalars of a block's copies, which take the updates of points.
  std::int64_t iteration_ = 0;        ///< Bytes that the innermost loop's iteration has stored.
  KernelTrips result_;
};

}  // namespace

FieldValues nominal_fields(const Module& module, std::int64_t extent) {
  const bool is_of_lines = std::all_of(module.arrays.begin(), module.arrays.end(),
                                       [](const Array& a) { return a.extents.size() <= 1; });
  if (is_of_lines) extent *= extent;  // as many pixels as an image has
  FieldValues fields;
  for (const Field& field : module.sizes) fields[field.name] = {.i = extent};
  for (const Field& field : module.strides) fields[field.name] = {.i = extent};
  for (const Field& counter : module.counters) fields[counter.name] = {.i = 0};
  for (const Launch* launch : launches_with_room(module))
    fields[launch->grid->room->field] = {.i = launch->grid->room->expected};
  for (const Symbol& steps : steps_of(module)) fields[steps] = {.i = many_steps};
  return fields;
}

KernelTrips trips_of(const Module& module, const Function& function, const Grid& grid,
                     const FieldValues& fields) {
  KernelTrips most;
  for (const TilePlace place : {TilePlace::Middle, TilePlace::BeforeMiddle, TilePlace::Quarter}) {
    KernelTrips trips = TripCounter(module, function, grid, fields, place).result();
    if (most.loops.empty() || trips.pixels > most.pixels) most = std::move(trips);
  }
  return most;
}

}  // namespace weft::kernel
