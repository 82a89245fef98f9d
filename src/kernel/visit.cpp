#include "kernel/visit.h"

#include <weft/error.h>

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "ir/stage_ir.h"

namespace weft::kernel {
namespace {

/// T, const if the variant that it is an alternative of is.
template <class Variant, class T>
using In = std::conditional_t<std::is_const_v<Variant>, const T, T>;

/// Calls `f` with each operand. Both lists name every alternative: a new one does not compile until it is
/// here.
template <class Op, class F>
void each_of_node(Op& op, const F& f) {
  std::visit(ir::overloaded{
                 [](const Const&) {},
                 [](const Name&) {},
                 [&](In<Op, Unary>& n) { f(n.a); },
                 [&](In<Op, Binary>& n) { f(n.a), f(n.b); },
                 [&](In<Op, Select>& n) { f(n.condition), f(n.a), f(n.b); },
                 [&](In<Op, Cast>& n) { f(n.a); },
                 [&](In<Op, IndexCall>& n) { f(n.a), f(n.b); },
                 [&](In<Op, Load>& n) { f(n.index); },
                 [](const MedianOf&) {},
                 [&](In<Op, HalfOfSum>& n) { f(n.a), f(n.b); },
             },
             op);
}

template <class Op, class F>
void each_of_statement(Op& op, const F& f) {
  const auto if_there = [&](In<Op, Expr>& e) {
    if (e) f(e);
  };
  std::visit(ir::overloaded{
                 [&](In<Op, Let>& s) { f(s.value); },
                 [&](In<Op, Assign>& s) { f(s.value); },
                 [&](In<Op, Pointer>& s) { f(s.offset), if_there(s.unless); },
                 [](const LocalArray&) {},
                 [&](In<Op, Store>& s) { f(s.index), f(s.value); },
                 [&](In<Op, LoadPack>& s) { f(s.offset), f(s.valid); },
                 [&](In<Op, StorePack>& s) { f(s.offset), f(s.valid); },
                 [&](In<Op, Prefetch>& s) { f(s.offset), f(s.count); },
                 [&](In<Op, LookUp>& s) { f(s.count); },
                 [&](In<Op, PickPlanes>& s) { f(s.scalars), f(s.start), f(s.count); },
                 [&](In<Op, ExceedsCaches>& s) { f(s.bytes); },
                 [&](In<Op, StorePastCaches>& s) { f(s.offset), f(s.count); },
                 [&](In<Op, Shuffle>& s) { f(s.value), if_there(s.lane); },
                 [&](In<Op, IsAligned>& s) { f(s.offset); },
                 [&](In<Op, Atomic>& s) { f(s.index), f(s.value); },
                 [](const Barrier&) {},
                 [&](In<Op, For>& s) {
                   f(s.from), f(s.to), if_there(s.step);
                   if (s.ends) f(s.ends->pixels), if_there(s.ends->constant), f(s.ends->bytes);
                   if (!s.vectors) return;
                   if_there(s.vectors->bytes);
                   const auto each = [&](auto& row) {
                     f(row.index);
                     std::for_each(row.left_of_row.begin(), row.left_of_row.end(), f);
                     std::for_each(row.right_of_row.begin(), row.right_of_row.end(), f);
                   };
                   std::for_each(s.vectors->neighbours.begin(), s.vectors->neighbours.end(), each);
                   for (auto& row : s.vectors->columns) each(row), f(row.value);
                 },
                 [&](In<Op, If>& s) { f(s.condition); },
                 [&](In<Op, IfVectors>& s) { if_there(s.condition); },
                 [&](In<Op, StepsInLanes>& s) { f(s.bytes); },
                 [](const Scope&) {},
                 [](const Continue&) {},
                 [&](In<Op, CallFunction>& s) { std::for_each(s.arguments.begin(), s.arguments.end(), f); },
                 [](const Order&) {},
                 [](const Comment&) {},
             },
             op);
}

template <class Op, class F>
void each_block_of(Op& op, const F& f) {
  if (auto* loop = std::get_if<For>(&op)) {
    f(loop->body);
    if (loop->vectors) {
      for (auto& row : loop->vectors->columns) f(row.lets);
    }
  }
  if (auto* branch = std::get_if<If>(&op)) f(branch->then), f(branch->otherwise);
  if (auto* branch = std::get_if<IfVectors>(&op)) f(branch->then), f(branch->otherwise);
  if (auto* steps = std::get_if<StepsInLanes>(&op)) f(steps->update);
  if (auto* scope = std::get_if<Scope>(&op)) f(scope->body);
}

void visit(const Expr& e, const std::function<void(const Expr&)>& visitor) {
  each_of_node(e->op, [&](const Expr& operand) { visit(operand, visitor); });
  visitor(e);
}

/// The array, or the pointer into one, that a node itself reads, if it does.
const Symbol* array_read_by(const Node& node) {
  if (const auto* n = std::get_if<Load>(&node.op)) return &n->array;
  if (const auto* n = std::get_if<MedianOf>(&node.op)) return &n->array;
  return nullptr;
}

}  // namespace

void each_operand(const Stmt& statement, const std::function<void(const Expr&)>& visitor) {
  each_of_statement(statement.op, visitor);
}
void each_operand(Stmt& statement, const std::function<void(Expr&)>& change) {
  each_of_statement(statement.op, change);
}
void each_operand(const Node& node, const std::function<void(const Expr&)>& visitor) {
  each_of_node(node.op, visitor);
}
void each_operand(Node& node, const std::function<void(Expr&)>& change) { each_of_node(node.op, change); }
void each_block(const Stmt& statement, const std::function<void(const Block&)>& visitor) {
  each_block_of(statement.op, visitor);
}
void each_block(Stmt& statement, const std::function<void(Block&)>& change) {
  each_block_of(statement.op, change);
}

Effects effects_of(const Stmt& statement) {
  return std::visit(
      ir::overloaded{
          [](const Let& s) { return Effects{.declares = {s.name}}; },
          [](const Assign& s) { return Effects{.assigns = {s.name}}; },
          [](const Pointer& s) {
            Effects effects{.declares = {s.name}, .mentions = {s.array}};
            if (s.unless) effects.mentions.push_back(s.instead);
            return effects;
          },
          [](const LocalArray& s) { return Effects{.declares = {s.name}}; },
          [](const Store& s) { return Effects{.writes = {s.array}}; },
          [](const LoadPack& s) { return Effects{.declares = {s.name}, .reads = {s.array}}; },
          [](const StorePack& s) { return Effects{.reads = {s.name}, .writes = {s.array}}; },
          [](const Prefetch& s) { return Effects{.mentions = {s.array}}; },
          [](const LookUp& s) {
            return Effects{.reads = {s.table, s.places}, .writes = {s.to}};
          },
          [](const PickPlanes& s) {
            Effects effects{.reads = {s.table}, .writes = {s.upright}};
            for (const PickPlanes::Pick& pick : s.picks) {
              effects.reads.push_back(pick.places);
              effects.writes.insert(effects.writes.end(), pick.to.begin(), pick.to.end());
            }
            return effects;
          },
          [](const ExceedsCaches& s) { return Effects{.declares = {s.name}}; },
          [](const StorePastCaches& s) { return Effects{.reads = {s.from}, .writes = {s.array}}; },
          [](const Shuffle& s) { return Effects{.declares = {s.name}}; },
          [](const IsAligned& s) { return Effects{.declares = {s.name}, .mentions = {s.array}}; },
          [](const Atomic& s) { return Effects{.writes = {s.array}}; },
          [](const Barrier&) { return Effects{}; },
          [](const For& s) {
            Effects effects{.declares = {s.variable}};
            if (!s.vectors) return effects;
            const auto declare = [&](std::initializer_list<Symbol> names) {
              for (const Symbol& name : names)
                if (name) effects.declares.push_back(name);
            };
            for (const Neighbours& row : s.vectors->neighbours) {
              effects.mentions.push_back(row.array);
              declare({row.before, row.here, row.beyond});
            }
            for (const Columns& row : s.vectors->columns)
              declare({row.array, row.from, row.before, row.here, row.after, row.beyond, row.last});
            return effects;
          },
          [](const If&) { return Effects{}; },
          [](const IfVectors& s) { return s.condition ? Effects{.declares = {s.name}} : Effects{}; },
          [](const StepsInLanes& s) { return Effects{.declares = {s.taps}}; },
          [](const Scope&) { return Effects{}; },
          [](const Continue&) { return Effects{}; },
          [](const CallFunction&) { return Effects{}; },  // the callee's are its own
          [](const Order& s) { return Effects{.reads = {s.array}, .writes = {s.array}}; },
          [](const Comment&) { return Effects{}; },
      },
      statement.op);
}

bool any_of(const Expr& e, const std::function<bool(const Node&)>& property) {
  bool found = false;
  visit(e, [&](const Expr& part) { found = found || property(*part); });
  return found;
}

void visit_statements(const Block& block, const std::function<void(const Stmt&)>& visitor) {
  for (const Stmt& s : block) {
    visitor(s);
    each_block_of(s.op, [&](const Block& inside) { visit_statements(inside, visitor); });
  }
}

void visit_expressions(const Block& block, const std::function<void(const Expr&)>& visitor) {
  visit_statements(block, [&](const Stmt& statement) {
    each_of_statement(statement.op, [&](const Expr& e) { visit(e, visitor); });
  });
}

Expr rewritten(const Expr& e, const std::function<Expr(const Expr&)>& rewrite) {
  if (Expr other = rewrite(e)) return other;
  Node node = *e;
  bool changed = false;
  each_of_node(node.op, [&](Expr& operand) {
    Expr other = rewritten(operand, rewrite);
    changed |= other != operand;
    operand = std::move(other);
  });
  return changed ? std::make_shared<const Node>(std::move(node)) : e;
}

void rewrite_expressions(Block& block, const std::function<Expr(const Expr&)>& rewrite) {
  for (Stmt& statement : block) {
    each_of_statement(statement.op, [&](Expr& e) { e = rewritten(e, rewrite); });
    each_block_of(statement.op, [&](Block& inside) { rewrite_expressions(inside, rewrite); });
  }
}

void avoid_declared_in(const Function& function, Names& names) {
  visit_statements(function.body, [&](const Stmt& statement) {
    for (const Symbol& declared : effects_of(statement).declares) names.avoid(declared);
  });
}

std::map<Symbol, std::vector<Expr>> assigned_in(const Block& block) {
  std::map<Symbol, std::vector<Expr>> values;
  visit_statements(block, [&](const Stmt& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement.op))
      values[assign->name].push_back(assign->value);
  });
  return values;
}

