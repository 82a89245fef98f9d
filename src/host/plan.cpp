#include "host/plan.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <utility>

#include "host/dependences.h"
#include "host/verify.h"
#include "ir/stage_ir.h"
#include "kernel/visit.h"

namespace weft::host {

using kernel::Array;
using kernel::Expr;
using kernel::literal;
using kernel::Module;

bool Turns::operator==(const Turns&) const = default;

namespace {

/// Arrays whose updates exchange the words around their scalars. Such an array takes whole words, and begins
/// as zeros, since others of the words may lie between its rows.
std::set<kernel::Symbol> arrays_exchanging_words(const Module& module) {
  std::set<kernel::Symbol> updated;
  for (const kernel::Function& function : module.functions) {
    kernel::visit_statements(function.body, [&](const kernel::Stmt& s) {
      if (const auto* update = std::get_if<kernel::Atomic>(&s.op)) updated.insert(update->array);
    });
  }
  std::set<kernel::Symbol> names;
  for (const Array& a : module.arrays) {
    if (size_of(a.type.scalar) < 4 && updated.count(a.name)) names.insert(a.name);
  }
  return names;
}

class Planner {
 public:
  explicit Planner(const Module& module) : module_(module) {
    for (const kernel::Launch* launch : launches_of(module)) {
      if (launch->grid) device_ = 0;
    }
  }

  Plan plan() {
    for (const kernel::Field& size : module_.sizes) {
      if (size.most > 0) plan_.limits.push_back({size.name, size.most});
    }
    for (const kernel::Launch* launch : kernel::launches_with_room(module_))
      plan_.rooms.push_back({launch->grid->room->field, launch->function, launch->grid->room->expected});
    std::vector<Node> steps;
    for (const kernel::Step& step : module_.steps)
      std::visit([&](const auto& s) { steps.push_back(node(s)); }, step);
    connect(module_, steps);
    take_images();
    stand_in(steps);
    const auto lifetimes = lifetimes_of(steps);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      for (const auto& [array, life] : lifetimes) {
        if (life.first == s) add(allocation(*array));
      }
      plan_.nodes.push_back(std::move(steps[s]));
      for (const auto& [array, life] : lifetimes) {
        if (life.second == s) add(Free{array->name});
      }
    }
    for (const kernel::Symbol& array : stand_ins_) add(Free{array}, When::EmptyImage);
    give_images();
    connect(module_, plan_.nodes);
    verify(module_, plan_);
    return std::move(plan_);
  }

 private:
  template <class What>
  void add(What what, When when = When::Always) {
    plan_.nodes.push_back({std::move(what), device_, 0, when});
  }
  template <class Work>
  void each(Array::Role role, const Work& work) const {
    for (const Array& a : module_.arrays) {
      if (a.role == role) work(a);
    }
  }

  // ---- steps ----

  Node node(const kernel::Launch& launch) const {
    Launch result{launch.function, parameters_of(module_, function_named(module_, launch.function)), {}};
    if (launch.grid) {
      result.work.assign(launch.grid->threads.begin(), launch.grid->threads.end());
      result.block = launch.grid->block;
    } else {
      result.work.emplace_back(launch.count);
      if (launch.picoseconds) result.picoseconds = launch.picoseconds;
    }
    return {std::move(result), device_};
  }
  Node node(const kernel::Repeat& repeat) const {
    Repeat result{repeat.counter, repeat.rotations, {}, repeat.first};
    for (const kernel::Turns& part : repeat.parts) {
      Turns& turns = result.parts.emplace_back(Turns{part.from, part.to, part.by, {}, part.places});
      for (const kernel::Launch& launch : part.launches) turns.nodes.push_back(node(launch));
    }
    return {std::move(result), device_};
  }

  // ---- images that the host has ----

  void take_images() {
    if (device_ == the_host) return;
    each(Array::Role::Input, [&](const Array& a) {
      add(allocation(a), When::HostImage);
      add(copy(a, the_host, device_), When::HostImage);
    });
    each(Array::Role::Output, [&](const Array& a) { add(allocation(a), When::HostImage); });
  }
  void give_images() {
    if (device_ == the_host) return;
    each(Array::Role::Output, [&](const Array& a) { add(copy(a, device_, the_host), When::HostImage); });
    each(Array::Role::Input, [&](const Array& a) { add(Free{a.name}, When::HostImage); });
    each(Array::Role::Output, [&](const Array& a) { add(Free{a.name}, When::HostImage); });
  }
  static Copy copy(const Array& a, int from, int to) {
    return {a.name, from, to, literal(0), a.extents.empty() ? literal(1) : a.extents.back()};
  }

