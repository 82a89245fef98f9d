#include "kernel/neighbours.h"

#include <algorithm>
#include <optional>
#include <set>

#include "kernel/build.h"
#include "kernel/drop_unused.h"
#include "kernel/pointers.h"
#include "kernel/row_columns.h"
#include "kernel/vector_body.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

constexpr std::size_t most_rows = 8;  ///< Each keeps a register of 32 from one vector to the next.

/// Rows that are read at several places, not too far apart; without names yet.
std::vector<Neighbours> neighbours_in(const VectorBody& body) {
  std::vector<Neighbours> rows;
  if (!body.is_arithmetic() || !body.is_of_floats()) return rows;
  for (const VectorBody::Row& row : body.rows()) {
    const int first = row.first(), last = row.last();
    const int here = first <= 0 && last >= 0 ? 0 : (first + last) / 2, left = here - first;
    if (left > 0 && left <= body.scalars()) rows.push_back({row.array, offset(row.base, here), left, {}, {}});
  }
  if (rows.size() > most_rows) rows.clear();
  return rows;
}

/// A loop over a whole row: `loop` has its pixels but for those near the ends. Nothing if pixels read farther than a vector, or more
/// rows than there are registers for.
std::optional<For> whole_row(const For& loop, const VectorBody& body) {
  const RowEnds& ends = *loop.ends;
  For whole{LoopKind::Vector, loop.variable, literal(0), mul(ends.pixels, literal(ends.lanes)), loop.body};
  whole.vectors = InVectors{.scalars = body.scalars(), .is_whole_row = true, .bytes = ends.bytes};
  for (const VectorBody::Row& row : body.rows()) {
    const int first = row.first(), last = row.last();
    if (first > 0 || last < 0 || -first > body.scalars() || last > body.scalars()) return {};
    if (first == last) continue;
    Neighbours neighbours{row.array, row.base, -first, {}, {}};
    const Load here{row.array, row.base};
    for (int place = first; place < 0; ++place)
      neighbours.left_of_row.push_back(beyond(ends, loop, here, row.type, literal(0), place));
    for (int place = 0; place < last; ++place)
      neighbours.right_of_row.push_back(beyond(ends, loop, here, row.type, ends.pixels, place));
    whole.vectors->neighbours.push_back(std::move(neighbours));
  }
  return whole.vectors->neighbours.size() <= most_rows ? std::optional(std::move(whole)) : std::nullopt;
}

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

/// The loops that compute a row: over the pixels left of the one at `between`, that, and those right of it.
struct Row {
  std::size_t left, between, right;
};
/// Those around a loop, with nothing between but what is found once per row.
std::optional<Row> row_around(const Block& block, std::size_t at) {
  const For& loop = std::get<For>(block[at].op);
  const RowEnds& ends = *loop.ends;
  const auto is_over = [&](const Stmt& statement, const Expr& from, const Expr& to) {
    const auto* pixels = std::get_if<For>(&statement.op);
    const auto scalars = [&](const Expr& pixel) { return mul(pixel, literal(ends.lanes)); };
    return pixels && same(scalars(pixels->from), from) && same(scalars(pixels->to), to);
  };
  const auto is_of_row = [](const Stmt& statement) {
    return std::holds_alternative<Let>(statement.op) || std::holds_alternative<Pointer>(statement.op);
  };
  std::size_t left = at;
  while (left-- > 0 && is_of_row(block[left])) {
  }
  const Expr scalars = mul(ends.pixels, literal(ends.lanes));
  const bool are_there = left < at && is_over(block[left], literal(0), loop.from) && at + 1 < block.size() &&
                         is_over(block[at + 1], loop.to, scalars);
  return are_there ? std::optional(Row{left, at, at + 1}) : std::nullopt;
}

void name_vectors(For& loop, Names names) {
  const auto claim = [&](const Symbol& array, const char* suffix) {
    return names.claim(array.spelling() + suffix);
  };
  for (Neighbours& row : loop.vectors->neighbours) {
    const auto named = named_scalar(loop, row);
    row.here = named ? *named : claim(row.array, "_here");
    if (row.left > 0) row.before = claim(row.array, "_before");
    if (!row.right_of_row.empty()) row.beyond = claim(row.array, "_beyond");
  }
  for (Columns& row : loop.vectors->columns) {
    row.from = claim(row.array, "_from");
    row.here = claim(row.array, "_here");
    if (!row.left_of_row.empty()) row.before = claim(row.array, "_before");
    row.last = claim(row.array, "_last");
    row.after = claim(row.array, "_after");
    row.beyond = claim(row.array, "_beyond");
  }
}

/// Finds the loops of a function.
class Finder {
 public:
  Finder(const Module& module, const Function& function, const Names& names)
      : module_(module), names_(names), pointed_(pointed_in(function)) {}

  void find_in(Block& block) {
    const bool is_portion = is_of_portion(block);
    for (std::size_t at = 0; at < block.size(); ++at) {
      auto* loop = std::get_if<For>(&block[at].op);
      if (loop && loop->kind == LoopKind::Vector && !loop->step) {
        at = find_neighbours(block, at, is_portion);
      } else if (loop && loop->ends) {
        at = find_columns(block, at);
      } else if (auto* branch = std::get_if<IfVectors>(&block[at].op)) {
        if (is_in_vectors(branch->then)) in_vectors_.insert(branch->name);
        find_in(branch->otherwise);
      } else {
        each_block(block[at], [&](Block& within) { find_in(within); });
      }
    }
  }
  bool found_whole_rows() const { return found_whole_rows_; }

