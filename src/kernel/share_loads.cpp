#include "kernel/share_loads.h"

#include <algorithm>
#include <set>
#include <vector>

#include "kernel/build.h"
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
  LoadSharing(Block& block, const std::function<Symbol(const std::string&)>& claim)
      : block_(block), claim_(claim), written_(arrays_written_in(block)) {
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
    if (load && !written_.count(load->array) && !changes(load->index)) visitor(e);
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
  const std::function<Symbol(const std::string&)>& claim_;
  const std::set<Symbol> written_;
  std::set<Symbol> assigned_;  // variables
  std::vector<Shared> loads_;
};

}  // namespace

void share_loads(Block& block, const std::function<Symbol(const std::string&)>& claim) {
  LoadSharing(block, claim).run();
}

}  // namespace weft::kernel
