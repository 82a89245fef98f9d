#include "ir/kernel_visit.h"

#include <weft/error.h>

#include <map>

#include "ir/stage_ir.h"

namespace weft::kernel {
namespace {

void visit(const Expr& e, const std::function<void(const Expr&)>& visitor) {
  std::visit(
      ir::overloaded{
          [&](const Unary& n) { visit(n.a, visitor); },
          [&](const Binary& n) { visit(n.a, visitor), visit(n.b, visitor); },
          [&](const Select& n) { visit(n.condition, visitor), visit(n.a, visitor), visit(n.b, visitor); },
          [&](const Cast& n) { visit(n.a, visitor); },
          [&](const IndexCall& n) { visit(n.a, visitor), visit(n.b, visitor); },
          [&](const Load& n) { visit(n.index, visitor); },
          [](const auto&) {},
      },
      e->op);
  visitor(e);
}

/// `e`, with parts replaced; `e` itself if there are none.
Expr rewritten(const Expr& e, const std::function<Expr(const Expr&)>& rewrite) {
  if (Expr other = rewrite(e)) return other;
  Node node = *e;
  bool changed = false;
  const auto replace = [&](Expr& part) {
    Expr other = rewritten(part, rewrite);
    changed |= other != part;
    part = std::move(other);
  };
  std::visit(ir::overloaded{
                 [&](Unary& n) { replace(n.a); },
                 [&](Binary& n) { replace(n.a), replace(n.b); },
                 [&](Select& n) { replace(n.condition), replace(n.a), replace(n.b); },
                 [&](Cast& n) { replace(n.a); },
                 [&](IndexCall& n) { replace(n.a), replace(n.b); },
                 [&](Load& n) { replace(n.index); },
                 [](auto&) {},
             },
             node.op);
  return changed ? std::make_shared<const Node>(std::move(node)) : e;
}

}  // namespace

bool any_of(const Expr& e, const std::function<bool(const Node&)>& property) {
  bool found = false;
  visit(e, [&](const Expr& part) { found = found || property(*part); });
  return found;
}

void visit_statements(const Block& block, const std::function<void(const Stmt&)>& visitor) {
  for (const Stmt& s : block) {
    visitor(s);
    if (const auto* loop = std::get_if<For>(&s.op)) visit_statements(loop->body, visitor);
    if (const auto* branch = std::get_if<If>(&s.op)) {
      visit_statements(branch->then, visitor);
      visit_statements(branch->otherwise, visitor);
    }
  }
}

void visit_expressions(const Block& block, const std::function<void(const Expr&)>& visitor) {
  visit_statements(block, [&](const Stmt& statement) {
    std::visit(ir::overloaded{
                   [&](const Let& s) { visit(s.value, visitor); },
                   [&](const Assign& s) { visit(s.value, visitor); },
                   [&](const Pointer& s) {
                     visit(s.offset, visitor);
                     if (s.unless) visit(s.unless, visitor);
                   },
                   [&](const Store& s) { visit(s.index, visitor), visit(s.value, visitor); },
                   [&](const LoadPack& s) { visit(s.offset, visitor), visit(s.valid, visitor); },
                   [&](const StorePack& s) { visit(s.offset, visitor), visit(s.valid, visitor); },
                   [&](const Prefetch& s) { visit(s.offset, visitor), visit(s.count, visitor); },
                   [&](const ExceedsCaches& s) { visit(s.bytes, visitor); },
                   [&](const StorePastCaches& s) { visit(s.offset, visitor), visit(s.count, visitor); },
                   [&](const Atomic& s) { visit(s.index, visitor), visit(s.value, visitor); },
                   [&](const For& s) {
                     visit(s.from, visitor), visit(s.to, visitor);
                     if (s.step) visit(s.step, visitor);
                   },
                   [&](const If& s) { visit(s.condition, visitor); },
                   [&](const CallFunction& s) {
                     for (const Expr& e : s.arguments) visit(e, visitor);
                   },
                   [](const auto&) {},
               },
               statement.op);
  });
}

void rewrite_expressions(Block& block, const std::function<Expr(const Expr&)>& rewrite) {
  const auto replace = [&](Expr& e) { e = rewritten(e, rewrite); };
  for (Stmt& statement : block) {
    std::visit(ir::overloaded{
                   [&](Let& s) { replace(s.value); },
                   [&](Assign& s) { replace(s.value); },
                   [&](Pointer& s) {
                     replace(s.offset);
                     if (s.unless) replace(s.unless);
                   },
                   [&](Store& s) { replace(s.index), replace(s.value); },
                   [&](LoadPack& s) { replace(s.offset), replace(s.valid); },
                   [&](StorePack& s) { replace(s.offset), replace(s.valid); },
                   [&](Prefetch& s) { replace(s.offset), replace(s.count); },
                   [&](ExceedsCaches& s) { replace(s.bytes); },
                   [&](StorePastCaches& s) { replace(s.offset), replace(s.count); },
                   [&](For& s) {
                     replace(s.from), replace(s.to);
                     if (s.step) replace(s.step);
                     rewrite_expressions(s.body, rewrite);
                   },
                   [&](If& s) {
                     replace(s.condition);
                     rewrite_expressions(s.then, rewrite);
                     rewrite_expressions(s.otherwise, rewrite);
                   },
                   [&](CallFunction& s) {
                     for (Expr& e : s.arguments) replace(e);
                   },
                   [](auto&) {},
               },
               statement.op);
  }
}

namespace {

std::set<std::string> arrays_of(const Pointer& pointer) {
  return pointer.unless ? std::set{pointer.array, pointer.instead} : std::set{pointer.array};
}

}  // namespace

std::set<std::string> names_in(const Block& block) {
  std::set<std::string> names;
  visit_statements(block, [&](const Stmt& statement) {
    if (const auto* s = std::get_if<Pointer>(&statement.op)) names.merge(arrays_of(*s));
    if (const auto* s = std::get_if<Store>(&statement.op)) names.insert(s->array);
    if (const auto* s = std::get_if<LoadPack>(&statement.op)) names.insert(s->array);
    if (const auto* s = std::get_if<StorePack>(&statement.op)) names.insert({s->name, s->array});
    if (const auto* s = std::get_if<Prefetch>(&statement.op)) names.insert(s->array);
    if (const auto* s = std::get_if<StorePastCaches>(&statement.op)) names.insert({s->from, s->array});
    if (const auto* s = std::get_if<Atomic>(&statement.op)) names.insert(s->array);
  });
  visit_expressions(block, [&](const Expr& e) {
    if (const auto* n = std::get_if<Name>(&e->op)) names.insert(n->name);
    if (const auto* n = std::get_if<Load>(&e->op)) names.insert(n->array);
    if (const auto* n = std::get_if<MedianOf>(&e->op)) names.insert(n->array);
  });
  return names;
}

std::set<std::string> arrays_written_in(const Block& block) {
  std::set<std::string> names;
  visit_statements(block, [&](const Stmt& statement) {
    if (const auto* s = std::get_if<Pointer>(&statement.op); s && !s->is_const) names.merge(arrays_of(*s));
    if (const auto* s = std::get_if<Store>(&statement.op)) names.insert(s->array);
    if (const auto* s = std::get_if<StorePack>(&statement.op)) names.insert(s->array);
    if (const auto* s = std::get_if<StorePastCaches>(&statement.op)) names.insert(s->array);
    if (const auto* s = std::get_if<Atomic>(&statement.op)) names.insert(s->array);
  });
  return names;
}

const Function& function_named(const Module& module, const std::string& name) {
  for (const Function& function : module.functions) {
    if (function.name == name) return function;
  }
  throw InternalError("there is no function '" + name + "'");
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
    for (const std::string& array : arrays_of(pointer)) arrays_[pointer.name].merge(std::set(of(array)));
  }
  /// Nothing, of a function's own arrays and of tables.
  const std::set<std::string>& of(const std::string& name) const {
    static const std::set<std::string> nothing;
    const auto found = arrays_.find(name);
    return found == arrays_.end() ? nothing : found->second;
  }