  /// Leaves what is not in vectors after all.
  void settle(Block& block) const {
    for (Stmt& statement : block) {
      each_block(statement, [&](Block& within) { settle(within); });
      auto* branch = std::get_if<IfVectors>(&statement.op);
      if (branch && in_vectors_.count(branch->name) == 0) statement = {Scope{std::move(branch->otherwise)}};
    }
  }

 private:
  /// Whether what is for processors with vectors (IfVectors) is in their registers; names them.
  bool is_in_vectors(Block& then) const {
    if (then.empty()) return false;
    if (std::holds_alternative<StepsInLanes>(then.back().op)) return true;
    For* pixels = keep_columns_in_registers(then);
    if (!pixels || reads_what_it_stores(*pixels, pointed_)) return false;
    name_vectors(*pixels, names_);
    return true;
  }

  /// Returns where the loop is afterwards.
  std::size_t find_neighbours(Block& block, std::size_t at, bool is_portion) {
    For& loop = std::get<For>(block[at].op);
    const VectorBody body(loop);
    InVectors vectors{.scalars = body.scalars(), .neighbours = neighbours_in(body)};
    vectors.may_repeat = !is_portion && !reads_what_it_stores(loop, pointed_);
    const auto row =
        loop.ends && vectors.may_repeat && !vectors.neighbours.empty() ? row_around(block, at) : std::nullopt;
    auto whole = row && has_known_length(loop) ? whole_row(loop, body) : std::nullopt;
    if (whole) return put_whole_row(block, *row, std::move(*whole), {});
    loop.ends.reset();
    if (vectors.neighbours.empty()) return at;
    loop.vectors = std::move(vectors);
    name_vectors(loop, names_);
    return at;
  }

  std::size_t find_columns(Block& block, std::size_t at) {
    For& strips = std::get<For>(block[at].op);
    const auto row = row_around(block, at);
    auto columns = row && has_known_length(strips) ? row_of_columns(strips) : std::nullopt;
    if (columns && !reads_what_it_stores(columns->whole, pointed_))
      return put_whole_row(block, *row, std::move(columns->whole), columns->once);
    strips.ends.reset();
    find_in(strips.body);
    return at;
  }

  /// Whether a function can tell before it begins how long its rows are.
  bool has_known_length(const For& loop) const {
    const auto& sizes = module_.sizes;
    return !any_of(loop.ends->pixels, [&](const Node& node) {
      const auto* n = std::get_if<Name>(&node.op);
      return n && std::none_of(sizes.begin(), sizes.end(),
                               [&](const Field& size) { return size.name == n->name; });
    });
  }

  /// Puts a loop over a whole row where there are loops over its parts. Returns where it is.
  std::size_t put_whole_row(Block& block, const Row& row, For whole, const Block& once) {
    const auto at = [&](std::size_t place) { return block.begin() + static_cast<std::ptrdiff_t>(place); };
    name_vectors(whole, names_);
    *at(row.between) = {std::move(whole)};
    block.erase(at(row.right));
    block.insert(block.erase(at(row.left)) + static_cast<std::ptrdiff_t>(row.between - row.left - 1),
                 once.begin(), once.end());
    found_whole_rows_ = true;
    return row.between - 1 + once.size();
  }

  const Module& module_;
  const Names& names_;
  const Pointed pointed_;
  bool found_whole_rows_ = false;
  std::set<Symbol> in_vectors_;  // of IfVectors, those whose columns are in registers
};

void forget_ends(Block& block) {
  for (Stmt& statement : block) {
    if (auto* loop = std::get_if<For>(&statement.op)) loop->ends.reset();
    each_block(statement, forget_ends);
  }
}

}  // namespace

void find_neighbours(Module& module, const Names& names) {
  std::vector<Function> functions;
  for (Function& function : module.functions) {
    Names of_function = names;
    avoid_declared_in(function, of_function);
    Function in_vectors = function;
    Finder finder(module, function, of_function);
    finder.find_in(in_vectors.body);
    finder.settle(in_vectors.body);
    if (finder.found_whole_rows()) {
      in_vectors.name = of_function.claim(function.name.spelling() + "_in_vectors");
      in_vectors.comment += " In vectors.";
      drop_unused(in_vectors);
      forget_ends(function.body);
      function.in_vectors = in_vectors.name;
      functions.push_back(std::move(in_vectors));
    } else {
      function.body = std::move(in_vectors.body);
    }
    functions.push_back(std::move(function));
  }
  module.functions = std::move(functions);
}

namespace {

template <class Row>
std::pair<const Row*, int> row_at(const std::vector<Row>& rows, const Load& load) {
  const auto [base, place] = split_constant(load.index);
  for (const Row& row : rows) {
    const auto [base_of_row, at_variable] = split_constant(row.index);
    if (row.array == load.array && same(base, base_of_row))
      return {&row, static_cast<int>(place - at_variable)};
  }
  return {nullptr, 0};
}

}  // namespace

std::pair<const Neighbours*, int> neighbour_at(const For& loop, const Load& load) {
  return row_at(loop.vectors->neighbours, load);
}
std::pair<const Columns*, int> columns_at(const For& loop, const Load& load) {
  return row_at(loop.vectors->columns, load);
}

}  // namespace weft::kernel
