#include "kernel/share_loads.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "kernel/build.h"
#include "kernel/pointers.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

struct Shared {
  Expr load;
  int count = 0;
  Symbol name = {};  // once it has one
};

class LoadSharing {
 public:
  using Claim = std::function<Symbol(const std::string&)>;
  using IsWorth = std::function<bool(const Load&)>;

  LoadSharing(Block& block, const Pointed& pointed, IsWorth is_worth, Claim claim)
      : block_(block), pointed_(pointed), is_worth_(std::move(is_worth)), claim_(std::move(claim)) {
    for (const Symbol& array : arrays_written_in(block)) written_.merge(arrays_behind(array, pointed_));
    visit_statements(block, [&](const Stmt& statement) {
      for (const Symbol& variable : effects_of(statement).assigns) assigned_.insert(variable);
    });
  }

  void run() {
    for (const Stmt& statement : block_) {
      each_load_of(statement, [&](const Expr& load) { ++known(load).count; });
    }
    Block named;
    for (Stmt& statement : block_) {
      if (const auto* let = std::get_if<Let>(&statement.op)) {
        Shared* shared = let->is_mutable ? nullptr : find(let->value);
        if (shared && shared->count > 1 && !shared->name) {
          shared->name = let->name;
          named.push_back(std::move(statement));
          continue;
        }
      }
      each_load_of(statement, [&](const Expr& load) {
        Shared& shared = known(load);
        if (shared.count < 2 || shared.name) return;
        shared.name = claim_("v");
        named.push_back({Let{shared.name, load}});
      });
      each_operand(statement, [&](Expr& e) {
        e = rewritten(e, [&](const Expr& part) -> Expr {
          const Shared* shared = find(part);
          return shared && shared->name ? name(shared->name, part->type) : nullptr;
        });
      });
      named.push_back(std::move(statement));
    }
    block_ = std::move(named);
  }

 private:
  /// Of what is surely computed.
  void each_load_of(const Stmt& statement, const std::function<void(const Expr&)>& visitor) const {
    const bool is_straight =
        std::holds_alternative<Let>(statement.op) || std::holds_alternative<Store>(statement.op);
    if (is_straight) each_operand(statement, [&](const Expr& e) { each_load_in(e, visitor); });
  }
  void each_load_in(const Expr& e, const std::function<void(const Expr&)>& visitor) const {
    if (const auto* select = std::get_if<Select>(&e->op)) return each_load_in(select->condition, visitor);
    const auto* binary = std::get_if<Binary>(&e->op);
    const bool may_skip_b = binary && e->type == Scalar::Bool &&
                            (binary->op == ir::BinaryOp::And || binary->op == ir::BinaryOp::Or);
    if (may_skip_b) return each_load_in(binary->a, visitor);
    each_operand(*e, [&](const Expr& operand) { each_load_in(operand, visitor); });
    const auto* load = std::get_if<Load>(&e->op);
    if (load && is_worth_(*load) && !is_written(load->array) && !changes(load->index)) visitor(e);
  }
  bool is_written(const Symbol& array) const {
    const std::set<Symbol> arrays = arrays_behind(array, pointed_);
    return std::any_of(arrays.begin(), arrays.end(), [&](const Symbol& a) { return written_.count(a) > 0; });
  }
  bool changes(const Expr& index) const {
    return any_of(index, [&](const Node& node) {
      const auto* variable = std::get_if<Name>(&node.op);
      return variable && assigned_.count(variable->name) > 0;
    });
  }

  Shared* find(const Expr& load) {
    if (!std::holds_alternative<Load>(load->op)) return nullptr;
    const auto found =
        std::find_if(loads_.begin(), loads_.end(), [&](const Shared& s) { return same(s.load, load); });
    return found == loads_.end() ? nullptr : &*found;
  }
  Shared& known(const Expr& load) {
    if (Shared* shared = find(load)) return *shared;
    return loads_.emplace_back(Shared{load});
  }

  Block& block_;
  const Pointed& pointed_;
  const IsWorth is_worth_;
  const Claim claim_;
  std::set<Symbol> written_, assigned_;  // arrays, variables
  std::vector<Shared> loads_;
};

bool is_spread(const Load& load) {
  return any_of(load.index, [](const Node& node) {
    const auto* binary = std::get_if<Binary>(&node.op);
    return binary && binary->op == ir::BinaryOp::Mul;
  });
}

bool stores_several_times(const Block& block) {
  const auto is_store = [](const Stmt& s) { return std::holds_alternative<Store>(s.op); };
  return std::count_if(block.begin(), block.end(), is_store) > 1;
}

void share_in_loops(Block& block, const Pointed& pointed, Names& names) {
  for (Stmt& statement : block) {
    auto* loop = std::get_if<For>(&statement.op);
    if (loop && loop->kind == LoopKind::Vector && stores_several_times(loop->body)) {
      LoadSharing(loop->body, pointed, is_spread, [&](const std::string& wanted) {
        return names.claim(wanted);
      }).run();
    }
    each_block(statement, [&](Block& within) { share_in_loops(within, pointed, names); });
  }
}

}  // namespace

void share_loads(Block& block, const std::function<Symbol(const std::string&)>& claim) {
  LoadSharing(
      block, {}, [](const Load&) { return true; }, claim)
      .run();
}

void share_spread_loads(Function& function, Names names) {
  avoid_declared_in(function, names);  // what is hoisted leaves its loop
  share_in_loops(function.body, pointed_in(function), names);
}

}  // namespace weft::kernel