  // ---- memory ----

  /// Of intermediate arrays, the first and the last step that uses them.
  std::vector<std::pair<const Array*, std::pair<std::size_t, std::size_t>>> lifetimes_of(
      const std::vector<Node>& steps) const {
    std::map<kernel::Symbol, std::pair<std::size_t, std::size_t>> used;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      for (const auto* places : {&steps[s].uses.reads, &steps[s].uses.writes}) {
        for (const Place& place : *places) used.try_emplace(place.array, s, s).first->second.second = s;
      }
    }
    std::vector<std::pair<const Array*, std::pair<std::size_t, std::size_t>>> lifetimes;
    each(Array::Role::Intermediate, [&](const Array& a) {
      if (const auto use = used.find(a.name); use != used.end()) lifetimes.emplace_back(&a, use->second);
    });
    return lifetimes;
  }

  /// An output without pixels that others read is read as zeros: one row of them, which all rows share.
  void stand_in(const std::vector<Node>& steps) {
    each(Array::Role::Output, [&](const Array& a) {
      const bool is_read = std::any_of(steps.begin(), steps.end(), [&](const Node& step) {
        return step.uses.reads.count({a.name, device_}) > 0;
      });
      if (!is_read || !may_be_empty(a)) return;
      Allocate row{a.name, a.type.scalar, {}, whole_words(a, row_of(a)), truth(true)};
      row.strides.assign(a.strides.size(), literal(0));
      add(std::move(row), When::EmptyImage);
      stand_ins_.push_back(a.name);
    });
  }

  /// One row at least, of zeros, if there are no pixels: it is read as if there were.
  Allocate allocation(const Array& a) const {
    Allocate memory{a.name, a.type.scalar, strides_of(a), row_of(a), is_empty(a)};
    if (!a.strides.empty())
      memory.scalars = kernel::mul(kernel::name(a.strides.back()), max(a.extents.back(), literal(1)));
    memory.scalars = whole_words(a, memory.scalars);
    if (exchanging_words_.count(a.name)) memory.zeroed = truth(true);
    return memory;
  }
  std::vector<Symbolic> strides_of(const Array& a) const {
    std::vector<Symbolic> strides;
    for (std::size_t d = 0; d < a.strides.size(); ++d) {
      strides.emplace_back(d == 0 ? pitch_of(a)
                                  : mul(kernel::name(a.strides[d - 1]), max(a.extents[d], literal(1))));
    }
    return strides;
  }
  /// Rows of whole lines: 64 bytes, those of caches, or 128 on GPUs, what a warp's loads are made of. On the
  /// host there is one more, since powers of two would crowd a few of the cache's sets.
  Expr pitch_of(const Array& a) const {
    const bool on_host = device_ == the_host;
    const int line = (on_host ? 64 : 128) / size_of(a.type.scalar);
    const bool is_size = std::holds_alternative<kernel::Name>(a.extents[0]->op);  // never 0
    const Expr width = is_size || on_host ? a.extents[0] : max(a.extents[0], literal(1));
    const Expr row = mul(width, literal(a.type.lanes));
    return mul(div(kernel::add(row, literal((on_host ? 2 : 1) * line - 1)), literal(line)), literal(line));
  }
  static Expr row_of(const Array& a) {
    const Expr width = a.extents.empty() ? literal(1) : max(a.extents[0], literal(1));
    return mul(width, literal(a.type.lanes));
  }
  Expr whole_words(const Array& a, const Expr& scalars) const {
    const int word = 4 / size_of(a.type.scalar);
    if (!exchanging_words_.count(a.name) || a.strides.size() > 0) return scalars;  // rows are whole lines
    return mul(div(kernel::add(scalars, literal(word - 1)), literal(word)), literal(word));
  }
  static Expr truth(bool value) { return kernel::constant(Scalar::Bool, {.i = value}); }

  const Module& module_;
  const std::set<kernel::Symbol> exchanging_words_ = arrays_exchanging_words(module_);
  int device_ = the_host;
  Plan plan_;
  std::vector<kernel::Symbol> stand_ins_;
};

