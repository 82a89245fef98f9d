#include <weft/window.h>

#include <algorithm>

#include "dsl/stage_parts.h"
#include "ir/build.h"
#include "ir/visit.h"

namespace weft {
namespace {

Index tap_index(const std::shared_ptr<const ir::Loop>& loop, int rank, int dim) {
  return Index(dim < rank ? ir::Affine(ir::Atom(ir::TapCoord{loop, dim})) : ir::Affine(0));
}

std::shared_ptr<const ir::Domain> dense(const std::vector<int>& extents, const Where& where) {
  auto domain = std::make_shared<ir::Domain>();
  domain->rank = static_cast<int>(extents.size());
  std::int64_t count = 1;
  for (int e : extents) {
    if (e < 1 || e > 1 << 12)
      throw Error("a window has 1 to 4096 points per dimension, not " + std::to_string(e), where);
    count *= e;
  }
  if (count > 1 << 20) throw Error("a window of " + std::to_string(count) + " points is too large", where);
  std::vector<int> at(extents.size());
  for (std::size_t d = 0; d < at.size(); ++d) at[d] = -(extents[d] / 2);
  for (std::int64_t i = 0; i < count; ++i) {
    domain->points.push_back(at);
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (++at[d] < extents[d] - extents[d] / 2) break;
      at[d] = -(extents[d] / 2);
    }
  }
  return domain;
}

std::shared_ptr<const ir::Mask> make_mask(int width, int height,
                                          const std::vector<Mask::Coefficient>& coefficients,
                                          const Where& where) {
  if (width < 1 || height < 1 || coefficients.size() != static_cast<std::size_t>(width) * height) {
    throw Error("a mask of " + std::to_string(width) + "x" + std::to_string(height) +
                    " needs as many coefficients, not " + std::to_string(coefficients.size()),
                where);
  }
  auto mask = std::make_shared<ir::Mask>();
  mask->extents = {width, height};
  mask->type.scalar = Scalar::I32;
  for (const auto& c : coefficients) {
    mask->type.scalar = ir::common_type(mask->type, Type{c.scalar, 1}).scalar;
  }
  for (const auto& c : coefficients) mask->coefficients.push_back(ir::Value::real(mask->type, c.value));
  return mask;
}

}  // namespace

Tap::Tap(std::shared_ptr<const ir::Loop> loop, int rank)
    : x(tap_index(loop, rank, 0)),
      y(tap_index(loop, rank, 1)),
      z(tap_index(loop, rank, 2)),
      loop_(std::move(loop)),
      rank_(rank) {}

// ---- masks and domains -----------------------------------------------------------------------------------

Mask::Mask(std::initializer_list<std::initializer_list<Coefficient>> rows, std::source_location here) {
  std::vector<Coefficient> coefficients;
  for (const auto& row : rows) {
    if (row.size() != rows.begin()->size()) throw Error("the rows of a mask have different lengths", here);
    coefficients.insert(coefficients.end(), row.begin(), row.end());
  }
  const int width = rows.size() == 0 ? 0 : static_cast<int>(rows.begin()->size());
  node_ = make_mask(width, static_cast<int>(rows.size()), coefficients, here);
}

Mask::Mask(int width, int height, const std::vector<Coefficient>& coefficients, std::source_location here)
    : node_(make_mask(width, height, coefficients, here)) {}

Mask Mask::from(int width, int height, const std::function<Coefficient(int, int)>& f) {
  std::vector<Coefficient> coefficients;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) coefficients.push_back(f(x - width / 2, y - height / 2));
  }
  return {width, height, coefficients};
}

Mask Mask::outer(const std::vector<Coefficient>& column, const std::vector<Coefficient>& row) {
  std::vector<Coefficient> coefficients;
  for (const Coefficient& c : column) {
    for (const Coefficient& r : row) {
      Coefficient product(c.value * r.value);
      product.scalar = ir::common_type(Type{c.scalar, 1}, Type{r.scalar, 1}).scalar;
      coefficients.push_back(product);
    }
  }
  return {static_cast<int>(row.size()), static_cast<int>(column.size()), coefficients};
}

