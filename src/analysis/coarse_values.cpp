#include "analysis/coarse_values.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/ranges.h"
#include "ir/operation.h"
#include "ir/visit.h"

namespace weft::analysis {
namespace {

// More planes make a table that the first-level cache does not keep.
constexpr std::int64_t most_planes = 32;
constexpr int least_reads = 2;  // a table of what is one read would be a copy

bool mentions_others(const ir::Affine& a, int dim) {
  return a.mentions([dim](const ir::Atom& atom) {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    return !std::holds_alternative<ir::Size>(atom) && !(coord && coord->dim == dim);
  });
}

bool same_indices(const ir::Read& a, const ir::Read& b) {
  for (std::size_t d = 0; d < a.indices.size(); ++d) {
    const auto *of_a = std::get_if<ir::Affine>(&a.indices[d]), *of_b = std::get_if<ir::Affine>(&b.indices[d]);
    if (of_a || of_b) {
      if (!of_a || !of_b || !(*of_a == *of_b)) return false;
    } else if (!surely_same(std::get<ir::Expr>(a.indices[d]), std::get<ir::Expr>(b.indices[d]))) {
      return false;
    }
  }
  return true;
}

/// What is known of an expression in a row of pixels.
struct Shape {
  bool is_coarse = true;  ///< A function of a column, a plane, and what the row has in common.
  std::optional<ir::Affine> column;
  ir::Expr plane;
  ir::Range planes;
  int reads = 0;
};
const Shape not_coarse{false, {}, {}, {}, 0};

/// A read at a coarse column and a computed plane.
Shape shape_of(const ir::Read& n) {
  if (!n.border || n.border->mode != ir::BorderMode::Clamp || n.indices.size() < 2) return not_coarse;
  const auto* column = std::get_if<ir::Affine>(&n.indices[0]);
  ir::Scaled scaled;
  if (!column || mentions_others(*column, 0) || !ir::as_scaled(*column, 0, &scaled) || scaled.scale <= 0 ||
      scaled.divisor <= scaled.scale)
    return not_coarse;
  Shape shape{true, *column, nullptr, {}, 1};
  for (std::size_t d = 1; d < n.indices.size(); ++d) {
    if (const auto* affine = std::get_if<ir::Affine>(&n.indices[d])) {
      if (ir::mentions_coord(*affine, 0) || ir::mentions_tap(*affine)) return not_coarse;
      continue;
    }
    const ir::Range& range = n.region[d];
    if (shape.plane || !range.min.is_constant() || !range.extent.is_constant() ||
        range.extent.constant() < 1 || range.extent.constant() > most_planes)
      return not_coarse;
    shape.plane = std::get<ir::Expr>(n.indices[d]), shape.planes = range;
  }
  return shape.plane ? shape : not_coarse;
}

class Finder {
 public:
  explicit Finder(int rank) : rank_(rank) {}

  void find(const std::vector<ir::Expr>& roots) {
    for (const ir::Expr& root : roots) find(root);
    std::erase_if(found_, [](const CoarseValue& v) { return !pays(v); });
  }
  std::vector<CoarseValue> found() { return std::move(found_); }

 private:
  /// The largest coarse expressions.
  void find(const ir::Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    const Shape& shape = shape_of(e);
    if (shape.is_coarse && shape.reads >= least_reads) return add(e, shape);
    // What is computed for each tap is no value of the row's.
    if (std::holds_alternative<ir::FoldResult>(e->op) || std::holds_alternative<ir::Median>(e->op)) return;
    for (const ir::Expr& operand : ir::operands(*e)) find(operand);
  }

  const Shape& shape_of(const ir::Expr& e) {
    const auto known = shapes_.find(e.get());
    return known != shapes_.end() ? known->second : shapes_[e.get()] = compute(e);
  }
  Shape compute(const ir::Expr& e) {
    return std::visit(ir::overloaded{
                          [&](const ir::Operation auto&) { return merged(ir::operands(*e)); },
                          [](const ir::Const&) { return Shape{}; },
                          [](const ir::ParamRef&) { return Shape{}; },
                          [](const ir::Quantity& n) {
                            return ir::mentions_coord(n.value, 0) || ir::mentions_tap(n.value) ? not_coarse
                                                                                               : Shape{};
                          },
                          [](const ir::Read& n) { return analysis::shape_of(n); },
                          // What is computed for each tap or element is no value of the row's.
                          [](const ir::Coefficient&) { return not_coarse; },
                          [](const ir::Accumulated&) { return not_coarse; },
                          [](const ir::FoldResult&) { return not_coarse; },
                          [](const ir::Median&) { return not_coarse; },
                          [](const ir::Operand&) { return not_coarse; },
                          [](const ir::StepNumber&) { return not_coarse; },
                      },
                      e->op);
  }
  Shape merged(const std::vector<ir::Expr>& operands) {
    Shape all;
    for (const ir::Expr& operand : operands) {
      const Shape& one = shape_of(operand);
      if (!one.is_coarse) return not_coarse;
      if (!one.column) continue;
      if (all.column && (!(*all.column == *one.column) || !(all.planes == one.planes) ||
                         !surely_same(all.plane, one.plane)))
        return not_coarse;
      all.column = one.column, all.plane = one.plane, all.planes = one.planes;
    }
    ir::visit(operands,
              [&](const ir::Expr& inner) { all.reads += std::holds_alternative<ir::Read>(inner->op); });
    return all;
  }

