#include "analysis/case_box.h"

#include <algorithm>

namespace weft::analysis {
namespace {

/// `a` without its only term in a coordinate, whose factor is 1 or -1.
struct Solved {
  int dim;
  std::int64_t factor;
  ir::Affine rest;
};
std::optional<Solved> solved(const ir::Affine& a) {
  std::optional<Solved> found;
  for (const auto& [atom, factor] : a.terms()) {
    const bool moves = ir::Affine(atom).mentions([](const ir::Atom& part) {
      return std::holds_alternative<ir::Coord>(part) || std::holds_alternative<ir::TapCoord>(part);
    });
    if (!moves) continue;
    const auto* coord = std::get_if<ir::Coord>(&atom);
    if (!coord || found || (factor != 1 && factor != -1)) return std::nullopt;
    found = Solved{coord->dim, factor, a - ir::Affine(atom) * factor};
  }
  return found;
}

/// The integer as a form in coordinates and sizes.
std::optional<ir::Affine> form_of(const ir::Expr& e) {
  if (const auto* quantity = std::get_if<ir::Quantity>(&e->op)) return quantity->value;
  const auto* constant = std::get_if<ir::Const>(&e->op);
  if (constant && e->type.scalar == Scalar::I64) return ir::Affine(constant->value.lane[0].i);
  return std::nullopt;
}

bool add(const ir::Expr& condition, std::vector<Bounds>& box) {
  const auto* binary = std::get_if<ir::Binary>(&condition->op);
  if (!binary) return false;
  if (binary->op == ir::BinaryOp::And) return add(binary->a, box) && add(binary->b, box);
  const bool is_order = binary->op == ir::BinaryOp::Lt || binary->op == ir::BinaryOp::Le;
  const auto a = form_of(binary->a), b = form_of(binary->b);
  if (!a || !b || !is_order) return false;
  // 0 <= difference
  const ir::Affine difference = *b - *a - (binary->op == ir::BinaryOp::Lt ? 1 : 0);
  const auto s = solved(difference);
  if (!s || s->dim >= static_cast<int>(box.size())) return false;
  if (s->factor > 0)
    box[s->dim].lower.push_back(s->rest * -1);
  else
    box[s->dim].upper.push_back(s->rest + 1);
  return true;
}

}  // namespace

std::optional<std::vector<Bounds>> box_where(const ir::Expr& condition, std::size_t rank) {
  std::vector<Bounds> box(rank);
  if (!condition || !add(condition, box)) return std::nullopt;
  return box;
}

}  // namespace weft::analysis
