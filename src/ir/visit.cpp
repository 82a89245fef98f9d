#include "ir/visit.h"

#include <algorithm>
#include <type_traits>

namespace weft::ir {

namespace {

/// T, const if the variant that it is an alternative of is.
template <class Variant, class T>
using In = std::conditional_t<std::is_const_v<Variant>, const T, T>;

/// Calls `f` with each operand of a node, and `of_fold` with the fold that holds others. The only list of
/// them.
template <class Op, class F, class OfFold>
void each_operand(Op& op, const F& f, const OfFold& of_fold) {
  std::visit(overloaded{
                 [](const Const&) {},
                 [](const Quantity&) {},
                 [](const ParamRef&) {},
                 [&](In<Op, Unary>& n) { f(n.a); },
                 [&](In<Op, Binary>& n) { f(n.a), f(n.b); },
                 [&](In<Op, Select>& n) { f(n.condition), f(n.a), f(n.b); },
                 [&](In<Op, Cast>& n) { f(n.a); },
                 [&](In<Op, Pack>& n) { std::for_each(n.lanes.begin(), n.lanes.end(), f); },
                 [&](In<Op, Lane>& n) { f(n.a); },
                 [&](In<Op, Read>& n) {
                   for (In<Op, Index>& index : n.indices) {
                     if (auto* computed = std::get_if<Expr>(&index)) f(*computed);
                   }
                   if (n.border && n.border->constant) f(n.border->constant);
                 },
                 [](const Coefficient&) {},
                 [](const Accumulated&) {},
                 [&](In<Op, FoldResult>& n) { of_fold(n.fold); },
                 [&](In<Op, Median>& n) { f(n.value); },
                 [](const Operand&) {},
                 [](const StepNumber&) {},
             },
             op);
}

}  // namespace

std::vector<Expr> operands(const Node& node) {
  std::vector<Expr> result;
  each_operand(
      node.op, [&](const Expr& operand) { result.push_back(operand); },
      [&](const std::shared_ptr<const Fold>& fold) {
        result = fold->initial;
        result.insert(result.end(), fold->next.begin(), fold->next.end());
      });
  return result;
}

namespace {

void visit_once(const Expr& e, const std::function<void(const Expr&)>& visitor,
                std::unordered_set<const Node*>& seen) {
  if (!seen.insert(e.get()).second) return;
  for (const Expr& operand : operands(*e)) visit_once(operand, visitor, seen);
  visitor(e);
}

void collect(const StagePtr& stage, std::unordered_set<const Stage*>& seen, std::vector<StagePtr>& order) {
  if (!seen.insert(stage.get()).second) return;
  for (const StagePtr& source : sources(*stage)) collect(source, seen, order);
  order.push_back(stage);
}

}  // namespace

void visit(const std::vector<Expr>& roots, const std::function<void(const Expr&)>& visitor) {
  std::unordered_set<const Node*> seen;
  for (const Expr& root : roots) visit_once(root, visitor, seen);
}

void visit(const Expr& root, const std::function<void(const Expr&)>& visitor) {
  visit(std::vector{root}, visitor);
}

std::vector<Expr> expressions(const Stage& stage) {
  std::vector<Expr> result;
  rewritten(stage, [&](const Expr& e) {
    result.push_back(e);
    return e;
  });
  return result;
}

std::vector<Expr> reads(const Stage& stage) {
  std::vector<Expr> result;
  visit(expressions(stage), [&](const Expr& e) {
    if (std::holds_alternative<Read>(e->op)) result.push_back(e);
  });
  return result;
}

std::vector<StagePtr> updates(const Stage& stage) {
  std::vector<StagePtr> result;
  if (const auto* evolve = std::get_if<Evolve>(&stage.definition)) {
    for (const Evolving& field : evolve->evolution->fields) result.push_back(field.update);
  }
  return result;
}

int field_of(const Stage* past, const Evolution& evolution) {
  for (std::size_t f = 0; f < evolution.fields.size(); ++f) {
    for (const StagePtr& one : evolution.fields[f].past) {
      if (one.get() == past) return static_cast<int>(f);
    }
  }
  return -1;
}

bool reads_current_pixel(const Read& read, const Box& domain) {
  if (read.source->box != domain || read.region != domain) return false;
  for (std::size_t d = 0; d < read.indices.size(); ++d) {
    const auto* index = std::get_if<Affine>(&read.indices[d]);
    if (!index || !is_coord(*index, static_cast<int>(d))) return false;
  }
  return true;
}

/// Whether two borders' values are made alike from constants and parameters.
static bool same_constant(const Expr& a, const Expr& b) {
  if (a == b) return true;
  if (a->type != b->type) return false;
  if (const auto* c = std::get_if<Const>(&a->op)) {
    const auto* d = std::get_if<Const>(&b->op);
    return d && c->value == d->value;
  }
  if (const auto* p = std::get_if<ParamRef>(&a->op)) {
    const auto* q = std::get_if<ParamRef>(&b->op);
    return q && p->param == q->param;
  }
  const auto* c = std::get_if<Cast>(&a->op);
  const auto* d = std::get_if<Cast>(&b->op);
  const bool are_casts = c && d && c->mode == d->mode;
  if (!are_casts && !(std::holds_alternative<Pack>(a->op) && std::holds_alternative<Pack>(b->op)))
    return false;
  const std::vector<Expr> of_a = operands(*a), of_b = operands(*b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same_constant);
}

std::optional<double> as_number(const Expr& e) {
  if (const auto* pack = std::get_if<Pack>(&e->op)) {
    const std::optional<double> first = as_number(pack->lanes.front());
    const bool same = std::all_of(pack->lanes.begin(), pack->lanes.end(), [&](const Expr& lane) {
      return lane == pack->lanes.front() || as_number(lane) == first;
    });
    return same ? first : std::nullopt;
  }
  const auto* constant = std::get_if<Const>(&e->op);
  if (!constant) return std::nullopt;
  const double number = constant->value.as_double(0);
  for (int lane = 1; lane < e->type.lanes; ++lane) {
    if (constant->value.as_double(lane) != number) return std::nullopt;
  }
  return number;
}

bool is_same_everywhere(const Expr& e) {
  bool same = true;
  visit(e, [&](const Expr& part) {
    const auto& op = part->op;
    same &= std::holds_alternative<Const>(op) || std::holds_alternative<ParamRef>(op) ||
            std::holds_alternative<Cast>(op) || std::holds_alternative<Pack>(op);
  });
  return same;
}

bool read_alike(const Read& a, const Read& b) {
  if (a.source != b.source || a.region != b.region || a.border.has_value() != b.border.has_value())
    return false;
  if (!a.border) return true;
  if (a.border->mode != b.border->mode) return false;
  return a.border->mode != BorderMode::Constant || same_constant(a.border->constant, b.border->constant);
}

Read at_taps(Read read, const KnownTaps& known) {
  for (Index& index : read.indices) {
    if (auto* affine = std::get_if<Affine>(&index)) *affine = at_taps(*affine, known);
  }
  return read;
}

bool is_output(const Pipeline& pipeline, const Stage& stage) {
  return std::any_of(pipeline.outputs.begin(), pipeline.outputs.end(),
                     [&](const StagePtr& output) { return output.get() == &stage; });
}

std::vector<StagePtr> sources(const Stage& stage) {
  std::vector<StagePtr> result;
  const auto add = [&](const StagePtr& source) {
    const bool known = std::find(result.begin(), result.end(), source) != result.end();
    if (!known && !std::holds_alternative<Past>(source->definition)) result.push_back(source);
  };
  if (const auto* evolve = std::get_if<Evolve>(&stage.definition)) {
    for (const Evolving& field : evolve->evolution->fields) add(field.initial);
    for (const Evolving& field : evolve->evolution->fields) {
      for (const StagePtr& source : sources(*field.update)) add(source);
    }
  }
  for (const Expr& e : reads(stage)) add(std::get<Read>(e->op).source);
  return result;
}

Stage rewritten(const Stage& stage, const std::function<Expr(const Expr&)>& rewrite) {
  Stage copy = stage;
  const auto each = [&](std::vector<Expr>& list) {
    for (Expr& e : list) e = rewrite(e);
  };
  std::visit(overloaded{
                 [&](Pure& d) {
                   for (Case& c : d.cases) {
                     if (c.when) c.when = rewrite(c.when);
                     c.value = rewrite(c.value);
                   }
                 },
                 [&](Reduce& d) {
                   each(d.element), each(d.op.identity), each(d.op.combined);
                   d.result = rewrite(d.result);
                 },
                 [&](Scatter& d) {
                   d.initial = rewrite(d.initial);
                   for (Update& u : d.updates) each(u.at), u.value = rewrite(u.value);
                 },
                 [](const Input&) {},
                 [](const Evolve&) {},  // its updates are stages of their own
                 [](const Past&) {},
             },
             copy.definition);
  return copy;
}

std::vector<StagePtr> topological_order(const std::vector<StagePtr>& outputs) {
  std::unordered_set<const Stage*> seen;
  std::vector<StagePtr> order;
  for (const StagePtr& output : outputs) collect(output, seen, order);
  return order;
}

std::shared_ptr<const Fold> Rewriter::rewritten(const std::shared_ptr<const Fold>& fold) {
  auto [entry, is_new] = folds_.try_emplace(fold.get());
  if (!is_new) return entry->second;
  Fold copy = *fold;
  for (Expr& e : copy.initial) e = (*this)(e);
  for (Expr& e : copy.next) e = (*this)(e);
  const bool changed = copy.initial != fold->initial || copy.next != fold->next;
  return folds_[fold.get()] = changed ? std::make_shared<const Fold>(std::move(copy)) : fold;
}

Expr Rewriter::with_new_operands(const Expr& e) {
  Node copy = *e;
  bool changed = false;
  const auto update = [&](Expr& operand) {
    Expr replacement = (*this)(operand);
    changed |= replacement != operand;
    operand = std::move(replacement);
  };
  each_operand(copy.op, update, [&](std::shared_ptr<const Fold>& fold) {
    auto replacement = rewritten(fold);
    changed |= replacement != fold;
    fold = std::move(replacement);
  });
  return changed ? std::make_shared<const Node>(std::move(copy)) : e;
}

Expr Rewriter::operator()(const Expr& e) {
  if (auto known = done_.find(e.get()); known != done_.end()) return known->second;
  Expr result = with_new_operands(e);
  if (Expr replacement = rule_(result)) result = std::move(replacement);
  kept_.push_back(e);
  return done_[e.get()] = result;
}

}  // namespace weft::ir