bool are_on(const Node& first, const std::vector<Node>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    const auto* repeat = std::get_if<Repeat>(&node.what);
    const auto* copy = std::get_if<Copy>(&node.what);
    return node.device == first.device && node.stream == first.stream &&
           (!repeat || std::all_of(repeat->parts.begin(), repeat->parts.end(),
                                   [&](const Turns& part) { return are_on(first, part.nodes); })) &&
           (!copy || copy->from == the_host || copy->to == the_host);
  });
}

}  // namespace

Plan plan_of(const Module& module, analysis::RowReachOrWhy rows) {
  Plan plan = Planner(module).plan();
  plan.rows = std::move(rows);
  return plan;
}

bool is_on_one_stream(const Plan& plan) { return plan.nodes.empty() || are_on(plan.nodes[0], plan.nodes); }

Plan on_one_stream(Plan plan) {
  if (!is_on_one_stream(plan)) throw InternalError("a host plan of several streams or devices");
  return plan;
}

std::vector<Parameter> parameters_of(const Module& module, const kernel::Function& function) {
  const auto used = names_in(function.body), written = arrays_written_in(function.body);
  std::vector<Parameter> result;
  for (const Array& a : module.arrays) {
    if (used.count(a.name)) result.push_back({a.name, a.type.scalar, true, !written.count(a.name)});
  }
  for (const kernel::Field& f : kernel::fields_of(module)) {
    if (!used.count(f.name)) continue;
    const bool is_narrow = std::count(function.narrow.begin(), function.narrow.end(), f.name) > 0;
    result.push_back({f.name, is_narrow ? Scalar::I32 : f.type});
  }
  return result;
}

const kernel::Launch& launch_of(const Module& module, const kernel::Function& function) {
  for (const kernel::Launch* launch : launches_of(module)) {
    if (launch->function == function.name) return *launch;
  }
  throw InternalError("nothing launches '" + function.name.spelling() + "'");
}

const Array& array_named(const Module& module, const kernel::Symbol& name) {
  for (const Array& a : module.arrays) {
    if (a.name == name) return a;
  }
  throw InternalError("there is no array '" + name.spelling() + "'");
}

Expr is_empty(const Array& a) {
  Expr empty;
  for (const Expr& extent : a.extents) {
    const Expr none = binary(ir::BinaryOp::Eq, extent, literal(0));
    empty = empty ? binary(ir::BinaryOp::Or, empty, none) : none;
  }
  return empty ? empty : kernel::constant(Scalar::Bool, {.i = 0});
}

bool may_be_empty(const Array& a) {
  return std::any_of(a.extents.begin(), a.extents.end(), [](const Expr& extent) {
    const auto fixed = kernel::literal_value(extent);
    return fixed ? *fixed == 0 : !std::holds_alternative<kernel::Name>(extent->op);
  });
}

Expr times_of(const Expr& from, const Expr& to, std::int64_t by) {
  return kernel::div(sub(to, from), literal(by));
}

Expr turns_ahead(const Repeat& repeat, const kernel::Rotation& rotation) {
  const auto rem = [](const Expr& a, const Expr& b) { return binary(ir::BinaryOp::Rem, a, b); };
  const Expr arrays = literal(static_cast<std::int64_t>(rotation.size()));
  Expr places = literal(0);
  for (const Turns& part : repeat.parts) {
    Expr times = times_of(part.from, part.to, part.by);
    if (repeat.parts.size() > 1) times = kernel::max(times, literal(0));
    places = kernel::add(places, kernel::mul(times, literal(part.places)));
  }
  return select(binary(ir::BinaryOp::Lt, literal(0), places), rem(sub(arrays, rem(places, arrays)), arrays),
                literal(0));
}

kernel::Symbol array_of(const Node& node) {
  return std::visit(ir::overloaded{
                        [](const Allocate& n) { return n.array; },
                        [](const Free& n) { return n.array; },
                        [](const Copy& n) { return n.array; },
                        [](const Launch&) { return kernel::Symbol(); },
                        [](const Repeat&) { return kernel::Symbol(); },
                    },
                    node.what);
}

const Allocate* allocation_of(const Plan& plan, const kernel::Symbol& array, When when) {
  for (const Node& node : plan.nodes) {
    const auto* memory = std::get_if<Allocate>(&node.what);
    if (memory && memory->array == array && node.when == when) return memory;
  }
  return nullptr;
}

}  // namespace weft::host
