#include "lower/phases.h"

#include <algorithm>
#include <bit>

#include "analysis/interior.h"
#include "ir/visit.h"

namespace weft::lower {
namespace {

constexpr std::int64_t most_phases = 4;  // each is code of its own

/// What the indices of all reads along x are divided by; nothing if they differ in more than powers of two.
std::optional<std::int64_t> divisor_of(const ir::Stage& stage) {
  std::int64_t divisor = 1;
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (read.indices.empty()) continue;
    if (analysis::access_of(read) != analysis::Access::Direct) return std::nullopt;
    ir::Scaled scaled;
    if (!ir::as_scaled(analysis::at_extreme_tap(std::get<ir::Affine>(read.indices[0]), false), 0, &scaled))
      return std::nullopt;
    if (scaled.divisor > most_phases || !std::has_single_bit(static_cast<std::uint64_t>(scaled.divisor)))
      return std::nullopt;
    divisor = std::max(divisor, scaled.divisor);
  }
  return divisor;
}

ir::Affine at_phase(const ir::Affine& a, std::int64_t count, std::int64_t phase) {
  return a.substitute([&](const ir::Atom& atom) {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    return coord && coord->dim == 0 ? ir::Affine(atom) * count + phase : ir::Affine(atom);
  });
}

ir::Expr at_phase(const ir::Expr& e, std::int64_t count, std::int64_t phase) {
  ir::Node node = *e;
  if (auto* quantity = std::get_if<ir::Quantity>(&node.op)) {
    quantity->value = at_phase(quantity->value, count, phase);
  } else if (auto* read = std::get_if<ir::Read>(&node.op)) {
    for (ir::Index& index : read->indices) {
      if (auto* affine = std::get_if<ir::Affine>(&index)) index = at_phase(*affine, count, phase);
    }
  } else {
    return nullptr;
  }
  return std::make_shared<const ir::Node>(std::move(node));
}

}  // namespace

int phase_count(const ir::Stage& stage) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  if (!pure || pure->cases.size() != 1 || stage.box.empty()) return 1;
  return static_cast<int>(divisor_of(stage).value_or(1));
}

Phases phases_of(const ir::Stage& stage, int count,
                 const std::unordered_map<const ir::Node*, std::string>& names) {
  Phases phases;
  for (int p = 0; p < count; ++p) {
    ir::Rewriter rewriter([&](const ir::Expr& e) { return at_phase(e, count, p); });
    ir::Stage& phase = phases.stages.emplace_back(ir::rewritten(stage, std::ref(rewriter)));
    const ir::Range& x = stage.box[0];
    const ir::Affine first = (x.min - p + (count - 1)).floor_div(count);
    phase.box[0] = {first, (x.min + x.extent - 1 - p).floor_div(count) + 1 - first};
    ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
      const auto name = names.find(e.get());
      if (name != names.end()) phases.names[rewriter(e).get()] = name->second;
    });
  }
  return phases;
}

}  // namespace weft::lower
