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
      if (left > 0 && left <= in_vector()) rows.push_back({row.array, offset(row.base, here), left, {}, {}});
    }
    if (rows.size() > most_rows) rows.clear();
    return rows;
  }

  /// All that are read beside the variable, with what is beyond the ends; none if there is too much.
  std::vector<Neighbours> whole_rows(const RowEnds& ends) const {
    std::vector<Neighbours> rows;
    for (const Row& row : rows_) {
      const int first = *row.places.begin(), last = *row.places.rbegin();
      if (first > 0 || last < 0 || -first > in_vector() || last > in_vector()) return {};
      if (first == last) continue;
      Neighbours& whole = rows.emplace_back(Neighbours{row.array, row.base, -first, {}, {}});
      for (int place = first; place < 0; ++place)
        whole.left_of_row.push_back(beyond(row, ends, literal(0), place));
      for (int place = 0; place < last; ++place)
        whole.right_of_row.push_back(beyond(row, ends, ends.pixels, place));
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

  int in_vector() const { return vector_bytes / size_of(*type_); }

  /// What the row has `place` scalars from the one with which the pixel `from` begins: where that is beyond its ends.
  Expr beyond(const Row& row, const RowEnds& ends, const Expr& from, int place) const {
    if (!ends.border) return ends.constant;
    const int pixels = place < 0 ? -((ends.lanes - 1 - place) / ends.lanes) : place / ends.lanes;
    const Expr inside = *ends.border != IndexOp::Clamp
                            ? index_call(*ends.border, add(from, literal(pixels)), ends.pixels)
                        : place < 0 ? literal(0)
                                    : sub(ends.pixels, literal(1));
    const Expr scalar = add(mul(inside, literal(ends.lanes)), literal(place - pixels * ends.lanes));
    return load(row.array, *type_, index_at(loop_, row.base, scalar));
  }

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

/// Moves the loops over the pixels left of the loop and right of it into its ends. Returns whether they stand around it, with
/// nothing between but what is found once per row.
bool take_ends(Block& block, std::size_t at) {
  RowEnds& ends = *std::get<For>(block[at].op).ends;
  const For& loop = std::get<For>(block[at].op);
  const auto is_over = [&](const Stmt& statement, const Expr& from, const Expr& to) {
    const auto* pixels = std::get_if<For>(&statement.op);
    const auto scalars = [&](const Expr& pixel) { return mul(pixel, literal(ends.lanes)); };
    return pixels && same(scalars(pixels->from), from) && same(scalars(pixels->to), to);
  };
  const auto is_of_row = [](const Stmt& statement) {
    return std::holds_alternative<Let>(statement.op) || std::holds_alternative<Pointer>(statement.op);
  };
  std::size_t before = at;
  while (before-- > 0 && is_of_row(block[before])) {
  }
  const Expr scalars = mul(ends.pixels, literal(ends.lanes));
  const bool are_there = before < at && is_over(block[before], literal(0), loop.from) &&
                         at + 1 < block.size() && is_over(block[at + 1], loop.to, scalars);
  if (!are_there) return false;
  ends.before.push_back(std::move(block[before]));
  ends.after.push_back(std::move(block[at + 1]));
  block.erase(block.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  block.erase(block.begin() + static_cast<std::ptrdiff_t>(before));
  return true;
}

void name_vectors(For& loop, Names names) {
  for (Neighbours& row : loop.neighbours) {
    const std::string array = row.array.spelling();
    const auto named = named_scalar(loop, row);
    row.here = named ? *named : names.claim(array + "_here");
    if (row.left > 0) row.before = names.claim(array + "_before");
    if (!row.right_of_row.empty()) row.beyond = names.claim(array + "_beyond");
  }
}

void find_in(Block& block, Names& names, const Pointed& pointed) {
  const bool ends_row = !is_of_portion(block);
  for (std::size_t at = 0; at < block.size(); ++at) {
    each_block(block[at], [&](Block& within) { find_in(within, names, pointed); });
    auto* loop = std::get_if<For>(&block[at].op);
    if (!loop || loop->kind != LoopKind::Vector || loop->step) continue;
    const Looked looked(*loop);
    std::vector<Neighbours> rows = looked.rows();
    loop->may_repeat = ends_row && !rows.empty() && !reads_what_it_stores(*loop, pointed);
    if (loop->ends) {
      std::vector<Neighbours> whole = looked.whole_rows(*loop->ends);
      if (!whole.empty() && loop->may_repeat && take_ends(block, at)) {
        rows = std::move(whole);
        loop = &std::get<For>(block[--at].op);
      } else {
        loop->ends.reset();
      }
    }
    loop->neighbours = std::move(rows);
    name_vectors(*loop, names);
  }
}

}  // namespace

void find_neighbours(Function& function, Names names) {
  avoid_declared_in(function, names);
  find_in(function.body, names, pointed_in(function));
}

Expr index_at(const For& loop, const Expr& index, const Expr& place) {
  return rewritten(index, [&](const Expr& e) -> Expr {
    const auto* name = std::get_if<Name>(&e->op);
    return name && name->name == loop.variable ? place : nullptr;
  });
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
