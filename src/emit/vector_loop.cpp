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
// Whole rows (kernel::RowEnds), what is beyond them included:
//
// #if defined(__AVX512F__)
//     if (w >= in_vector<float> + 2) {
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
//     } else
// #endif
//     {
//       …  // pixel by pixel
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
  return std::any_of(loop.neighbours.begin(), loop.neighbours.end(),
                     [&](const kernel::Neighbours& row) { return row.here == name; });
}

}  // namespace

std::string CLike::list(const std::vector<kernel::Expr>& values) {
  std::string list;
  for (const kernel::Expr& value : values) list += (list.empty() ? "" : ", ") + text(value);
  return list;
}

void CLike::print_in_vectors(const kernel::For& loop) {
  helper("row_vector");
  if (loop.ends) return print_whole_row(loop);
  const std::string type = c_type(type_of_stores(loop)), vector = fmt::format("row_vector<{}>", type);
  const std::string to = operand_of_comparison(loop.to);
  const std::string is_there = fmt::format("{0} + in_vector<{1}> <= {2}", loop.variable, type, to);
  open("");
  line(fmt::format("int64_t {} = {};", loop.variable, text(loop.from)));
  out_.raw("#if defined(__AVX512F__)\n");
  // Where no vector is, the row may have nothing before it.
  open(fmt::format("if ({}){}", is_there, loop.may_repeat ? " for (;;)" : ""));
  for (const kernel::Neighbours& row : loop.neighbours)
    line(fmt::format("{} {} = {};", vector, row.before, vector_before(row)));
  open(fmt::format("for (; {}; {} += in_vector<{}>)", is_there, loop.variable, type));
  print_vector(loop);
  out_.close();
  if (loop.may_repeat) {
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
  const std::string to =
      operand_of_comparison(kernel::mul(loop.ends->pixels, kernel::literal(loop.ends->lanes)));
  std::size_t left = 0, right = 0;  // of a vector, how many scalars are read beside it
  for (const kernel::Neighbours& row : loop.neighbours) {
    left = std::max(left, row.left_of_row.size());
    right = std::max(right, row.right_of_row.size());
  }
  const std::size_t kept =
      std::max<std::size_t>(right, 1);  // scalars at least that are left to the last vector
  const auto go_to = [&](const std::string& place, const char* why) {
    line(fmt::format("{} = {};  // {}", i, place, why));
    for (const kernel::Neighbours& row : loop.neighbours)
      if (row.before) line(fmt::format("{} = {};", row.before, vector_before(row)));
  };
  out_.raw("#if defined(__AVX512F__)\n");
  open(fmt::format("if ({} >= in_vector<{}> + {})", to, type, left + kept));
  line(fmt::format("int64_t {} = 0;", i));
  for (const kernel::Neighbours& row : loop.neighbours) {
    if (row.before)
      line(fmt::format("{} {} = vector_that_ends_with<{}>({{{}}});", vector, row.before, type,
                       list(row.left_of_row)));
    if (row.beyond)
      line(fmt::format("const {} {} = vector_that_begins_with<{}>({{{}}});", vector, row.beyond, type,
                       list(row.right_of_row)));
  }
  line(fmt::format("const bool is_large = {};", goes_past_caches(loop)));
  open(fmt::format("const auto next_vector = [&](auto{}, bool past_caches)", right > 0 ? " is_last" : ""));
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
  out_.close("} else");
  out_.raw("#endif\n");
  open("");
  print(loop.ends->before);
  print_loop(loop);
  print(loop.ends->after);
  out_.close();
}

/// Whether the results are too many for the caches, and vectors of this row are lines of them.
std::string CLike::goes_past_caches(const kernel::For& loop) {
  std::string condition = fmt::format("{}({})", helper("exceeds_caches"), text(loop.ends->bytes));
  for (const kernel::Stmt& statement : loop.body) {
    const auto* store = std::get_if<kernel::Store>(&statement.op);
    if (!store) continue;
    const kernel::Expr first = kernel::index_at(loop, store->index, kernel::literal(0));
    condition +=
        fmt::format(" && is_line({})", address(store->array, kernel::add(first, kernel::literal(0))));
  }
  return condition;
}

/// What is computed for the scalars from the variable on.
void CLike::print_vector(const kernel::For& loop) {
  const std::string vector = fmt::format("row_vector<{}>", c_type(type_of_stores(loop)));
  vectors_ = &loop;
  for (const kernel::Neighbours& row : loop.neighbours)
    line(fmt::format("const {} {} = vector_at({});", vector, row.here, address(row.array, row.index)));
  for (const kernel::Stmt& statement : loop.body) {
    if (const auto* let = std::get_if<kernel::Let>(&statement.op)) {
      if (!is_loaded_first(loop, let->name))
        line(fmt::format("const auto {} = {};", let->name, text(let->value)));
    } else {
      const auto& store = std::get<kernel::Store>(statement.op);
      line(fmt::format("store_vector({}, {}{});", address(store.array, store.index), text(store.value),
                       loop.ends ? ", past_caches" : ""));
    }
  }
  vectors_ = nullptr;
  for (const kernel::Neighbours& row : loop.neighbours)
    if (row.before) line(fmt::format("{} = {};", row.before, row.here));
}

std::string CLike::vector_before(const kernel::Neighbours& row) {
  return fmt::format("vector_before<{}>({})", row.left, address(row.array, row.index));
}

/// The vector from a place of a row on.
std::string CLike::vector_at(const kernel::Load& load) {
  const auto [row, place] = kernel::neighbour_at(*vectors_, load);
  if (row && place == 0) return row->here.spelling();
  if (row && place < 0) return fmt::format("shifted<{}>({}, {})", -place, row->before, row->here);
  if (row && row->beyond)
    return fmt::format("vector_after<{}>(is_last, {}, {}, {})", place, address(row->array, row->index),
                       row->here, row->beyond);
  return fmt::format("vector_at({})", address(load.array, load.index));
}

}  // namespace weft::emit
