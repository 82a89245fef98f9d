// Steps of a line in the lanes of vectors (kernel::StepsInLanes):
//
//     steps_in_lanes<16, 496, 1, 1>(in + x0, out + x0, exceeds_caches(w * 4) && is_line(out + x0), [&](const auto& taps) {
//       return 0.25f * (taps[2] - 2.0f * taps[1] + taps[0]) + taps[1];
//     });
#include <fmt/format.h>

#include "emit/c_like.h"
#include "kernel/build.h"
#include "kernel/symbol_format.h"
#include "kernel/vector_body.h"

namespace weft::emit {

void CLike::print(const kernel::StepsInLanes& steps) {
  helper("row_vector"), helper("steps_in_lanes");
  const kernel::For& loop = kernel::loop_of(steps);
  const kernel::VectorBody body(loop);
  const kernel::VectorBody::Row& row = body.rows().front();
  const auto [left, right] = kernel::beside(row);
  const auto& store = std::get<kernel::Store>(loop.body.back().op);
  print(kernel::Block(steps.update.begin(), steps.update.end() - 1));
  const std::string from = address(row.array, kernel::index_at(loop, row.base, loop.from)),
                    to = address(store.array, kernel::index_at(loop, store.index, loop.from));
  open(fmt::format("steps_in_lanes<{}, {}, {}, {}>({}, {}, {}({}) && is_line({}), [&](const auto& {})",
                   steps.steps, steps.columns, left, right, from, to, helper("exceeds_caches"),
                   text(steps.bytes), to, steps.taps));
  steps_in_lanes_ = &steps;
  for (const kernel::Stmt& statement : loop.body) {
    const auto* let = std::get_if<kernel::Let>(&statement.op);
    if (let && is_vector(let->value)) vector_names_.insert(let->name);
    if (let && is_vector(let->value))
      line(fmt::format("const auto {} = {};", let->name, text(let->value)));
    else if (let)
      print(statement);
  }
  line(fmt::format("return {};", text(store.value)));
  steps_in_lanes_ = nullptr;
  vector_names_.clear();
  out_.close("});");
}

/// What an update reads, of a column that comes after those before it.
std::string CLike::tap_at(const kernel::StepsInLanes& steps, const kernel::Load& load) {
  const kernel::VectorBody body(kernel::loop_of(steps));
  const auto [base, place] = kernel::split_constant(load.index);
  return fmt::format("{}[{}]", steps.taps, place + kernel::beside(body.rows().front()).left);
}

}  // namespace weft::emit
