#include "kernel/row_columns.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/build.h"
#include "kernel/low_bits.h"
#include "kernel/vector_body.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

/// An expression as it is where a variable that is added in indices is 0.
Expr without(const Expr& e, const Symbol& variable) {
  return rewritten(e, [&](const Expr& part) -> Expr {
    const auto is_variable = [&](const Expr& operand) {
      const auto* n = std::get_if<Name>(&operand->op);
      return n && n->name == variable;
    };
    if (is_variable(part)) return literal(0);
    const auto* sum = std::get_if<Binary>(&part->op);
    if (!sum || sum->op != ir::BinaryOp::Add) return nullptr;
    if (is_variable(sum->a)) return without(sum->b, variable);
    return is_variable(sum->b) ? without(sum->a, variable) : nullptr;
  });
}

/// `e` with what names stand for.
Expr spelt_out(const Expr& e, const std::map<Symbol, Expr>& meanings) {
  return rewritten(e, [&](const Expr& part) -> Expr {
    const auto* n = std::get_if<Name>(&part->op);
    const auto meaning = n ? meanings.find(n->name) : meanings.end();
    return meaning == meanings.end() ? nullptr : spelt_out(meaning->second, meanings);
  });
}

/// Of the statements before it, those that an expression needs.
Block needed_for(const Expr& e, const Block& before) {
  std::set<Symbol> names = names_in({{Let{{}, e}}});
  Block needed;
  for (auto statement = before.rbegin(); statement != before.rend(); ++statement) {
    const auto* let = std::get_if<Let>(&statement->op);
    if (!let || names.count(let->name) == 0) continue;
    names.merge(names_in({*statement}));
    needed.insert(needed.begin(), *statement);
  }
  return needed;
}

/// The statements of a strip, as they are for one that begins at 0.
struct Strip {
  Block once;  ///< What does not differ from strip to strip.
  std::set<Symbol> arrays;
  std::vector<For> columns;
  For pixels;
};

std::optional<Strip> strip_of(const For& strips) {
  if (strips.kind != LoopKind::Serial || !strips.step) return {};
  Strip strip;
  std::set<Symbol> differ = {strips.variable};  // from strip to strip
  for (const Stmt& statement : strips.body) {
    const std::set<Symbol> names = names_in({statement});
    const bool is_once =
        std::none_of(names.begin(), names.end(), [&](const Symbol& name) { return differ.count(name) > 0; });
    const auto* let = std::get_if<Let>(&statement.op);
    if (is_once && (let || std::holds_alternative<Pointer>(statement.op))) {
      strip.once.push_back(statement);
      continue;
    }
    if (const auto* array = std::get_if<LocalArray>(&statement.op)) {
      strip.arrays.insert(array->name);
    } else if (const auto* loop = std::get_if<For>(&statement.op)) {
      if (loop->kind != LoopKind::Vector || loop->step || !is_literal(loop->from, 0)) return {};
      strip.columns.push_back(*loop);
      rewrite_expressions(strip.columns.back().body,
                          [&](const Expr& e) { return in_few_bits(without(e, strips.variable)); });
    } else if (let) {
      differ.insert(let->name);
    } else {
      return {};
    }
  }
  if (strip.columns.size() < 2 || !std::holds_alternative<For>(strips.body.back().op)) return {};
  strip.pixels = std::move(strip.columns.back());
  strip.columns.pop_back();
  return strip;
}

/// Takes the place of loops that keep columns in arrays, and one that reads them.
class ColumnsFinder {
 public:
  /// `ends` of a whole row; null: what is beyond the loop is there as well.
  ColumnsFinder(const std::set<Symbol>& arrays, const RowEnds* ends) : arrays_(arrays), ends_(ends) {}

  /// Makes `pixels` a loop over vectors.
  bool find(const std::vector<For>& loops_over_columns, For& pixels) {
    const VectorBody body(pixels);
    bool is_found = is_arithmetic(body);
    for (const For& columns : loops_over_columns) is_found = is_found && add_columns(columns);
    for (const VectorBody::Row& row : body.rows()) is_found = is_found && add_reads(row, pixels);
    for (const Columns& columns : columns_) is_found = is_found && !columns.right_of_row.empty();
    if (!is_found) return false;
    pixels.vectors =
        InVectors{.scalars = scalars_, .is_whole_row = ends_ != nullptr, .columns = std::move(columns_)};
    if (ends_ && stores_lines(pixels)) pixels.vectors->bytes = ends_->bytes;
    return true;
  }

 private:
  bool is_arithmetic(const VectorBody& body) {
    if (!body.is_arithmetic()) return false;
    scalars_ = std::min(scalars_, body.scalars());
    return true;
  }

