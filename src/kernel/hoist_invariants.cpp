#include "kernel/hoist_invariants.h"

#include <map>
#include <set>
#include <utility>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

/// The names of variables, pointers and local arrays that a statement declares or assigns to.
void add_names_set_by(const kernel::Stmt& statement, std::set<Symbol>& names) {
  const kernel::Effects effects = kernel::effects_of(statement);
  names.insert(effects.declares.begin(), effects.declares.end());
  names.insert(effects.assigns.begin(), effects.assigns.end());
}

/// Whether compilers make a branch of the node itself, at least at first.
bool is_branch(const kernel::Node& node) {
  return std::visit(
      ir::overloaded{
          [](const kernel::Select&) { return true; },
          [](const kernel::IndexCall&) { return true; },
          [&](const kernel::Cast& n) {
            return n.mode == ir::CastMode::Saturate || (is_float(n.a->type) && !is_float(node.type));
          },
          [](const kernel::Binary& n) {
            const bool divides = n.op == ir::BinaryOp::Div || n.op == ir::BinaryOp::Rem;
            return divides && !is_float(n.a->type) && !std::holds_alternative<kernel::Const>(n.b->op);
          },
          [](const kernel::Const&) { return false; },
          [](const kernel::Name&) { return false; },
          [](const kernel::Unary&) { return false; },
          [](const kernel::Load&) { return false; },
          [](const kernel::MedianOf&) { return false; },
          [](const kernel::HalfOfSum&) { return false; },
      },
      node.op);
}

class LoopInvariants {
 public:
  LoopInvariants(kernel::For& loop, Names& names) : loop_(loop), names_(names) {
    varying_.insert(loop.variable);
    kernel::visit_statements(loop.body, [&](const kernel::Stmt& s) { add_names_set_by(s, varying_); });
  }

  /// What belongs before the loop.
  kernel::Block take() {
    std::erase_if(loop_.body, [&](kernel::Stmt& s) {
      const auto* let = std::get_if<kernel::Let>(&s.op);
      if (!let || let->is_mutable || !is_invariant(let->value)) return false;
      varying_.erase(let->name);
      before_.push_back(std::move(s));
      return true;
    });
    choose_rows();
    kernel::rewrite_expressions(loop_.body, [&](const Expr& e) { return named_if_branching(e); });
    return std::move(before_);
  }

 private:
  /// Of two rows that every iteration would load from, and choose between in the same way, the one that is chosen.
  void choose_rows() {
    std::map<Symbol, std::pair<const kernel::Load*, int>> loaded;  // values that have a name, and their uses
    for (const kernel::Stmt& s : loop_.body) {
      const auto* let = std::get_if<kernel::Let>(&s.op);
      const auto* load = let && !let->is_mutable ? std::get_if<kernel::Load>(&let->value->op) : nullptr;
      if (load) loaded[let->name] = {load, 0};
    }
    kernel::visit_expressions(loop_.body, [&](const Expr& e) {
      const auto* name = std::get_if<kernel::Name>(&e->op);
      if (name && loaded.count(name->name)) ++loaded.at(name->name).second;
    });
    const std::set<Symbol> written = kernel::arrays_written_in(loop_.body);
    const auto row_of = [&](const Expr& e) -> const kernel::Load* {
      const auto* name = std::get_if<kernel::Name>(&e->op);
      const auto found = name ? loaded.find(name->name) : loaded.end();
      if (found == loaded.end() || found->second.second != 1) return nullptr;
      const kernel::Load* load = found->second.first;
      return varying_.count(load->array) || written.count(load->array) ? nullptr : load;
    };
    std::set<Symbol> chosen_from;
    kernel::rewrite_expressions(loop_.body, [&](const Expr& e) -> Expr {
      const auto* choice = std::get_if<kernel::Select>(&e->op);
      const kernel::Load *a = choice ? row_of(choice->a) : nullptr, *b = choice ? row_of(choice->b) : nullptr;
      if (!a || !b || !kernel::same(a->index, b->index) || !is_invariant(choice->condition)) return nullptr;
      const Symbol row = names_.claim("chosen_row");
      before_.push_back({kernel::Pointer{.name = row,
                                         .array = b->array,
                                         .type = e->type,
                                         .offset = kernel::literal(0),
                                         .unless = choice->condition,
                                         .instead = a->array}});
      for (const Expr& side : {choice->a, choice->b})
        chosen_from.insert(std::get<kernel::Name>(side->op).name);
      return kernel::load(row, e->type, a->index);
    });
    std::erase_if(loop_.body, [&](const kernel::Stmt& s) {
      const auto* let = std::get_if<kernel::Let>(&s.op);
      return let && chosen_from.count(let->name) > 0;
    });
  }

  bool is_invariant(const Expr& e) const {
    return !kernel::any_of(e, [&](const kernel::Node& node) {
      if (const auto* name = std::get_if<kernel::Name>(&node.op)) return varying_.count(name->name) > 0;
      return std::holds_alternative<kernel::Load>(node.op) ||
             std::holds_alternative<kernel::MedianOf>(node.op);
    });
  }

  /// A name for `e` if it never varies and has branches, else null.
  Expr named_if_branching(const Expr& e) {
    if (!kernel::any_of(e, is_branch) || !is_invariant(e)) return nullptr;
    for (const auto& [name, value] : known_) {
      if (kernel::same(value, e)) return kernel::name(name, e->type);
    }
    const Symbol name = names_.claim("invariant");
    before_.push_back({kernel::Let{name, e}});
    known_.emplace_back(name, e);
    return kernel::name(name, e->type);
  }

  kernel::For& loop_;
  Names& names_;
  std::set<Symbol> varying_;
  kernel::Block before_;
  std::vector<std::pair<Symbol, Expr>> known_;
};

void hoist_in(kernel::Block& block, Names& names) {
  kernel::Block result;
  for (kernel::Stmt& s : block) {
    if (auto* branch = std::get_if<kernel::If>(&s.op)) {
      hoist_in(branch->then, names);
      hoist_in(branch->otherwise, names);
    }
    if (auto* loop = std::get_if<kernel::For>(&s.op)) {
      hoist_in(loop->body, names);
      if (loop->kind == kernel::LoopKind::Vector) {
        for (kernel::Stmt& before : LoopInvariants(*loop, names).take()) result.push_back(std::move(before));
      }
    }
    result.push_back(std::move(s));
  }
  block = std::move(result);
}

}  // namespace

void hoist_invariants(kernel::Function& function, Names names) {
  std::set<Symbol> declared(function.parameters.begin(), function.parameters.end());
  kernel::visit_statements(function.body, [&](const kernel::Stmt& s) { add_names_set_by(s, declared); });
  for (const Symbol& name : declared) names.avoid(name);
  hoist_in(function.body, names);
}

}  // namespace weft::kernel
