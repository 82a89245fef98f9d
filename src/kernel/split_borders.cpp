#include "kernel/split_borders.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

/// factor * i + rest, where i is the variable of a loop, and the rest is the same in all of its turns.
struct Along {
  std::int64_t factor;
  Expr rest;
};

class Splitting {
 public:
  Splitting(const For& loop, Names& names) : loop_(loop), names_(names) {
    visit_statements(loop.body, [&](const Stmt& statement) {
      for (const auto& symbols : {effects_of(statement).declares, effects_of(statement).assigns})
        changing_.insert(symbols.begin(), symbols.end());
    });
  }

  /// The loop in three parts; nothing if it meets no border, or not only at its ends.
  std::optional<Block> run() {
    visit_expressions(loop_.body, [&](const Expr& e) {
      const auto is_known = [&](const Expr& known) { return same(known, e); };
      if (is_split(e) && std::none_of(calls_.begin(), calls_.end(), is_known)) calls_.push_back(e);
    });
    if (calls_.empty()) return std::nullopt;
    Expr first = loop_.from, end = loop_.to;
    for (const Expr& e : calls_) {
      const auto& call = std::get<IndexCall>(e->op);
      const Along index = *along(call.a);
      first = max(first, steps(sub(literal(0), index.rest), index.factor));
      end = min(end, steps(sub(call.b, index.rest), index.factor));
    }
    const Symbol from = names_.claim("inner_from"), until = names_.claim("inner_to");
    Block parts{{Let{from, min(first, loop_.to)}}, {Let{until, max(name(from), end)}}};
    For before = loop_, inside = loop_, after = loop_;
    before.kind = after.kind = LoopKind::Scalar;
    before.to = inside.from = name(from);
    inside.to = after.from = name(until);
    rewrite_expressions(inside.body,
                        [&](const Expr& e) { return is_split(e) ? without_border(e) : nullptr; });
    for (For* part : {&before, &inside, &after}) parts.push_back({std::move(*part)});
    return parts;
  }

 private:
  bool is_split(const Expr& e) const {
    const auto* call = std::get_if<IndexCall>(&e->op);
    if (!call || call->op == IndexOp::FloorDiv || !is_same(call->b)) return false;
    const auto index = along(call->a);
    return index && index->factor > 0;
  }
  Expr without_border(const Expr& e) const { return std::get<IndexCall>(e->op).a; }

  /// The first turn in which a factor of it is no less than a distance.
  static Expr steps(const Expr& distance, std::int64_t factor) {
    if (factor == 1) return distance;
    return div(add(max(distance, literal(0)), literal(factor - 1)), literal(factor));  // which rounds to 0
  }

  bool is_same(const Expr& e) const {
    return e->type == Scalar::I64 && !any_of(e, [&](const Node& node) {
             const auto* variable = std::get_if<Name>(&node.op);
             const bool reads = std::holds_alternative<Load>(node.op);
             return reads ||
                    (variable && (variable->name == loop_.variable || changing_.count(variable->name)));
           });
  }
  std::optional<Along> along(const Expr& e) const {
    if (e->type != Scalar::I64) return std::nullopt;
    const auto* variable = std::get_if<Name>(&e->op);
    if (variable && variable->name == loop_.variable) return Along{1, literal(0)};
    if (is_same(e)) return Along{0, e};
    const auto* binary = std::get_if<Binary>(&e->op);
    if (!binary) return std::nullopt;
    const auto a = along(binary->a), b = along(binary->b);
    if (!a || !b) return std::nullopt;
    if (binary->op == ir::BinaryOp::Add) return Along{a->factor + b->factor, add(a->rest, b->rest)};
    if (binary->op == ir::BinaryOp::Sub) return Along{a->factor - b->factor, sub(a->rest, b->rest)};
    const auto factor = binary->op == ir::BinaryOp::Mul ? literal_value(binary->b) : std::nullopt;
    if (!factor) return std::nullopt;
    return Along{a->factor * *factor, mul(a->rest, literal(*factor))};
  }

  const For& loop_;
  Names& names_;
  std::set<Symbol> changing_;
  std::vector<Expr> calls_;
};

void split_in(Block& block, Names& names) {
  Block result;
  for (Stmt& statement : block) {
    each_block(statement, [&](Block& inside) { split_in(inside, names); });
    const auto* loop = std::get_if<For>(&statement.op);
    const bool is_plain =
        loop && loop->kind == LoopKind::Vector && !loop->step && !loop->ends && !loop->vectors;
    auto parts = is_plain ? Splitting(*loop, names).run() : std::nullopt;
    if (parts)
      append(result, *std::move(parts));
    else
      result.push_back(std::move(statement));
  }
  block = std::move(result);
}

}  // namespace

void split_borders(Function& function, Names names) {
  avoid_declared_in(function, names);
  split_in(function.body, names);
}

}  // namespace weft::kernel
