#include "analysis/shared_values.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analysis/interior.h"
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
  bool is_shared = true;  ///< A function of a column, a plane, and what the row has in common.
  std::optional<ir::Affine> column = {};
  ir::Expr plane = nullptr;
  std::optional<ir::Range> planes = {};
  int reads = 0;
};
const Shape not_shared{false};

bool is_in_row(const ir::Affine& index) { return !ir::mentions_coord(index, 0) && !ir::mentions_tap(index); }

/// A read at a coarse column and a computed plane.
Shape shape_of_coarse(const ir::Read& n) {
  if (!n.border || n.border->mode != ir::BorderMode::Clamp || n.indices.size() < 2) return not_shared;
  const auto* column = std::get_if<ir::Affine>(&n.indices[0]);
  ir::Scaled scaled;
  if (!column || mentions_others(*column, 0) || !ir::as_scaled(*column, 0, &scaled) || scaled.scale <= 0 ||
      scaled.divisor <= scaled.scale)
    return not_shared;
  Shape shape{true, *column, nullptr, {}, 1};
  for (std::size_t d = 1; d < n.indices.size(); ++d) {
    if (const auto* affine = std::get_if<ir::Affine>(&n.indices[d])) {
      if (!is_in_row(*affine)) return not_shared;
      continue;
    }
    const ir::Range& range = n.region[d];
    if (shape.plane || !range.min.is_constant() || !range.extent.is_constant() ||
        range.extent.constant() < 1 || range.extent.constant() > most_planes)
      return not_shared;
    shape.plane = std::get<ir::Expr>(n.indices[d]), shape.planes = range;
  }
  return shape.plane ? shape : not_shared;
}

/// A read at a column that no floor is in; computed indices are known to lie inside.
Shape shape_of_fine(const ir::Read& n) {
  Shape shape{true, {}, nullptr, {}, 1};
  for (std::size_t d = 0; d < n.indices.size(); ++d) {
    const auto* affine = std::get_if<ir::Affine>(&n.indices[d]);
    if (!affine && !n.border) return not_shared;
    if (!affine || is_in_row(*affine)) continue;
    ir::Scaled scaled;
    if (d > 0 || mentions_others(*affine, 0) || !ir::as_scaled(*affine, 0, &scaled) || scaled.scale <= 0 ||
        scaled.divisor != 1)
      return not_shared;
    shape.column = *affine;
  }
  return shape;
}

Operations operations_of(const ir::Expr& value) {
  return operations({"", value->type, {}, ir::Pure{{{nullptr, value}}}, {}});
}

/// About how many additions a value takes.
std::int64_t cost_of(const ir::Expr& value) {
  constexpr std::int64_t of_function = 8, of_gather = 8;
  const Operations work = operations_of(value);
  std::int64_t cost = work.alu + of_function * work.sfu;
  ir::visit({value}, [&](const ir::Expr& part) {
    const auto* read = std::get_if<ir::Read>(&part->op);
    if (read && access_of(*read) != Access::Direct) cost += of_gather;
  });
  return cost;
}

/// Of a value without planes: the columns that a pixel uses.
std::int64_t columns_used(const SharedValue& v) {
  std::set<std::int64_t> columns;  // from the first use's
  for (const SharedUse& use : v.uses) columns.insert(*constant_difference(use.column, v.uses[0].column));
  return std::ssize(columns);
}

class Finder {
 public:
  explicit Finder(int rank) : rank_(rank) {}

  std::vector<SharedValue> find(const std::vector<ir::Expr>& roots) {
    for (const ir::Expr& root : roots) collect(root);
    std::erase_if(found_, [](const SharedValue& v) { return !pays(v); });
    // The largest, with what is in them: smaller ones count where they are not in these.
    std::unordered_set<const ir::Node*> uses, reached;
    for (const SharedValue& v : found_) {
      for (const SharedUse& use : v.uses) uses.insert(use.node);
    }
    const auto reach = [&](const auto& self, const ir::Expr& e) -> void {
      if (!reached.insert(e.get()).second || uses.contains(e.get())) return;
      for (const ir::Expr& operand : operands_in_row(e)) self(self, operand);
    };
    for (const ir::Expr& root : roots) reach(reach, root);
    for (SharedValue& v : found_)
      std::erase_if(v.uses, [&](const SharedUse& use) { return !reached.contains(use.node); });
    std::erase_if(found_, [](const SharedValue& v) { return !pays(v); });
    return std::move(found_);
  }

 private:
  /// What is computed for each tap is no value of the row's.
  static std::vector<ir::Expr> operands_in_row(const ir::Expr& e) {
    const bool has_taps =
        std::holds_alternative<ir::FoldResult>(e->op) || std::holds_alternative<ir::Median>(e->op);
    return has_taps ? std::vector<ir::Expr>{} : ir::operands(*e);
  }