std::set<Symbol> names_in(const Block& block) {
  std::set<Symbol> names;
  visit_statements(block, [&](const Stmt& statement) {
    const Effects effects = effects_of(statement);
    for (const auto* list : {&effects.assigns, &effects.reads, &effects.writes, &effects.mentions})
      names.insert(list->begin(), list->end());
  });
  visit_expressions(block, [&](const Expr& e) {
    if (const auto* n = std::get_if<Name>(&e->op)) names.insert(n->name);
    if (const auto* array = array_read_by(*e)) names.insert(*array);
  });
  return names;
}

std::set<Symbol> arrays_written_in(const Block& block) {
  std::set<Symbol> names;
  visit_statements(block, [&](const Stmt& statement) {
    const Effects effects = effects_of(statement);
    names.insert(effects.writes.begin(), effects.writes.end());
    const auto* pointer = std::get_if<Pointer>(&statement.op);
    if (pointer && !pointer->is_const) names.insert(effects.mentions.begin(), effects.mentions.end());
  });
  return names;
}

namespace {

template <class Module, class Launch>
std::vector<Launch*> all_launches(Module& module) {
  std::vector<Launch*> launches;
  for (auto& step : module.steps) {
    if (auto* launch = std::get_if<kernel::Launch>(&step)) launches.push_back(launch);
    if (auto* repeat = std::get_if<Repeat>(&step)) {
      for (auto& part : repeat->parts) {
        for (auto& launch : part.launches) launches.push_back(&launch);
      }
    }
  }
  return launches;
}

}  // namespace

