#include "rewrite/uneven_masks.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/build.h"
#include "ir/visit.h"
#include "ir/window.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {

using ir::BinaryOp;
using ir::Expr;

namespace {

// A box of fewer points is summed tap by tap anyway, and each exception costs a product.
constexpr std::size_t least_points = 9, most_exceptions = 2;

/// sum over the loop of mask * value.
struct MaskedSum {
  const ir::Mask* mask;
  Expr value;
};

std::optional<MaskedSum> as_masked_sum(const ir::Fold& fold) {
  if (fold.next.size() != 1 || !is_integer(fold.next[0]->type.scalar)) return std::nullopt;
  const auto* step = std::get_if<ir::Binary>(&fold.next[0]->op);
  if (!step || step->op != BinaryOp::Add || !std::holds_alternative<ir::Accumulated>(step->a->op))
    return std::nullopt;
  const auto* product = std::get_if<ir::Binary>(&step->b->op);
  if (!product || product->op != BinaryOp::Mul) return std::nullopt;
  const auto* coefficient = std::get_if<ir::Coefficient>(&product->a->op);
  if (!coefficient || coefficient->loop != fold.loop) return std::nullopt;
  bool depends_on_the_tap_by_reads_alone = true;
  ir::visit(product->b, [&](const Expr& e) {
    depends_on_the_tap_by_reads_alone &=
        !std::holds_alternative<ir::Coefficient>(e->op) && !std::holds_alternative<ir::Accumulated>(e->op) &&
        !std::holds_alternative<ir::FoldResult>(e->op) && !std::holds_alternative<ir::Median>(e->op) &&
        !std::holds_alternative<ir::Quantity>(e->op);
  });
  if (!depends_on_the_tap_by_reads_alone) return std::nullopt;
  return MaskedSum{coefficient->mask.get(), product->b};
}

/// `value` as it is at one point of the loop.
Expr at_point(const Expr& value, const ir::Loop& loop, const std::vector<int>& point) {
  ir::Rewriter fix([&](const Expr& e) -> Expr {
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read) return nullptr;
    ir::Read fixed = *read;
    for (ir::Index& index : fixed.indices) {
      if (auto* affine = std::get_if<ir::Affine>(&index)) {
        *affine = affine->substitute([&](const ir::Atom& atom) {
          const auto* tap = std::get_if<ir::TapCoord>(&atom);
          return tap && tap->loop.get() == &loop ? ir::Affine(point[tap->dim]) : ir::Affine(atom);
        });
      }
    }
    return std::make_shared<const ir::Node>(ir::Node{e->type, std::move(fixed)});
  });
  return fix(value);
}

Expr with_exceptions_apart(const Expr& e) {
  const auto* result = std::get_if<ir::FoldResult>(&e->op);
  const auto sum = result ? as_masked_sum(*result->fold) : std::nullopt;
  if (!sum) return nullptr;
  const ir::Fold& fold = *result->fold;
  const auto& points = fold.loop->domain.points;
  if (points.size() < least_points || !ir::dense_box(fold.loop->domain)) return nullptr;

  std::map<std::int64_t, std::size_t> count;
  for (const auto& p : points) ++count[ir::coefficient_at(*sum->mask, p).as_integer()];
  const auto usual = std::max_element(count.begin(), count.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::size_t exceptions = points.size() - usual->second;
  if (exceptions == 0 || exceptions > most_exceptions) return nullptr;

  const Type type = e->type;
  const auto times = [&](std::int64_t factor, const Expr& value) {
    if (factor == 1) return value;
    return ir::binary(BinaryOp::Mul, ir::constant(ir::Value::integer(type.lane(), factor)), value);
  };
  auto box = std::make_shared<ir::Fold>(fold);
  box->next = {
      ir::binary(BinaryOp::Add, ir::accumulated(fold.loop, 0, type), times(usual->first, sum->value))};
  Expr total = ir::fold_result(box, 0);
  for (const auto& p : points) {
    const std::int64_t difference = ir::coefficient_at(*sum->mask, p).as_integer() - usual->first;
    if (difference != 0)
      total = ir::binary(BinaryOp::Add, total, times(difference, at_point(sum->value, *fold.loop, p)));
  }
  return total;
}

}  // namespace

ir::Pipeline uneven_masks(const ir::Pipeline& pipeline) {
  return rewrite_stages(pipeline, [](const ir::Stage&) -> Rule { return with_exceptions_apart; });
}

}  // namespace weft::rewrite