  void collect(const ir::Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    const Shape& shape = shape_of(e);
    const bool is_work = shape.plane ? shape.reads >= least_reads : !is_loaded(e);
    if (shape.is_shared && shape.column && is_work) add(e, shape);
    for (const ir::Expr& operand : operands_in_row(e)) collect(operand);
  }
  static bool is_loaded(const ir::Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e->op);
    return read && access_of(*read) == Access::Direct;
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
                            return ir::mentions_coord(n.value, 0) || ir::mentions_tap(n.value) ? not_shared
                                                                                               : Shape{};
                          },
                          [&](const ir::Read& n) {
                            const Shape coarse = shape_of_coarse(n);
                            return coarse.is_shared ? coarse : merged(ir::operands(*e), shape_of_fine(n));
                          },
                          // What is computed for each tap or element is no value of the row's.
                          [](const ir::Coefficient&) { return not_shared; },
                          [](const ir::Accumulated&) { return not_shared; },
                          [](const ir::FoldResult&) { return not_shared; },
                          [](const ir::Median&) { return not_shared; },
                          [](const ir::Operand&) { return not_shared; },
                          [](const ir::StepNumber&) { return not_shared; },
                      },
                      e->op);
  }
  /// Of what has `all` of its own, besides.
  Shape merged(const std::vector<ir::Expr>& operands, Shape all = {}) {
    if (!all.is_shared) return not_shared;
    for (const ir::Expr& operand : operands) {
      const Shape& one = shape_of(operand);
      if (!one.is_shared) return not_shared;
      if (!one.column) continue;
      if (all.column && (!(*all.column == *one.column) || !(all.planes == one.planes) ||
                         !(all.plane == one.plane || surely_same(all.plane, one.plane))))
        return not_shared;
      all.column = one.column, all.plane = one.plane, all.planes = one.planes;
    }
    ir::visit(operands,
              [&](const ir::Expr& inner) { all.reads += std::holds_alternative<ir::Read>(inner->op); });
    return all;
  }

  void add(const ir::Expr& e, const Shape& shape) {
    const ir::Expr value = of_column_and_plane(e);
    const SharedUse use{e.get(), *shape.column, shape.plane};
    for (SharedValue& known : found_) {
      if (known.planes != shape.planes || !constant_difference(known.uses[0].column, use.column) ||
          !surely_same(known.value, value))
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
      const bool has_plane = shape_of_coarse(*read).is_shared;
      ir::Read at = *read;
      for (ir::Index& index : at.indices) {
        const auto* affine = std::get_if<ir::Affine>(&index);
        if (affine && !is_in_row(*affine))
          index = ir::Affine(ir::Atom(ir::Coord{0}));
        else if (!affine && has_plane)
          index = ir::Affine(ir::Atom(ir::Coord{rank_}));
        else if (!affine)
          index = of_column_and_plane(std::get<ir::Expr>(index));
      }
      return std::make_shared<const ir::Node>(ir::Node{inner->type, std::move(at)});
    });
    return rewrite(e);
  }

  /// Of planes, the table has no more values than pixels use. Else each value that a row computes less has to be worth
  /// what is stored and loaded.
  static bool pays(const SharedValue& v) {
    if (v.uses.empty()) return false;
    const ir::Scaled along = v.along();
    if (v.planes) return v.plane_count() * along.scale <= std::ssize(v.uses) * along.divisor;
    constexpr std::int64_t of_access = 4;
    const std::int64_t used = columns_used(v);
    return used > along.scale && cost_of(v.value) * (used - along.scale) >= of_access * (used + along.scale);
  }

  const int rank_;
  std::vector<SharedValue> found_;
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

ir::Scaled SharedValue::along() const {
  ir::Scaled scaled;
  ir::as_scaled(uses[0].column, 0, &scaled);
  return scaled;
}

Operations shared_operations(const ir::Stage& stage) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  Operations shared;
  if (!pure || pure->cases.size() > 1 || stage.box.size() < 2) return shared;
  for (const SharedValue& v : shared_values(ir::expressions(stage), static_cast<int>(stage.box.size()))) {
    if (!v.planes) shared += operations_of(v.value) * (columns_used(v) - v.along().scale);
  }
  return shared;
}

TableColumns table_columns(const SharedValue& value, int pixels) {
  std::int64_t low = 0, high = 0;  // from the first use's
  const ir::Affine& column = value.uses[0].column;
  for (const SharedUse& use : value.uses) {
    const std::int64_t distance = *constant_difference(use.column, column);
    low = std::min(low, distance), high = std::max(high, distance);
  }
  const ir::Scaled along = value.along();
  const std::int64_t steps = (pixels - 1) * along.scale / along.divisor + 1;
  return {column + low, column + high, static_cast<int>(steps + high - low + 1)};
}

std::vector<SharedValue> shared_values(const std::vector<ir::Expr>& roots, int rank) {
  std::vector<SharedValue> values = Finder(rank).find(roots);
  std::int64_t room = 32768;
  std::erase_if(values, [&](const SharedValue& v) {
    const std::int64_t bytes =
        v.plane_count() * table_columns(v, strip_pixels).capacity * std::int64_t{size_of(v.value->type)};
    if (bytes > room) return true;
    room -= bytes;
    return false;
  });
  return values;
}

}  // namespace weft::analysis