std::vector<const Launch*> launches_of(const Module& module) {
  return all_launches<const Module, const Launch>(module);
}
std::vector<Launch*> launches_of(Module& module) { return all_launches<Module, Launch>(module); }

std::vector<const Launch*> launches_with_room(const Module& module) {
  std::vector<const Launch*> launches;
  for (const Launch* launch : launches_of(module)) {
    const bool is_known = std::any_of(launches.begin(), launches.end(), [&](const Launch* known) {
      return known->function == launch->function;
    });
    if (launch->grid && launch->grid->room && !is_known) launches.push_back(launch);
  }
  return launches;
}

std::vector<Field> fields_of(const Module& module) {
  std::vector<Field> fields;
  for (const auto* list : {&module.sizes, &module.strides, &module.params, &module.counters})
    fields.insert(fields.end(), list->begin(), list->end());
  for (const Launch* launch : launches_with_room(module))
    fields.push_back({launch->grid->room->field, Scalar::I64});
  return fields;
}

const Function& function_named(const Module& module, const Symbol& name) {
  for (const Function& function : module.functions) {
    if (function.name == name) return function;
  }
  throw InternalError("there is no function '" + name.spelling() + "'");
}

namespace {

/// What the names of a function stand for: arrays of the module, whether named or pointed into.
class Pointees {
 public:
  explicit Pointees(const Module& module) {
    for (const Array& a : module.arrays) arrays_[a.name] = {a.name};
  }
  /// Pointers of different scopes may have one name: then it stands for what any of them points into.
  void add(const Pointer& pointer) {
    for (const Symbol& array : effects_of({pointer}).mentions)
      arrays_[pointer.name].merge(std::set(of(array)));
  }
  /// Nothing, of a function's own arrays and of tables.
  const std::set<Symbol>& of(const Symbol& name) const {
    static const std::set<Symbol> nothing;
    const auto found = arrays_.find(name);
    return found == arrays_.end() ? nothing : found->second;
  }

 private:
  std::map<Symbol, std::set<Symbol>> arrays_;
};

void add_uses(const Module& module, const Function& function, Uses& uses) {
  Pointees pointees(module);
  const auto add = [&](std::set<Symbol>& to, const Symbol& name) {
    to.insert(pointees.of(name).begin(), pointees.of(name).end());
  };
  visit_statements(function.body, [&](const Stmt& statement) {
    if (const auto* s = std::get_if<Pointer>(&statement.op)) pointees.add(*s);
    if (const auto* s = std::get_if<CallFunction>(&statement.op))
      add_uses(module, function_named(module, s->function), uses);
    const Effects effects = effects_of(statement);
    for (const Symbol& name : effects.reads) add(uses.reads, name);
    for (const Symbol& name : effects.writes) add(uses.writes, name);
  });
  visit_expressions(function.body, [&](const Expr& e) {
    if (const auto* array = array_read_by(*e)) add(uses.reads, *array);
  });
}

}  // namespace

Uses uses_of(const Module& module, const Symbol& function) {
  Uses uses;
  add_uses(module, function_named(module, function), uses);
  return uses;
}

}  // namespace weft::kernel
