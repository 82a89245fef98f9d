#include "kernel/neighbours.h"

#include <algorithm>
#include <optional>
#include <set>

#include "kernel/build.h"
#include "kernel/pointers.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

using ir::BinaryOp;

constexpr int vector_bytes = 64;      ///< A register of AVX-512: 16 floats, 8 doubles.
constexpr std::size_t most_rows = 8;  ///< Each keeps a register of 32 from one vector to the next.

/// A loop that is looked at: what its body declares, reads and computes.
class Looked {
 public:
  explicit Looked(const For& loop) : loop_(loop) {
    varies_.insert(loop.variable);
    for (const Stmt& statement : loop.body) is_simple_ = is_simple_ && look_at(statement);
  }

  /// Those that are read at several places, not too far apart; without names yet.
  std::vector<Neighbours> rows() const {
    std::vector<Neighbours> rows;
    if (!is_simple_) return rows;
    for (const Row& row : rows_) {
      const int first = *row.places.begin(), last = *row.places.rbegin();
      const int here = first <= 0 && last >= 0 ? 0 : (first + last) / 2, left = here - first;
      if (left > 0 && left <= vector_bytes / size_of(*type_))
        rows.push_back({row.array, offset(row.base, here), left, {}, {}});
    }
    if (rows.size() > most_rows) rows.clear();
    return rows;
  }

 private:
  struct Row {
    Symbol array;
    Expr base;
    std::set<int> places;  ///< Of what is read, from there.
  };

  bool look_at(const Stmt& statement) {
    if (const auto* let = std::get_if<Let>(&statement.op)) {
      if (let->is_mutable || !is_arithmetic(let->value)) return false;
      if (varies(let->value)) varies_.insert(let->name);
      return true;
    }
    const auto* store = std::get_if<Store>(&statement.op);
    return store && is_arithmetic(store->value) && varies(store->value) && goes_along(store->index);
  }

  /// Of floats of one type, each from a place that goes along with the variable.
  bool is_arithmetic(const Expr& e) {
    if (e->type != Scalar::F32 && e->type != Scalar::F64) return false;
    if (e->type != type_.value_or(e->type)) return false;
    type_ = e->type;
    if (const auto* load = std::get_if<Load>(&e->op)) return goes_along(load->index) && note(*load);
    if (const auto* n = std::get_if<Unary>(&e->op)) {
      const bool is_root = n->op == ir::UnaryOp::Sqrt && varies(n->a);
      return (is_root || n->op == ir::UnaryOp::Neg) && is_arithmetic(n->a);
    }
    if (const auto* n = std::get_if<Binary>(&e->op)) {
      const bool is_one = n->op == BinaryOp::Add || n->op == BinaryOp::Sub || n->op == BinaryOp::Mul ||
                          n->op == BinaryOp::Div;
      return is_one && is_arithmetic(n->a) && is_arithmetic(n->b);
    }
    return std::holds_alternative<Const>(e->op) || std::holds_alternative<Name>(e->op);
  }
  bool note(const Load& load) {
    const auto [base, place] = split_constant(load.index);
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&, base = base](const Row& row) {
      return row.array == load.array && same(row.base, base);
    });
    Row& row = found == rows_.end() ? rows_.emplace_back(Row{load.array, base, {}}) : *found;
    row.places.insert(static_cast<int>(place));
    return true;
  }

  bool varies(const Expr& e) const {
    return any_of(e, [&](const Node& node) {
      const auto* name = std::get_if<Name>(&node.op);
      return std::holds_alternative<Load>(node.op) || (name && varies_.count(name->name) > 0);
    });
  }
  /// The variable, and added to it what does not vary.
  bool goes_along(const Expr& index) const {
    if (const auto* name = std::get_if<Name>(&index->op)) return name->name == loop_.variable;
    const auto* n = std::get_if<Binary>(&index->op);
    if (!n || (n->op != BinaryOp::Add && n->op != BinaryOp::Sub)) return false;
    if (goes_along(n->a)) return !varies(n->b);
    return n->op == BinaryOp::Add && !varies(n->a) && goes_along(n->b);
  }

  const For& loop_;
  bool is_simple_ = true;
  std::optional<Scalar> type_;
  std::set<Symbol> varies_;
  std::vector<Row> rows_;
};

/// The variable of the loop that is the scalar of the row at the loop's variable, if there is one.
std::optional<Symbol> named_scalar(const For& loop, const Neighbours& row) {
  for (const Stmt& statement : loop.body) {
    const auto* let = std::get_if<Let>(&statement.op);
    const auto* load = let ? std::get_if<Load>(&let->value->op) : nullptr;
    if (load && load->array == row.array && same(load->index, row.index)) return let->name;
  }
  return {};
}

bool reads_what_it_stores(const For& loop, const Pointed& pointed) {
  std::set<Symbol> stored;
  for (const Symbol& name : arrays_written_in(loop.body)) stored.merge(arrays_behind(name, pointed));
  bool reads = false;
  visit_expressions(loop.body, [&](const Expr& e) {
    const auto* load = std::get_if<Load>(&e->op);
    if (!load) return;
    for (const Symbol& array : arrays_behind(load->array, pointed)) reads |= stored.count(array) > 0;
  });
  return reads;
}

/// Portions of a row, between which the next row is asked for, are whole vectors, all but the last.
bool is_of_portion(const Block& block) {
  return std::any_of(block.begin(), block.end(),
                     [](const Stmt& statement) { return std::holds_alternative<Prefetch>(statement.op); });
}

void find_in(Block& block, Names& names, const Pointed& pointed) {
  const bool ends_row = !is_of_portion(block);
  for (Stmt& statement : block) {
    each_block(statement, [&](Block& within) { find_in(within, names, pointed); });
    auto* loop = std::get_if<For>(&statement.op);
    if (!loop || loop->kind != LoopKind::Vector || loop->step) continue;
    loop->neighbours = Looked(*loop).rows();
    loop->may_repeat = ends_row && !loop->neighbours.empty() && !reads_what_it_stores(*loop, pointed);
    Names of_loop = names;
    for (Neighbours& row : loop->neighbours) {
      const auto named = named_scalar(*loop, row);
      row.here = named ? *named : of_loop.claim(row.array.spelling() + "_here");
      row.before = of_loop.claim(row.array.spelling() + "_before");
    }
  }
}

}  // namespace

void find_neighbours(Function& function, Names names) {
  avoid_declared_in(function, names);
  find_in(function.body, names, pointed_in(function));
}

std::pair<const Neighbours*, int> neighbour_at(const For& loop, const Load& load) {
  const auto [base, place] = split_constant(load.index);
  for (const Neighbours& row : loop.neighbours) {
    const auto [base_of_row, at_variable] = split_constant(row.index);
    if (row.array == load.array && same(base, base_of_row))
      return {&row, static_cast<int>(place - at_variable)};
  }
  return {nullptr, 0};
}

}  // namespace weft::kernel