  /// The columns that a loop keeps in arrays, each computed at one place of rows.
  bool add_columns(const For& loop) {
    const VectorBody body(loop);
    if (!is_arithmetic(body) || body.rows().empty()) return false;
    const int place = body.rows().front().first();
    for (const VectorBody::Row& row : body.rows()) {
      if (row.first() != place || row.last() != place || arrays_.count(row.array) > 0) return false;
    }
    Block at_variable = loop.body;
    rewrite_expressions(at_variable, [](const Expr& e) -> Expr {
      const auto* n = std::get_if<Load>(&e->op);
      return n ? load(n->array, e->type, split_constant(n->index).first) : nullptr;
    });
    const Expr variable = name(loop.variable);
    for (const Stmt& statement : at_variable) {
      const auto* store = std::get_if<Store>(&statement.op);
      if (!store) continue;
      const auto [index, kept_at] = split_constant(store->index);
      if (!same(index, variable) || arrays_.count(store->array) == 0) return false;
      columns_.push_back({store->array, add(variable, literal(kept_at - place)),
                          needed_for(store->value, at_variable), store->value});
    }
    return true;
  }

  /// What the loop over pixels reads: columns, or one place of another row.
  bool add_reads(const VectorBody::Row& row, const For& loop) {
    if (arrays_.count(row.array) == 0) return row.first() == 0 && row.last() == 0;
    const auto columns = std::find_if(columns_.begin(), columns_.end(),
                                      [&](const Columns& some) { return some.array == row.array; });
    if (columns == columns_.end() || !same(row.base, name(loop.variable))) return false;
    const int here = static_cast<int>(split_constant(columns->index).second);
    const int first = row.first() - here, last = row.last() - here;
    if (first > 0 || last < 0 || -first > scalars_ || last > scalars_) return false;
    for (int place = first; place < 0; ++place)
      columns->left_of_row.push_back(column_beside(*columns, loop, false, place));
    for (int place = 0; place < last; ++place)
      columns->right_of_row.push_back(column_beside(*columns, loop, true, place));
    return true;
  }

  /// A column before the loop's first pixel, or behind its last.
  Expr column_beside(const Columns& columns, const For& loop, bool is_behind, int place) const {
    std::map<Symbol, Expr> meanings;
    for (const Stmt& statement : columns.lets) {
      const Let& let = std::get<Let>(statement.op);
      meanings[let.name] = let.value;
    }
    const Expr value = spelt_out(columns.value, meanings);
    if (!ends_) return index_at(loop, value, add(is_behind ? loop.to : loop.from, literal(place)));
    return rewritten(value, [&](const Expr& e) -> Expr {
      const auto* n = std::get_if<Load>(&e->op);
      return n ? beyond(*ends_, loop, *n, e->type, is_behind ? ends_->pixels : literal(0), place) : nullptr;
    });
  }

  /// Whether vectors that are stored fill lines of the cache.
  bool stores_lines(const For& loop) const {
    return std::all_of(loop.body.begin(), loop.body.end(), [&](const Stmt& statement) {
      const auto* store = std::get_if<Store>(&statement.op);
      return !store || scalars_ * size_of(store->value->type) == vector_bytes;
    });
  }

  const std::set<Symbol>& arrays_;
  const RowEnds* ends_;
  int scalars_ = vector_bytes;
  std::vector<Columns> columns_;
};

/// Whether it is a loop that stores to these arrays, and to no others.
bool keeps_columns(const Stmt& statement, const std::set<Symbol>& arrays) {
  const auto* loop = std::get_if<For>(&statement.op);
  const std::set<Symbol> stored = loop ? arrays_written_in(loop->body) : std::set<Symbol>{};
  return !stored.empty() && std::includes(arrays.begin(), arrays.end(), stored.begin(), stored.end());
}

bool mentions_any(const Block& block, const std::set<Symbol>& names) {
  const std::set<Symbol> mentioned = names_in(block);
  return std::any_of(names.begin(), names.end(),
                     [&](const Symbol& name) { return mentioned.count(name) > 0; });
}

}  // namespace

std::optional<RowOfColumns> row_of_columns(const For& strips) {
  const auto strip = strip_of(strips);
  if (!strip) return {};
  const RowEnds& ends = *strips.ends;
  const Expr scalars = mul(ends.pixels, literal(ends.lanes));
  For whole{LoopKind::Vector, strip->pixels.variable, literal(0), scalars, strip->pixels.body};
  if (!ColumnsFinder(strip->arrays, &ends).find(strip->columns, whole)) return {};
  return RowOfColumns{strip->once, std::move(whole)};
}

For* keep_columns_in_registers(Block& block) {
  std::set<Symbol> arrays;
  std::vector<For> columns;
  Block rest;
  for (const Stmt& statement : block) {
    if (const auto* array = std::get_if<LocalArray>(&statement.op))
      arrays.insert(array->name);
    else if (keeps_columns(statement, arrays))
      columns.push_back(std::get<For>(statement.op));
    else
      rest.push_back(statement);
  }
  For* pixels = nullptr;
  for (Stmt& statement : rest) {
    if (!mentions_any({statement}, arrays)) continue;
    auto* loop = std::get_if<For>(&statement.op);
    if (pixels || !loop || loop->kind != LoopKind::Vector || loop->step) return nullptr;
    pixels = loop;
  }
  if (!pixels || columns.empty() || !ColumnsFinder(arrays, nullptr).find(columns, *pixels)) return nullptr;
  block = std::move(rest);
  return pixels;  // statements have kept their places in memory
}

}  // namespace weft::kernel
