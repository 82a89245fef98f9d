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

class RowFinder {
 public:
  RowFinder(const RowEnds& ends, const Strip& strip) : ends_(ends), strip_(strip) {}

  std::optional<For> find() {
    For loop{LoopKind::Vector, strip_.pixels.variable, literal(0), mul(ends_.pixels, literal(ends_.lanes)),
             strip_.pixels.body};
    const VectorBody pixels(loop);
    bool is_found = is_arithmetic(pixels);
    for (const For& columns : strip_.columns) is_found = is_found && add_columns(columns);
    for (const VectorBody::Row& row : pixels.rows()) is_found = is_found && add_reads(row, loop);
    for (const Columns& columns : columns_) is_found = is_found && !columns.right_of_row.empty();
    if (!is_found) return {};
    loop.vectors = InVectors{.scalars = scalars_, .is_whole_row = true, .columns = std::move(columns_)};
    if (stores_lines(loop)) loop.vectors->bytes = ends_.bytes;
    return loop;
  }

 private:
  bool is_arithmetic(const VectorBody& body) {
    if (!body.is_arithmetic()) return false;
    scalars_ = std::min(scalars_, body.scalars());
    return true;
  }

  /// The columns that a loop keeps in arrays of the strip, each computed at one place of rows.
  bool add_columns(const For& loop) {
    const VectorBody body(loop);
    if (!is_arithmetic(body) || body.rows().empty()) return false;
    const int place = body.rows().front().first();
    for (const VectorBody::Row& row : body.rows()) {
      if (row.first() != place || row.last() != place || strip_.arrays.count(row.array) > 0) return false;
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
      if (!same(store->index, variable) || strip_.arrays.count(store->array) == 0) return false;
      columns_.push_back({store->array, add(variable, literal(-place)), needed_for(store->value, at_variable),
                          store->value});
    }
    return true;
  }

  /// What the loop over pixels reads: columns, or one place of another row.
  bool add_reads(const VectorBody::Row& row, const For& loop) {
    if (strip_.arrays.count(row.array) == 0) return row.first() == 0 && row.last() == 0;
    const auto columns = std::find_if(columns_.begin(), columns_.end(),
                                      [&](const Columns& some) { return some.array == row.array; });
    if (columns == columns_.end() || !same(row.base, name(loop.variable))) return false;
    const int here = static_cast<int>(split_constant(columns->index).second);
    const int first = row.first() - here, last = row.last() - here;
    if (first > 0 || last < 0 || -first > scalars_ || last > scalars_) return false;
    for (int place = first; place < 0; ++place)
      columns->left_of_row.push_back(beyond_row(*columns, loop, literal(0), place));
    for (int place = 0; place < last; ++place)
      columns->right_of_row.push_back(beyond_row(*columns, loop, ends_.pixels, place));
    return true;
  }

  /// A column that belongs to no pixel of the row.
  Expr beyond_row(const Columns& columns, const For& loop, const Expr& from, int place) const {
    std::map<Symbol, Expr> meanings;
    for (const Stmt& statement : columns.lets) {
      const Let& let = std::get<Let>(statement.op);
      meanings[let.name] = let.value;
    }
    return rewritten(spelt_out(columns.value, meanings), [&](const Expr& e) -> Expr {
      const auto* n = std::get_if<Load>(&e->op);
      return n ? beyond(ends_, loop, *n, e->type, from, place) : nullptr;
    });
  }

  /// Whether vectors that are stored fill lines of the cache.
  bool stores_lines(const For& loop) const {
    return std::all_of(loop.body.begin(), loop.body.end(), [&](const Stmt& statement) {
      const auto* store = std::get_if<Store>(&statement.op);
      return !store || scalars_ * size_of(store->value->type) == vector_bytes;
    });
  }

  const RowEnds& ends_;
  const Strip& strip_;
  int scalars_ = vector_bytes;
  std::vector<Columns> columns_;
};

}  // namespace

std::optional<RowOfColumns> row_of_columns(const For& strips) {
  const auto strip = strip_of(strips);
  if (!strip) return {};
  auto loop = RowFinder(*strips.ends, *strip).find();
  return loop ? std::optional(RowOfColumns{strip->once, std::move(*loop)}) : std::nullopt;
}

}  // namespace weft::kernel
