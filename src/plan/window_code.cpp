#include "plan/window_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/interior.h"
#include "analysis/separable.h"
#include "ir/visit.h"
#include "ir/window.h"

namespace weft::plan {

using ir::BinaryOp;

namespace {

constexpr int most_scattered_taps = 8;  // registers for as many addresses

/// What else compilers have to take apart, besides the operations: where a read lies that is not direct. GCC 12
/// took 9 s for 81 taps at computed indices that are mirrored.
std::size_t hidden_operations_of(const std::vector<ir::Expr>& body) {
  constexpr std::size_t of_clamp = 4, of_others = 16;
  std::size_t operations = 0;
  ir::visit(body, [&](const ir::Expr& e) {
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (read && read->border && analysis::access_of(*read) == analysis::Access::Mapped) {
      const bool clamps = read->border->mode == ir::BorderMode::Clamp;
      operations += read->indices.size() * (clamps ? of_clamp : of_others);
    }
  });
  return operations;
}

std::size_t taps_of(const ir::Fold& fold) { return fold.loop->domain.points.size(); }

std::size_t written_operations(const ir::Fold& fold) {
  return taps_of(fold) * (operations_of(fold.next) + hidden_operations_of(fold.next));
}

/// How often a product has accumulators of the loop as factors.
int accumulated_factors(const ir::Expr& e, const ir::Loop& loop) {
  if (const auto* product = std::get_if<ir::Binary>(&e->op); product && product->op == BinaryOp::Mul)
    return accumulated_factors(product->a, loop) + accumulated_factors(product->b, loop);
  if (const auto* cast = std::get_if<ir::Cast>(&e->op)) return accumulated_factors(cast->a, loop);
  const auto* read = std::get_if<ir::Accumulated>(&e->op);
  return read && read->loop.get() == &loop ? 1 : 0;
}

/// Whether every step squares what the one before made, or the like, many times. In straight-line code, GCC's
/// reassociation writes out all factors of the power, and runs out of memory.
bool is_tall_power(const ir::Fold& fold) {
  constexpr std::size_t steps = 16;  // which GCC would unroll itself
  return taps_of(fold) > steps && std::any_of(fold.next.begin(), fold.next.end(), [&](const ir::Expr& e) {
           return accumulated_factors(e, *fold.loop) > 1;
         });
}

bool fits(const ir::Fold& fold, int limit) {
  return taps_of(fold) * operations_of(fold.next) <= static_cast<std::size_t>(limit);
}

}  // namespace

std::size_t operations_of(const std::vector<ir::Expr>& body) {
  std::size_t operations = 0;
  ir::visit(body, [&](const ir::Expr& e) {
    operations += e->type.lanes;
    if (const auto* inner = std::get_if<ir::FoldResult>(&e->op))
      operations += inner->fold->loop->domain.points.size() * 4;
  });
  return operations;
}

bool fits_in_vectors(const ir::Fold& fold, const CodeLimits& limits) {
  return written_operations(fold) <= static_cast<std::size_t>(limits.window);
}
bool is_unrolled_in_vectors(const ir::Fold& fold, const CodeLimits& limits) {
  return fits_in_vectors(fold, limits) && !is_tall_power(fold);
}
bool is_unrolled_in_thread(const ir::Fold& fold, const CodeLimits& limits) {
  return fits(fold, limits.window) && !is_tall_power(fold);
}
bool is_unrolled_at_border(const ir::Fold& fold, const CodeLimits& limits) {
  return fits(fold, limits.border) && !is_tall_power(fold);
}

int taps_of_pass(const ir::Fold& fold, const CodeLimits& limits) {
  const int fitting = std::max(1, limits.pass / static_cast<int>(operations_of(fold.next) + 1));
  const auto dense = ir::dense_box(fold.loop->domain);
  if (!dense) return std::min({fitting, most_scattered_taps, static_cast<int>(taps_of(fold))});
  if (dense->extent.empty()) return 1;
  const auto width = static_cast<int>(dense->extent[0]);
  int taps = std::min(width, fitting);
  while (width % taps != 0) --taps;
  return taps;
}

bool has_network(const ir::Median& median, const CodeLimits& limits) {
  return median.loop->domain.points.size() <= static_cast<std::size_t>(limits.network);
}

bool has_networks(const ir::Stage& stage, const CodeLimits& limits) {
  bool has_all = true;
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    if (const auto* median = std::get_if<ir::Median>(&e->op)) has_all &= has_network(*median, limits);
  });
  return has_all;
}

WindowCode code_of(const ir::Fold& fold, bool strict, target::Processor processor, const CodeLimits& limits) {
  const bool on_cpu = processor == target::Processor::Cpu;
  if (on_cpu && !analysis::loads_little(fold) && analysis::as_separable(fold, strict))
    return {"columns", "a column times a row: neighbours in a strip of pixels share columns"};
  if (is_tall_power(fold)) return {"tap by tap", "each tap multiplies what those before it made by itself"};
  const std::size_t operations = on_cpu ? written_operations(fold) : taps_of(fold) * operations_of(fold.next);
  if (operations <= static_cast<std::size_t>(limits.window))
    return {"unrolled",
            fmt::format("{} operations; up to {} are straight-line code", operations, limits.window)};
  return {"tap by tap",
          fmt::format("{} operations: straight-line code of more than {} {}", operations, limits.window,
                      on_cpu ? "would compile for long" : "would leave the instruction cache")};
}

WindowCode code_of(const ir::Median& median, const CodeLimits& limits) {
  const std::size_t values = median.loop->domain.points.size();
  if (has_network(median, limits))
    return {"unrolled",
            fmt::format("a sorting network of {} values; up to {} have one", values, limits.network)};
  return {"tap by tap",
          fmt::format("{} values are gathered and selected from; up to {} have a sorting network", values,
                      limits.network)};
}

}  // namespace weft::plan
