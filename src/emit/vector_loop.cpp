// Loops over rows whose neighbours are in registers (kernel/neighbours.h), spelt out in vectors:
//
//     {
//       int64_t i = 0;
// #if defined(__AVX512F__)
//       if (i + in_vector<float> <= n) for (;;) {
//         row_vector<float> in_before = vector_before<1>(in + i);
//         for (; i + in_vector<float> <= n; i += in_vector<float>) {
//           const row_vector<float> in_here = vector_at(in + i);
//           store_vector(out + i, shifted<1>(in_before, in_here) + in_here);
//           in_before = in_here;
//         }
//         if (n - i < few<float>) break;
//         i = n - in_vector<float>;  // the last vector overlaps the one before
//       }
// #endif
//       for (; i < n; ++i) out[i] = in[i - 1] + in[i];
//     }
//
// Whole rows (kernel::InVectors), what is beyond them included, in a function for rows that are long enough:
//
//     {
//       int64_t i = 0;
//       row_vector<float> in_before = vector_that_ends_with({in[0]});
//       const row_vector<float> in_beyond = vector_that_begins_with({in[w - 1]});
//       const bool is_large = exceeds_caches(h * pitch * 4) && is_line(out);
//       const auto next_vector = [&](auto is_last, bool past_caches) {
//         const row_vector<float> in_here = vector_at(in + i);
//         const auto right = vector_after<1>(is_last, in + i, in_here, in_beyond);
//         store_vector(out + i, shifted<1>(in_before, in_here) + right, past_caches);
//         in_before = in_here;
//       };
//       for (; i + in_vector<float> + 1 <= w; i += in_vector<float>) next_vector(is_true<false>(), is_large);
//       i = w - in_vector<float>;  // the last vector may overlap the one before
//       in_before = vector_before<1>(in + i);
//       next_vector(is_true<true>(), false);
//     }
//
// Rows of columns (kernel::Columns). Three vectors of columns are in registers at a time, and each is computed once:
//
//     {
//       const auto column_from = [&](int64_t i) { return vector_at(a + i) + vector_at(b + i); };
//       int64_t i = 0;
//       row_vector<int16_t> column_before = vector_that_ends_with<int16_t>({a[0] + b[0]});
//       row_vector<int16_t> column_here = column_from(i);
//       const row_vector<int16_t> column_beyond = vector_that_begins_with<int16_t>({a[w - 1] + b[w - 1]});
//       const auto next_vector = [&](const row_vector<int16_t>& column_after) {
//         store_vector(out + i, shifted<1>(column_before, column_here) + column_here + shifted<31>(column_here, column_after));
//         column_before = column_here;
//         column_here = column_after;
//       };
//       for (; i + 64 <= w; i += 32) next_vector(column_from(i + 32));
//       if (const int64_t left_over = w - 32 - i; left_over > 0) {
//         const row_vector<int16_t> column_last = column_from(w - 32);  // it overlaps the one here
//         next_vector(column_last);
//         i = w - 32, column_before = column_from(i - 32), column_here = column_last;
//       }
//       next_vector(column_beyond);
//     }
//
// Narrower vectors lie on two lines less often, and there are fewer registers for them: with 32 bytes harris_corner takes 1.08
// times as long as without.
#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>

#include "emit/c_like.h"
#include "kernel/build.h"
#include "kernel/neighbours.h"
#include "kernel/symbol_format.h"
#include "kernel/vector_body.h"
#include "kernel/visit.h"

