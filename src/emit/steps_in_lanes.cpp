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
  open(fmt::format("steps_in_lanes<{}, {}, {}, {}>({}, {}, {}, [&](const auto& {})", steps.steps,
                   steps.columns, left, right, from, to, goes_past_caches(loop, steps.bytes), steps.taps));
  taps_ = Taps{steps.taps, left};
  print_vector_variables(loop, loop.body);
  line(fmt::format("return {};", text(store.value)));
  taps_.reset();
  vector_names_.clear();
  out_.close("});");
}

}  // namespace weft::emit
