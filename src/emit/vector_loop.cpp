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

void CLike::print_in_vectors(const kernel::For& loop) {
  helper("row_vector");
  const std::string type = c_type(type_of_stores(loop)), vector = fmt::format("row_vector<{}>", type);
  const std::string to = operand_of_comparison(loop.to);
  const std::string is_there = fmt::format("{0} + in_vector<{1}> <= {2}", loop.variable, type, to);
  open("");
  line(fmt::format("int64_t {} = {};", loop.variable, text(loop.from)));
  out_.raw("#if defined(__AVX512F__)\n");
  // Where no vector is, the row may have nothing before it.
  open(fmt::format("if ({}){}", is_there, loop.may_repeat ? " for (;;)" : ""));
  for (const kernel::Neighbours& row : loop.neighbours)
    line(fmt::format("{} {} = vector_before<{}>({});", vector, row.before, row.left,
                     address(row.array, row.index)));
  open(fmt::format("for (; {}; {} += in_vector<{}>)", is_there, loop.variable, type));
  vectors_ = &loop;
  for (const kernel::Neighbours& row : loop.neighbours)
    line(fmt::format("const {} {} = vector_at({});", vector, row.here, address(row.array, row.index)));
  for (const kernel::Stmt& statement : loop.body) {
    if (const auto* let = std::get_if<kernel::Let>(&statement.op)) {
      if (!is_loaded_first(loop, let->name))
        line(fmt::format("const auto {} = {};", let->name, text(let->value)));
    } else {
      const auto& store = std::get<kernel::Store>(statement.op);
      line(fmt::format("store_vector({}, {});", address(store.array, store.index), text(store.value)));
    }
  }
  vectors_ = nullptr;
  for (const kernel::Neighbours& row : loop.neighbours) line(fmt::format("{} = {};", row.before, row.here));
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

/// The vector from a place of a row on.
std::string CLike::vector_at(const kernel::Load& load) {
  const auto [row, place] = kernel::neighbour_at(*vectors_, load);
  if (row && place == 0) return row->here.spelling();
  if (row && place < 0) return fmt::format("shifted<{}>({}, {})", -place, row->before, row->here);
  return fmt::format("vector_at({})", address(load.array, load.index));
}

}  // namespace weft::emit