namespace weft::emit {

namespace {

Scalar type_of_stores(const kernel::For& loop) {
  for (const kernel::Stmt& statement : loop.body) {
    if (const auto* store = std::get_if<kernel::Store>(&statement.op)) return store->value->type;
  }
  throw InternalError("a loop over vectors that stores nothing");
}

/// Whether it is a vector that the loop loads before it computes anything.
bool is_loaded_first(const kernel::For& loop, const kernel::Symbol& name) {
  if (!loop.vectors) return false;
  const auto& neighbours = loop.vectors->neighbours;
  return std::any_of(neighbours.begin(), neighbours.end(),
                     [&](const kernel::Neighbours& row) { return row.here == name; });
}

bool fills_vector(Scalar type, int scalars) { return scalars * size_of(type) == kernel::vector_bytes; }

/// As an argument of a template whose others say the type: nothing, where vectors of that type have as many.
std::string and_scalars(Scalar type, int scalars) {
  return fills_vector(type, scalars) ? "" : fmt::format(", {}", scalars);
}
std::string vector_of(Scalar type, int scalars) {
  return fmt::format("row_vector<{}{}>", c_type(type), and_scalars(type, scalars));
}

bool has_integers(const kernel::For& loop) {
  const auto& columns = loop.vectors->columns;
  return !is_float(type_of_stores(loop)) ||
         std::any_of(columns.begin(), columns.end(),
                     [](const kernel::Columns& row) { return !is_float(row.value->type); });
}

/// What a processor needs for the loop.
const char* instructions_for(const kernel::For& loop) {
  const auto& columns = loop.vectors->columns;
  const bool has_bytes = std::any_of(columns.begin(), columns.end(), [](const kernel::Columns& row) {
    return size_of(row.value->type) == 1;
  });
  return has_bytes ? "__AVX512VBMI__" : has_integers(loop) ? "__AVX512BW__" : "__AVX512F__";
}

std::vector<const kernel::For*> whole_rows_of(const kernel::Function& function) {
  std::vector<const kernel::For*> rows;
  kernel::visit_statements(function.body, [&](const kernel::Stmt& statement) {
    const auto* loop = std::get_if<kernel::For>(&statement.op);
    if (loop && loop->vectors && loop->vectors->is_whole_row) rows.push_back(loop);
  });
  return rows;
}

/// Of a vector of neighbours, how many scalars are read left of it.
std::size_t read_left(const kernel::For& loop) {
  std::size_t left = 0;
  for (const kernel::Neighbours& row : loop.vectors->neighbours)
    left = std::max(left, row.left_of_row.size());
  return left;
}
/// How many scalars of a row, at least, are left to the last vector: as many as others read to their right, or one.
std::size_t left_to_last(const kernel::For& loop) {
  std::size_t right = 1;
  for (const kernel::Neighbours& row : loop.vectors->neighbours)
    right = std::max(right, row.right_of_row.size());
  return right;
}

}  // namespace

std::string CLike::list(const std::vector<kernel::Expr>& values) {
  std::string list;
  for (const kernel::Expr& value : values) list += (list.empty() ? "" : ", ") + initializer(value);
  return list;
}

void CLike::print(const kernel::IfVectors& branch) {
  out_.raw("#if defined(__AVX512F__)\n");
  if (branch.condition) line(fmt::format("const bool {} = {};", branch.name, text(branch.condition)));
  if (branch.then.empty()) {
    line(fmt::format("if (!{})", branch.name));
  } else {
    open(fmt::format("if ({})", branch.name));
    print(branch.then);
    out_.close("} else");
  }
  out_.raw("#endif\n");
  open("");
  print(branch.otherwise);
  out_.close();
}

void CLike::print_in_vectors(const kernel::For& loop) {
  helper("row_vector");
  if (has_integers(loop)) helper("row_vector_of_integers");
  if (!loop.vectors->is_whole_row && loop.vectors->columns.empty()) return print_vectors_and_rest(loop);
  open("");
  loop.vectors->columns.empty() ? print_whole_row(loop) : print_columns(loop);
  out_.close();
}

std::string CLike::instructions_for(const kernel::Function& in_vectors) {
  std::string instructions;
  for (const kernel::For* loop : whole_rows_of(in_vectors)) {
    const std::string of_loop = fmt::format("defined({})", emit::instructions_for(*loop));
    if (instructions.find(of_loop) == std::string::npos)
      instructions += (instructions.empty() ? "" : " && ") + of_loop;
  }
  return instructions;
}

std::string CLike::fills_vectors(const kernel::Function& in_vectors) {
  std::string condition;
  for (const kernel::For* loop : whole_rows_of(in_vectors)) {
    const std::string type = c_type(type_of_stores(*loop)), to = operand_of_comparison(loop->to);
    const std::string of_loop =
        loop->vectors->columns.empty()
            ? fmt::format("{} >= in_vector<{}> + {}", to, type, read_left(*loop) + left_to_last(*loop))
            : fmt::format("{} >= {}", to, kernel::least_vectors_of_columns * loop->vectors->scalars);
    if (condition.find(of_loop) == std::string::npos)
      condition += (condition.empty() ? "" : " && ") + of_loop;
  }
  return condition;
}

void CLike::print_vectors_and_rest(const kernel::For& loop) {
  const std::string type = c_type(type_of_stores(loop)), vector = fmt::format("row_vector<{}>", type);
  const std::string to = operand_of_comparison(loop.to);
  const std::string is_there = fmt::format("{0} + in_vector<{1}> <= {2}", loop.variable, type, to);
  open("");
  line(fmt::format("int64_t {} = {};", loop.variable, text(loop.from)));
  out_.raw("#if defined(__AVX512F__)\n");
  // Where no vector is, the row may have nothing before it.
  open(fmt::format("if ({}){}", is_there, loop.vectors->may_repeat ? " for (;;)" : ""));
  for (const kernel::Neighbours& row : loop.vectors->neighbours)
    line(fmt::format("{} {} = {};", vector, row.before, vector_before(row)));
  open(fmt::format("for (; {}; {} += in_vector<{}>)", is_there, loop.variable, type));
  print_vector(loop);
  out_.close();
  if (loop.vectors->may_repeat) {
    line(fmt::format("if ({} - {} < few<{}>) break;", to, loop.variable, type));
    line(fmt::format("{} = {} - in_vector<{}>;  // the last vector overlaps the one before", loop.variable,
                     to, type));
  }
  out_.close();
  out_.raw("#endif\n");
  line("WEFT_INDEPENDENT");
  open(fmt::format("for (; {0} < {1}; ++{0})", loop.variable, to));
  print(loop.body);
  out_.close();
  out_.close();
}

void CLike::print_whole_row(const kernel::For& loop) {
  const std::string type = c_type(type_of_stores(loop)), vector = fmt::format("row_vector<{}>", type);
  const kernel::Symbol& i = loop.variable;
  const std::string to = operand_of_comparison(loop.to);
  const std::size_t kept = left_to_last(loop);
  const bool reads_right =
      std::any_of(loop.vectors->neighbours.begin(), loop.vectors->neighbours.end(),
                  [](const kernel::Neighbours& row) { return !row.right_of_row.empty(); });
  const auto go_to = [&](const std::string& place, const char* why) {
    line(fmt::format("{} = {};  // {}", i, place, why));
    for (const kernel::Neighbours& row : loop.vectors->neighbours)
      if (row.before) line(fmt::format("{} = {};", row.before, vector_before(row)));
  };
  line(fmt::format("int64_t {} = 0;", i));
  for (const kernel::Neighbours& row : loop.vectors->neighbours) {
    if (row.before)
      line(fmt::format("{} {} = vector_that_ends_with<{}>({{{}}});", vector, row.before, type,
                       list(row.left_of_row)));
    if (row.beyond)
      line(fmt::format("const {} {} = vector_that_begins_with<{}>({{{}}});", vector, row.beyond, type,
                       list(row.right_of_row)));
  }
  line(fmt::format("const bool is_large = {};", goes_past_caches(loop, loop.vectors->bytes)));
  open(fmt::format("const auto next_vector = [&](auto{}, bool past_caches)", reads_right ? " is_last" : ""));
  print_vector(loop);
  out_.close("};");
  line(
      fmt::format("for (; {0} + in_vector<{1}> + {2} <= {3}; {0} += in_vector<{1}>) "
                  "next_vector(is_true<false>(), is_large);",
                  i, type, kept, to));
  if (kept > 1) {
    open(fmt::format("if ({} + in_vector<{}> < {})", i, type, to));
    go_to(fmt::format("{} - in_vector<{}> - {}", to, type, kept), "it may overlap the one before");
    line("next_vector(is_true<false>(), false);");
    out_.close();
  }
  go_to(fmt::format("{} - in_vector<{}>", to, type), "the last vector may overlap the one before");
  line("next_vector(is_true<true>(), false);");
}

void CLike::print_columns(const kernel::For& loop) {
  const std::vector<kernel::Columns>& columns = loop.vectors->columns;
  const int scalars = loop.vectors->scalars;
  const kernel::Symbol& i = loop.variable;
  const std::string to = operand_of_comparison(loop.to), last = fmt::format("{} - {}", to, scalars);
  const bool past_caches = loop.vectors->bytes != nullptr;
  const auto next = [&](const auto& after_of, const char* is_large) {
    std::string vectors;
    for (const kernel::Columns& row : columns) vectors += (vectors.empty() ? "" : ", ") + after_of(row);
    return fmt::format("next_vector({}{});", vectors, past_caches ? fmt::format(", {}", is_large) : "");
  };
  for (const kernel::Columns& row : columns) print_columns_from(loop, row);
  line(fmt::format("int64_t {} = {};", i, text(loop.from)));
  std::string parameters;
  for (const kernel::Columns& row : columns) {
    const Scalar type = row.value->type;
    const std::string vector = vector_of(type, scalars), of = c_type(type) + and_scalars(type, scalars);
    if (row.before)
      line(fmt::format("{} {} = vector_that_ends_with<{}>({{{}}});", vector, row.before, of,
                       list(row.left_of_row)));
    line(fmt::format("{} {} = {}({});", vector, row.here, row.from, i));
    line(fmt::format("const {} {} = vector_that_begins_with<{}>({{{}}});", vector, row.beyond, of,
                     list(row.right_of_row)));
    parameters += fmt::format("{}const {}& {}", parameters.empty() ? "" : ", ", vector, row.after);
  }
  if (past_caches)
    line(fmt::format("const bool is_large = {};", goes_past_caches(loop, loop.vectors->bytes)));
  open(
      fmt::format("const auto next_vector = [&]({}{})", parameters, past_caches ? ", bool past_caches" : ""));
  print_vector(loop);
  out_.close("};");
  line(fmt::format(
      "for (; {0} + {1} <= {2}; {0} += {3}) {4}", i, 2 * scalars, to, scalars,
      next([&](const kernel::Columns& row) { return fmt::format("{}({} + {})", row.from, i, scalars); },
           "is_large")));
  open(fmt::format("if (const int64_t left_over = {} - {}; left_over > 0)", last, i));
  for (const kernel::Columns& row : columns) {
    const std::string vector = vector_of(row.value->type, scalars);
    line(fmt::format("const {} {} = {}({});  // it overlaps the one here", vector, row.last, row.from, last));
  }
  // Of the pixels before it, the last one is computed again.
  line(next(
      [&](const kernel::Columns& row) {
        return row.right_of_row.size() == 1
                   ? row.last.spelling()
                   : fmt::format("vector_between({}, {}, {} - left_over)", row.last, row.beyond, scalars);
      },
      "false"));
  line(fmt::format("{} = {};", i, last));
  for (const kernel::Columns& row : columns) {
    if (row.before) line(fmt::format("{} = {}({} - {});", row.before, row.from, i, scalars));
    line(fmt::format("{} = {};", row.here, row.last));
  }
  out_.close();
  line(next([&](const kernel::Columns& row) { return row.beyond.spelling(); }, "false"));
}

/// The function that computes columns from a place of the row on.
void CLike::print_columns_from(const kernel::For& loop, const kernel::Columns& row) {
  open(fmt::format("const auto {} = [&](int64_t {})", row.from, loop.variable));
  vectors_ = &loop;
  print_vector_variables(loop, row.lets);
  line(fmt::format("return {};", text(row.value)));
  vectors_ = nullptr;
  out_.close("};");
}

/// Whether the results are too many for the caches, and vectors of this row are lines of them.
std::string CLike::goes_past_caches(const kernel::For& loop, const kernel::Expr& bytes) {
  std::string condition = fmt::format("{}({})", helper("exceeds_caches"), text(bytes));
  for (const kernel::Stmt& statement : loop.body) {
    const auto* store = std::get_if<kernel::Store>(&statement.op);
    if (!store) continue;
    const kernel::Expr first = kernel::index_at(loop, store->index, loop.from);
    condition +=
        fmt::format(" && is_line({})", address(store->array, kernel::add(first, kernel::literal(0))));
  }
  return condition;
}

/// Whether an expression in vectors is one, and not a scalar.
bool CLike::is_vector(const kernel::Expr& e) const {
  return (vectors_ || taps_) && kernel::any_of(e, [&](const kernel::Node& node) {
           const auto* name = std::get_if<kernel::Name>(&node.op);
           return std::holds_alternative<kernel::Load>(node.op) ||
                  (name && vector_names_.count(name->name) > 0);
         });
}

void CLike::print_vector_variables(const kernel::For& loop, const kernel::Block& block) {
  for (const kernel::Stmt& statement : block) {
    const auto* let = std::get_if<kernel::Let>(&statement.op);
    if (!let) continue;
    if (!is_vector(let->value)) {
      print(statement);
      continue;
    }
    vector_names_.insert(let->name);
    if (!is_loaded_first(loop, let->name))
      line(fmt::format("const auto {} = {};", let->name, text(let->value)));
  }
}

/// What is computed for the scalars from the variable on.
void CLike::print_vector(const kernel::For& loop) {
  const std::string vector = fmt::format("row_vector<{}>", c_type(type_of_stores(loop)));
  vectors_ = &loop;
  for (const kernel::Neighbours& row : loop.vectors->neighbours)
    line(fmt::format("const {} {} = vector_at({});", vector, row.here, address(row.array, row.index)));
  for (const kernel::Stmt& statement : loop.body) {
    const auto* store = std::get_if<kernel::Store>(&statement.op);
    if (store)
      line(fmt::format("store_vector({}, {}{});", address(store->array, store->index), text(store->value),
                       loop.vectors->bytes ? ", past_caches" : ""));
    else
      print_vector_variables(loop, {statement});
  }
  vectors_ = nullptr;
  vector_names_.clear();
  for (const kernel::Neighbours& row : loop.vectors->neighbours)
    if (row.before) line(fmt::format("{} = {};", row.before, row.here));
  for (const kernel::Columns& row : loop.vectors->columns) {
    if (row.before) line(fmt::format("{} = {};", row.before, row.here));
    line(fmt::format("{} = {};", row.here, row.after));
  }
}

std::string CLike::vector_before(const kernel::Neighbours& row) {
  return fmt::format("vector_before<{}>({})", row.left, address(row.array, row.index));
}

/// The vector from a place of a row on.
std::string CLike::vector_at(const kernel::Load& load, Scalar type) {
  const int scalars = vectors_->vectors->scalars;
  if (const auto [row, place] = kernel::columns_at(*vectors_, load); row) {
    if (place == 0) return row->here.spelling();
    if (place < 0) return fmt::format("shifted<{}>({}, {})", -place, row->before, row->here);
    return fmt::format("shifted<{}>({}, {})", scalars - place, row->here, row->after);
  }
  const auto [row, place] = kernel::neighbour_at(*vectors_, load);
  if (row && place == 0) return row->here.spelling();
  if (row && place < 0) return fmt::format("shifted<{}>({}, {})", -place, row->before, row->here);
  if (row && row->beyond)
    return fmt::format("vector_after<{}>(is_last, {}, {}, {})", place, address(row->array, row->index),
                       row->here, row->beyond);
  return fmt::format("vector_at{}({})", fills_vector(type, scalars) ? "" : fmt::format("<{}>", scalars),
                     address(load.array, load.index));
}

}  // namespace weft::emit
