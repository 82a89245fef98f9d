#include "dsl/check_scopes.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "ir/operation.h"
#include "ir/visit.h"

namespace weft::dsl {
namespace {

class ScopeChecker {
 public:
  explicit ScopeChecker(const ir::Stage& stage) : stage_(stage) {}

  /// From here on, expressions may use the operands of the reduction's operator.
  void enter_operator() { in_operator_ = true; }

  void check(const ir::Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    std::visit(
        ir::overloaded{
            [&](const ir::Quantity& n) { check(n.value, stage_.where); },
            [&](const ir::Read& n) {
              for (const ir::Index& index : n.indices) {
                if (const auto* affine = std::get_if<ir::Affine>(&index))
                  check(*affine, n.where.line > 0 ? n.where : stage_.where);
              }
              check_operands(*e);
            },
            [&](const ir::Coefficient& n) {
              if (!open_.count(n.loop.get())) fail_tap("the coefficient of a mask", stage_.where);
            },
            [&](const ir::Accumulated& n) {
              if (open_.count(n.loop.get())) return;
              throw Error(fmt::format("stage '{}' uses a value that an accumulator has inside its loop "
                                      "outside of it",
                                      stage_.name),
                          stage_.where)
                  .help("read the accumulator itself after for_each: it has its last value there");
            },
            [&](const ir::FoldResult& n) {
              for (const ir::Expr& initial : n.fold->initial) check(initial);
              check_in_loop(n.fold->loop.get(), n.fold->next);
            },
            [&](const ir::Median& n) { check_in_loop(n.loop.get(), {n.value}); },
            [&](const ir::Operand&) {
              if (in_operator_) return;
              throw Error(fmt::format("stage '{}' uses an operand of a reduction's operator outside of it",
                                      stage_.name),
                          stage_.where)
                  .help("the operator's operands have a meaning only inside its own function");
            },
            [&](const ir::Operation auto&) { check_operands(*e); },
            [](const ir::Const&) {},
            [](const ir::ParamRef&) {},
            [](const ir::StepNumber&) {},
        },
        e->op);
  }

 private:
  void check_operands(const ir::Node& node) {
    for (const ir::Expr& operand : ir::operands(node)) check(operand);
  }

  void check_in_loop(const ir::Loop* loop, const std::vector<ir::Expr>& body) {
    const bool is_new = open_.insert(loop).second;
    const auto outside = std::exchange(seen_, {});  // what is right inside the loop need not be outside
    for (const ir::Expr& e : body) check(e);
    if (is_new) open_.erase(loop);
    seen_ = outside;
  }

  void check(const ir::Affine& a, const Where& where) const {
    a.mentions([&](const ir::Atom& atom) {
      if (const auto* tap = std::get_if<ir::TapCoord>(&atom); tap && !open_.count(tap->loop.get()))
        fail_tap(ir::name_of(atom), where);
      const auto* coord = std::get_if<ir::Coord>(&atom);
      if (const std::size_t rank = stage_.domain().size(); coord && coord->dim >= static_cast<int>(rank)) {
        throw Error(fmt::format("stage '{}' is {}-D but uses a coordinate {}", stage_.name, rank,
                                ir::dim_name(coord->dim)),
                    where)
            .help("use only the coordinates that the stage's own body is given");
      }
      return false;
    });
  }

  [[noreturn]] void fail_tap(const std::string& what, const Where& where) const {
    throw Error(fmt::format("stage '{}' uses {} outside its loop", stage_.name, what), where)
        .help("a tap has a meaning only inside the body that for_each, sum, … give it to");
  }

  const ir::Stage& stage_;
  bool in_operator_ = false;
  std::unordered_set<const ir::Node*> seen_;
  std::unordered_set<const ir::Loop*> open_;
};

/// What an expression uses that is known only at a pixel or in a step, or else in a run; empty if nothing.
std::string what_varies(const ir::Expr& root, bool sizes_vary) {
  std::string what;
  ir::visit(root, [&](const ir::Expr& e) {
    if (const auto* read = std::get_if<ir::Read>(&e->op)) what = fmt::format("'{}'", read->source->name);
    if (std::holds_alternative<ir::StepNumber>(e->op)) what = "the step number";
    const auto* quantity = std::get_if<ir::Quantity>(&e->op);
    if (!quantity) return;
    const auto is_coordinate = [](const ir::Atom& atom) { return std::holds_alternative<ir::Coord>(atom); };
    if (quantity->value.mentions(is_coordinate))
      what = fmt::format("the coordinate {}", quantity->value.to_string());
    else if (sizes_vary)
      what = fmt::format("the size {}", quantity->value.to_string());
  });
  return what;
}

void check_constant(const ir::Expr& e, const std::string& what, const Where& where) {
  const std::string varies = what_varies(e, true);
  if (varies.empty()) return;
  throw Error(fmt::format("{} depends on {}", what, varies), where)
      .help("make it of constants and parameters");
}

void check_operator(const ir::Expr& combined, const std::string& name, const Where& where) {
  const std::string varies = what_varies(combined, false);
  if (varies.empty()) return;
  throw Error(fmt::format("the operator of reduction '{}' depends on {}", name, varies), where)
      .help(
          "make it of its two operands and of constants and parameters; the elements may depend on anything");
}

void check_reduction(const ir::Stage& stage, const ir::Reduce& reduce, ScopeChecker& checker) {
  for (const ir::Expr& e : reduce.element) checker.check(e);
  for (const ir::Expr& e : reduce.op.identity) {
    checker.check(e);
    check_constant(e, fmt::format("the identity of reduction '{}'", stage.name), stage.where);
  }
  checker.enter_operator();
  for (const ir::Expr& e : reduce.op.combined) {
    checker.check(e);
    check_operator(e, stage.name, stage.where);
  }
  checker.check(reduce.result);
}

}  // namespace

void check_scopes(const ir::Stage& stage) {
  ScopeChecker checker(stage);
  if (const auto* reduce = std::get_if<ir::Reduce>(&stage.definition))
    return check_reduction(stage, *reduce, checker);
  for (const ir::Expr& e : ir::expressions(stage)) checker.check(e);
  if (const auto* scatter = std::get_if<ir::Scatter>(&stage.definition))
    check_constant(scatter->initial, fmt::format("the initial value of scatter '{}'", stage.name),
                   stage.where);
}

}  // namespace weft::dsl