 private:
  std::map<std::string, std::set<std::string>> arrays_;
};

void add_uses(const Module& module, const Function& function, Uses& uses) {
  Pointees pointees(module);
  const auto add = [&](std::set<std::string>& to, const std::string& name) {
    to.insert(pointees.of(name).begin(), pointees.of(name).end());
  };
  visit_statements(function.body, [&](const Stmt& statement) {
    std::visit(ir::overloaded{
                   [&](const Pointer& s) { pointees.add(s); },
                   [&](const Store& s) { add(uses.writes, s.array); },
                   [&](const LoadPack& s) { add(uses.reads, s.array); },
                   [&](const StorePack& s) { add(uses.writes, s.array), add(uses.reads, s.name); },
                   [&](const StorePastCaches& s) { add(uses.writes, s.array), add(uses.reads, s.from); },
                   [&](const Atomic& s) { add(uses.writes, s.array); },
                   [&](const Order& s) { add(uses.writes, s.array); },
                   [&](const CallFunction& s) { add_uses(module, function_named(module, s.function), uses); },
                   [](const Let&) {},
                   [](const Assign&) {},
                   [](const LocalArray&) {},
                   [](const Prefetch&) {},  // of what is read elsewhere
                   [](const ExceedsCaches&) {},
                   [](const Barrier&) {},
                   [](const For&) {},
                   [](const If&) {},
                   [](const Continue&) {},
                   [](const Comment&) {},
               },
               statement.op);
  });
  visit_expressions(function.body, [&](const Expr& e) {
    if (const auto* n = std::get_if<Load>(&e->op)) add(uses.reads, n->array);
    if (const auto* n = std::get_if<MedianOf>(&e->op)) add(uses.reads, n->array);
  });
}

}  // namespace

Uses uses_of(const Module& module, const std::string& function) {
  Uses uses;
  add_uses(module, function_named(module, function), uses);
  return uses;
}

}  // namespace weft::kernel