  void add(const ir::Expr& e, const Shape& shape) {
    const ir::Expr value = of_column_and_plane(e);
    const CoarseUse use{e.get(), *shape.column, shape.plane};
    for (CoarseValue& known : found_) {
      if (!constant_difference(known.uses[0].column, use.column) || !surely_same(known.value, value))
        continue;
      known.uses.push_back(use);
      return;
    }
    found_.push_back({value, shape.planes, {use}});
  }

  ir::Expr of_column_and_plane(const ir::Expr& e) const {
    ir::Rewriter rewrite([&](const ir::Expr& inner) -> ir::Expr {
      const auto* read = std::get_if<ir::Read>(&inner->op);
      if (!read) return nullptr;
      ir::Read at = *read;
      for (std::size_t d = 0; d < at.indices.size(); ++d) {
        if (d == 0)
          at.indices[d] = ir::Affine(ir::Atom(ir::Coord{0}));
        else if (std::holds_alternative<ir::Expr>(at.indices[d]))
          at.indices[d] = ir::Affine(ir::Atom(ir::Coord{rank_}));
      }
      return std::make_shared<const ir::Node>(ir::Node{inner->type, std::move(at)});
    });
    return rewrite(e);
  }

  /// The table has so many values for each pixel of a row.
  static bool pays(const CoarseValue& v) {
    ir::Scaled scaled;
    ir::as_scaled(v.uses[0].column, 0, &scaled);
    return v.plane_count() * scaled.scale <= static_cast<std::int64_t>(v.uses.size()) * scaled.divisor;
  }

  const int rank_;
  std::vector<CoarseValue> found_;
  std::unordered_set<const ir::Node*> seen_;
  std::unordered_map<const ir::Node*, Shape> shapes_;
};

}  // namespace

bool surely_same(const ir::Expr& a, const ir::Expr& b) {
  if (a == b) return true;
  if (!a || !b || a->type != b->type || a->op.index() != b->op.index()) return false;
  const bool alike =
      std::visit(ir::overloaded{
                     [&](const ir::Const& n) { return n.value == std::get<ir::Const>(b->op).value; },
                     [&](const ir::Quantity& n) { return n.value == std::get<ir::Quantity>(b->op).value; },
                     [&](const ir::ParamRef& n) { return n.param == std::get<ir::ParamRef>(b->op).param; },
                     [&](const ir::Unary& n) { return n.op == std::get<ir::Unary>(b->op).op; },
                     [&](const ir::Binary& n) { return n.op == std::get<ir::Binary>(b->op).op; },
                     [&](const ir::Cast& n) { return n.mode == std::get<ir::Cast>(b->op).mode; },
                     [&](const ir::Lane& n) { return n.lane == std::get<ir::Lane>(b->op).lane; },
                     [](const ir::Select&) { return true; },
                     [](const ir::Pack&) { return true; },
                     [&](const ir::Read& n) {
                       const auto& other = std::get<ir::Read>(b->op);
                       return ir::read_alike(n, other) && same_indices(n, other);
                     },
                     // They belong to a loop or an operator, which may be another.
                     [](const ir::Coefficient&) { return false; },
                     [](const ir::Accumulated&) { return false; },
                     [](const ir::FoldResult&) { return false; },
                     [](const ir::Median&) { return false; },
                     [](const ir::Operand&) { return false; },
                     [](const ir::StepNumber&) { return false; },
                 },
                 a->op);
  if (!alike) return false;
  if (std::holds_alternative<ir::Read>(a->op)) return true;
  const std::vector<ir::Expr> of_a = ir::operands(*a), of_b = ir::operands(*b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), surely_same);
}

std::vector<CoarseValue> coarse_values(const std::vector<ir::Expr>& roots, int rank) {
  Finder finder(rank);
  finder.find(roots);
  return finder.found();
}

}  // namespace weft::analysis