Mask Mask::map(const std::function<double(double)>& f, Scalar with) const {
  auto mask = std::make_shared<ir::Mask>(*node_);
  mask->type = ir::common_type(node_->type, Type{with, 1});
  for (ir::Value& c : mask->coefficients) c = ir::Value::real(mask->type, f(c.as_double()));
  return Mask(std::move(mask));
}
Mask Mask::operator*(Coefficient factor) const {
  return map([&](double c) { return c * factor.value; }, factor.scalar);
}
Mask Mask::operator/(Coefficient divisor) const {
  if (divisor.value == 0) throw Error("a mask is divided by 0");
  return map([&](double c) { return c / divisor.value; }, divisor.scalar);
}
Mask Mask::transposed() const {
  auto mask = std::make_shared<ir::Mask>(*node_);
  std::swap(mask->extents[0], mask->extents[1]);
  for (int y = 0; y < height(); ++y) {
    for (int x = 0; x < width(); ++x)
      mask->coefficients[x * height() + y] = node_->coefficients[y * width() + x];
  }
  return Mask(std::move(mask));
}

int Mask::width() const { return node_->extents[0]; }
int Mask::height() const { return node_->extents[1]; }

Expr Mask::operator()(const Tap& tap) const {
  for (const auto& point : tap.loop()->domain.points) {
    for (int d = 0; d < 2; ++d) {
      const int at = (d < tap.rank() ? point[d] : 0) + node_->extents[d] / 2;
      if (at < 0 || at >= node_->extents[d]) {
        throw Error("a mask of " + std::to_string(width()) + "x" + std::to_string(height()) +
                    " is read at a point of a larger window");
      }
    }
  }
  return Expr(ir::coefficient(tap.loop(), node_));
}

Domain::Domain(int width, int height, std::source_location here) : node_(dense({width, height}, here)) {}
Domain::Domain(int width, int height, int depth, std::source_location here)
    : node_(dense({width, height, depth}, here)) {}

Domain::Domain(std::initializer_list<std::vector<int>> points, std::source_location here) {
  auto domain = std::make_shared<ir::Domain>();
  domain->points.assign(points.begin(), points.end());
  if (domain->points.empty()) throw Error("a domain has no points", here);
  domain->rank = static_cast<int>(domain->points[0].size());
  for (const auto& p : domain->points) {
    if (static_cast<int>(p.size()) != domain->rank)
      throw Error("the points of a domain differ in rank", here);
  }
  node_ = std::move(domain);
}

Domain::Domain(const Mask& mask, std::source_location here) {
  const auto all = dense(mask.node()->extents, {});
  auto domain = std::make_shared<ir::Domain>();
  for (std::size_t i = 0; i < all->points.size(); ++i) {
    if (mask.node()->coefficients[i].as_double() != 0) domain->points.push_back(all->points[i]);
  }
  if (domain->points.empty()) throw Error("all coefficients of a mask are 0", here);
  node_ = std::move(domain);
}

Domain Domain::disc(int radius) {
  const auto all = dense({2 * radius + 1, 2 * radius + 1}, {});
  auto domain = std::make_shared<ir::Domain>();
  std::copy_if(all->points.begin(), all->points.end(), std::back_inserter(domain->points),
               [&](const auto& p) { return p[0] * p[0] + p[1] * p[1] <= radius * radius; });
  return Domain(std::move(domain));
}

// ---- bodies with accumulators ----------------------------------------------------------------------------

// An accumulator holds the expression of its current value. for_each lets every accumulator in scope stand
// for its value at the start of a tap, runs the body once, and finds in them the expressions of the values at
// its end.
struct Accumulator::State {
  ir::Expr value;

  static std::vector<State*>& in_scope() {
    thread_local std::vector<State*> states;
    return states;
  }
};

