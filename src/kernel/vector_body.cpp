#include "kernel/vector_body.h"

#include <algorithm>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {

using ir::BinaryOp;
using ir::UnaryOp;

namespace {

bool has_vectors(Scalar type) {
  if (is_float(type)) return type != Scalar::F16;
  return is_integer(type) && size_of(type) <= 4;
}

/// Whether it has the type in C, too, which takes narrow integers that are computed for an int.
bool is_scalar_of_type(const Expr& e) {
  const bool is_computed = !std::holds_alternative<Const>(e->op) && !std::holds_alternative<Name>(e->op);
  return is_float(e->type) || size_of(e->type) >= 4 || !is_computed;
}

}  // namespace

VectorBody::VectorBody(const For& loop) : loop_(loop) {
  varies_.insert(loop.variable);
  for (const Stmt& statement : loop.body) is_arithmetic_ = is_arithmetic_ && look_at(statement);
}

int VectorBody::scalars() const {
  int widest = 1;
  for (const Scalar type : types_) widest = std::max(widest, size_of(type));
  return vector_bytes / widest;
}

bool VectorBody::look_at(const Stmt& statement) {
  if (const auto* let = std::get_if<Let>(&statement.op)) {
    if (let->is_mutable || let->is_opaque || !is_arithmetic(let->value)) return false;
    if (varies(let->value)) varies_.insert(let->name);
    return true;
  }
  const auto* store = std::get_if<Store>(&statement.op);
  return store && is_arithmetic(store->value) && varies(store->value) && goes_along(store->index);
}

bool VectorBody::is_arithmetic(const Expr& e) {
  if (!has_vectors(e->type)) return false;
  types_.insert(e->type);
  if (!varies(e)) return is_scalar_of_type(e);
  if (const auto* n = std::get_if<Load>(&e->op)) return goes_along(n->index) && note(*n, e->type);
  if (const auto* n = std::get_if<Unary>(&e->op)) return is_arithmetic(e, *n);
  if (const auto* n = std::get_if<Binary>(&e->op)) return is_arithmetic(e, *n);
  if (const auto* n = std::get_if<Cast>(&e->op)) return is_arithmetic(e, *n);
  return std::holds_alternative<Name>(e->op);
}

bool VectorBody::is_arithmetic(const Expr& e, const Unary& n) {
  const bool is_root = n.op == UnaryOp::Sqrt && is_float(e->type);
  return (is_root || n.op == UnaryOp::Neg) && is_arithmetic(n.a);
}

bool VectorBody::is_arithmetic(const Expr& e, const Binary& n) {
  const bool is_of_floats = is_float(e->type);
  const auto literal_b = is_of_floats ? std::nullopt : literal_value(n.b);
  const auto has_vectors = [&] {
    switch (n.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
      case BinaryOp::Mul: return true;
      case BinaryOp::Div: return is_of_floats || (literal_b && *literal_b > 0);
      case BinaryOp::Min:
      case BinaryOp::Max: return !is_of_floats && varies(n.a) && varies(n.b);
      case BinaryOp::And:
      case BinaryOp::Or:
      case BinaryOp::Xor: return !is_of_floats;
      case BinaryOp::Shl:
      case BinaryOp::Shr: return literal_b.has_value();
      default: return false;
    }
  };
  return has_vectors() && is_arithmetic(n.a) && is_arithmetic(n.b);
}

bool VectorBody::is_arithmetic(const Expr& e, const Cast& n) {
  return is_integer(e->type) && is_integer(n.a->type) && is_arithmetic(n.a);
}

bool VectorBody::note(const Load& load, Scalar type) {
  const auto [base, place] = split_constant(load.index);
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&, base = base](const Row& row) {
    return row.array == load.array && same(row.base, base);
  });
  Row& row = found == rows_.end() ? rows_.emplace_back(Row{load.array, type, base, {}}) : *found;
  row.places.insert(static_cast<int>(place));
  return true;
}

bool VectorBody::varies(const Expr& e) const {
  return any_of(e, [&](const Node& node) {
    const auto* name = std::get_if<Name>(&node.op);
    return std::holds_alternative<Load>(node.op) || (name && varies_.count(name->name) > 0);
  });
}

/// The variable, and added to it what does not vary.
bool VectorBody::goes_along(const Expr& index) const {
  if (const auto* name = std::get_if<Name>(&index->op)) return name->name == loop_.variable;
  const auto* n = std::get_if<Binary>(&index->op);
  if (!n || (n->op != BinaryOp::Add && n->op != BinaryOp::Sub)) return false;
  if (goes_along(n->a)) return !varies(n->b);
  return n->op == BinaryOp::Add && !varies(n->a) && goes_along(n->b);
}

const For& loop_of(const StepsInLanes& steps) { return std::get<For>(steps.update.back().op); }

bool is_update_of_line(const StepsInLanes& steps) {
  const auto* loop = steps.update.empty() ? nullptr : std::get_if<For>(&steps.update.back().op);
  if (!loop) return false;
  const VectorBody body(*loop);
  const bool stores_one = !loop->body.empty() && std::holds_alternative<Store>(loop->body.back().op) &&
                          std::count_if(loop->body.begin(), loop->body.end(), [](const Stmt& statement) {
                            return std::holds_alternative<Store>(statement.op);
                          }) == 1;
  if (!body.is_arithmetic() || !body.is_of_floats() || body.rows().size() != 1 || !stores_one) return false;
  const auto [left, right] = beside(body.rows().front());
  return left + right > 0;
}

Beside beside(const VectorBody::Row& row) { return {std::max(-row.first(), 0), std::max(row.last(), 0)}; }

Expr beyond(const RowEnds& ends, const For& loop, const Load& at_variable, Scalar type, const Expr& from,
            int place) {
  if (!ends.border) return ends.constant;
  const int pixels = place < 0 ? -((ends.lanes - 1 - place) / ends.lanes) : place / ends.lanes;
  const Expr inside = *ends.border != IndexOp::Clamp
                          ? index_call(*ends.border, add(from, literal(pixels)), ends.pixels)
                      : place < 0 ? literal(0)
                                  : sub(ends.pixels, literal(1));
  const Expr scalar = add(mul(inside, literal(ends.lanes)), literal(place - pixels * ends.lanes));
  return load(at_variable.array, type, index_at(loop, at_variable.index, scalar));
}

Expr index_at(const For& loop, const Expr& index, const Expr& place) {
  return rewritten(index, [&](const Expr& e) -> Expr {
    const auto* name = std::get_if<Name>(&e->op);
    return name && name->name == loop.variable ? place : nullptr;
  });
}

}  // namespace weft::kernel
