#include "plan/steps_in_lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/case_box.h"
#include "ir/visit.h"
#include "plan/core_strip.h"

namespace weft::plan {
namespace {

// Columns that an update reads beside its own: each step keeps as many vectors.
constexpr std::int64_t most_beside = 6;

/// The column that it reads, from its own; or it is none of a field's past.
std::optional<std::int64_t> column_read_by(const ir::Read& read) {
  if (!std::holds_alternative<ir::Past>(read.source->definition)) return std::nullopt;
  const auto* index = std::get_if<ir::Affine>(&read.indices[0]);
  if (!index) return std::nullopt;
  const ir::Affine distance = *index - ir::Affine(ir::Coord{0});
  return distance.is_constant() ? std::optional(distance.constant()) : std::nullopt;
}

bool is_arithmetic(const ir::Expr& e) {
  if (const auto* n = std::get_if<ir::Binary>(&e->op))
    return n->op == ir::BinaryOp::Add || n->op == ir::BinaryOp::Sub || n->op == ir::BinaryOp::Mul ||
           n->op == ir::BinaryOp::Div;
  if (const auto* n = std::get_if<ir::Unary>(&e->op))
    return n->op == ir::UnaryOp::Neg || n->op == ir::UnaryOp::Sqrt;
  return std::holds_alternative<ir::Const>(e->op) || std::holds_alternative<ir::ParamRef>(e->op) ||
         std::holds_alternative<ir::Read>(e->op);
}

}  // namespace

int width_in_lanes(Scalar type) { return line_bytes / size_of(type) * columns_of_lane; }

std::optional<std::string> why_not_in_lanes(const ir::Stage& update, int steps) {
  const auto* pure = std::get_if<ir::Pure>(&update.definition);
  const Type type = update.type;
  if (!pure || type.lanes > 1 || (type.scalar != Scalar::F32 && type.scalar != Scalar::F64))
    return "lanes of vectors go along lines of one float to a pixel";
  const bool has_box = pure->cases.size() == 2 && analysis::box_where(pure->cases[0].when, update.box.size());
  if (pure->cases.size() > 1 && !has_box) return "lanes of vectors compute one case, of a part of the line";
  bool is_simple = true;
  std::int64_t left = 0, right = 0;
  ir::visit({pure->cases[0].value}, [&](const ir::Expr& e) {
    is_simple &= is_arithmetic(e) && e->type == type;
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (!read) return;
    const auto column = column_read_by(*read);
    is_simple &= column.has_value();
    left = std::max(left, -column.value_or(0)), right = std::max(right, column.value_or(0));
  });
  if (!is_simple) return "lanes of vectors do arithmetic with neighbours alone";
  if (left + right == 0 || left + right > most_beside)
    return "lanes of vectors keep the columns beside a pixel, a few, in registers";
  const int lanes = line_bytes / size_of(type.scalar);
  if (steps * right % lanes != 0)
    return fmt::format("lanes store {} columns behind what they load, which is no multiple of {}",
                       steps * right, lanes);
  return std::nullopt;
}

}  // namespace weft::plan