Accumulator::Accumulator(Type type, const Expr& initial) : state_(std::make_unique<State>()) {
  type.lanes = std::max(type.lanes, initial.type().lanes);
  state_->value = dsl::converted(type, initial.node());
  State::in_scope().push_back(state_.get());
}
Accumulator::Accumulator(const Accumulator& other) : state_(std::make_unique<State>(*other.state_)) {
  State::in_scope().push_back(state_.get());
}
Accumulator::~Accumulator() { std::erase(State::in_scope(), state_.get()); }
Accumulator::operator Expr() const { return Expr(state_->value); }

void Accumulator::assign(const Expr& value) {
  const Type type = state_->value->type;
  const ir::Expr converted = dsl::converted(type, value.node());
  if (converted->type != type) {
    throw Error("a value of type " + name_of(value.type()) + " is assigned to an accumulator of type " +
                name_of(type))
        .help("declare it Accum<Vec<T, " + std::to_string(value.type().lanes) + ">>");
  }
  state_->value = converted;
}

void for_each(const Domain& domain, const std::function<void(Tap)>& body) {
  const auto loop = std::make_shared<const ir::Loop>(ir::Loop{domain.node()});
  const std::vector<Accumulator::State*> states = Accumulator::State::in_scope();
  std::vector<ir::Expr> initial, at_start;
  for (std::size_t i = 0; i < states.size(); ++i) {
    initial.push_back(states[i]->value);
    at_start.push_back(ir::accumulated(loop, static_cast<int>(i), initial[i]->type));
    states[i]->value = at_start[i];
  }
  body(Tap(loop, domain.node().rank));

  std::vector<int> place(states.size(), -1);  // among the accumulators that the body assigns
  auto fold = std::make_shared<ir::Fold>();
  fold->loop = loop;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i]->value == at_start[i]) continue;
    place[i] = static_cast<int>(fold->initial.size());
    fold->initial.push_back(initial[i]);
  }
  ir::Rewriter renumber([&](const ir::Expr& e) -> ir::Expr {
    const auto* read = std::get_if<ir::Accumulated>(&e->op);
    if (!read || read->loop != loop) return nullptr;
    const int at = place[read->accumulator];
    return at < 0 ? initial[read->accumulator] : ir::accumulated(loop, at, e->type);
  });
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (place[i] >= 0) fold->next.push_back(renumber(states[i]->value));
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i]->value = place[i] < 0 ? initial[i] : ir::fold_result(fold, place[i]);
  }
}

namespace {

using TapValue = std::function<Expr(Tap)>;

/// Accumulates value(tap) with `op` from `initial`; the accumulator has the type of op(value, value).
Expr accumulate(const Domain& domain, const TapValue& value, ir::BinaryOp op,
                const std::function<ir::Value(Type)>& initial) {
  const auto loop = std::make_shared<const ir::Loop>(ir::Loop{domain.node()});
  const ir::Expr one = value(Tap(loop, domain.node().rank)).node();
  const Type type = ir::binary(op, one, one)->type;
  auto fold = std::make_shared<ir::Fold>();
  fold->loop = loop;
  fold->initial = {ir::constant(initial(type))};
  fold->next = {ir::binary(op, ir::accumulated(loop, 0, type), one)};
  return Expr(ir::fold_result(fold, 0));
}

}  // namespace

Expr sum(const Domain& domain, const TapValue& value) {
  return accumulate(domain, value, ir::BinaryOp::Add, [](Type t) { return ir::Value::integer(t, 0); });
}
Expr product(const Domain& domain, const TapValue& value) {
  return accumulate(domain, value, ir::BinaryOp::Mul, [](Type t) { return ir::Value::integer(t, 1); });
}
Expr minimum(const Domain& domain, const TapValue& value) {
  return accumulate(domain, value, ir::BinaryOp::Min, ir::largest);
}
Expr maximum(const Domain& domain, const TapValue& value) {
  return accumulate(domain, value, ir::BinaryOp::Max, ir::least);
}
Expr median(const Domain& domain, const TapValue& value) {
  const auto loop = std::make_shared<const ir::Loop>(ir::Loop{domain.node()});
  return Expr(ir::median(loop, value(Tap(loop, domain.node().rank)).node()));
}

}  // namespace weft
