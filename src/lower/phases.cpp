#include "lower/phases.h"

#include <algorithm>
#include <bit>

#include "ir/visit.h"
#include "rewrite/merge_terms.h"

namespace weft::lower {
namespace {

/// One for each dimension, x first.
using AllInSteps = std::vector<InSteps>;

ir::Expr in_steps(const ir::Expr& e, const AllInSteps& steps) {
  ir::Node node = *e;
  if (auto* quantity = std::get_if<ir::Quantity>(&node.op)) {
    quantity->value = analysis::in_steps(quantity->value, steps);
  } else if (auto* read = std::get_if<ir::Read>(&node.op)) {
    for (ir::Index& index : read->indices) {
      if (auto* affine = std::get_if<ir::Affine>(&index)) index = analysis::in_steps(*affine, steps);
    }
  } else {
    return nullptr;
  }
  return std::make_shared<const ir::Node>(std::move(node));
}

/// Merges what is the same pixel now.
ir::Rewriter to_steps(const AllInSteps& steps, bool strict) {
  return ir::Rewriter([=](const ir::Expr& e) {
    const ir::Expr moved = in_steps(e, steps);
    return moved || strict ? moved : rewrite::merged_terms(e);
  });
}

using Names = std::unordered_map<const ir::Node*, std::string>;

/// Names of the parts of a stage for the same parts of what it was rewritten to.
void add_names(const ir::Stage& stage, ir::Rewriter& rewriter, const Names& names, Names& added) {
  ir::visit(ir::expressions(stage), [&](const ir::Expr& e) {
    const auto name = names.find(e.get());
    if (name != names.end()) added[rewriter(e).get()] = name->second;
  });
}

}  // namespace

int phase_count(const ir::Stage& stage, int most, int dim) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  if (!pure || pure->cases.size() != 1 || stage.box.empty()) return 1;
  const std::vector<ir::Expr> all = ir::reads(stage);
  std::vector<const ir::Read*> reads;
  for (const ir::Expr& e : all) reads.push_back(&std::get<ir::Read>(e->op));
  return analysis::phase_count(reads, most, dim);
}

Phases phases_of(const ir::Stage& stage, int count,
                 const std::unordered_map<const ir::Node*, std::string>& names, bool strict) {
  Phases phases;
  for (int p = 0; p < count; ++p) {
    ir::Rewriter rewriter = to_steps({{count, p}}, strict);
    ir::Stage& phase = phases.stages.emplace_back(ir::rewritten(stage, std::ref(rewriter)));
    const ir::Range& x = stage.box[0];
    const ir::Affine first = (x.min + (count - 1)).floor_div(count);
    phase.box[0] = {first, (x.min + x.extent).floor_div(count) - first};
    add_names(stage, rewriter, names, phases.names);
  }
  return phases;
}

std::vector<ir::Stage> stages_in_steps(const std::vector<const ir::Stage*>& stages,
                                       const std::array<InSteps, 2>& steps, const Names& names, Names& added,
                                       bool strict) {
  ir::Rewriter rewriter = to_steps({steps[0], steps[1]}, strict);
  std::vector<ir::Stage> result;
  for (const ir::Stage* stage : stages) {
    ir::Stage& in_step = result.emplace_back(ir::rewritten(*stage, std::ref(rewriter)));
    for (std::size_t d = 0; d < std::min(steps.size(), stage->box.size()); ++d) {
      const ir::Range& range = stage->box[d];
      if (steps[d].rate == 1) {
        in_step.box[d].min = range.min - steps[d].first;
        continue;
      }
      const ir::Affine first = (range.min - steps[d].first).floor_div(steps[d].rate) - 1;
      in_step.box[d] = {first,
                        (range.min + range.extent - steps[d].first).floor_div(steps[d].rate) + 1 - first};
    }
    add_names(*stage, rewriter, names, added);
  }
  return result;
}

std::vector<std::vector<ir::Stage>> rows_below(const std::vector<const ir::Stage*>& stages,
                                               const RowsTogether& together, Names& names, bool strict) {
  const auto [rate, first] = together.first;
  std::vector<std::vector<ir::Stage>> rows(together.count);
  Names added;
  for (int r = 0; r < together.count; ++r) {
    // One for all stages: what they have in common stays so.
    AllInSteps steps(stages.front()->box.size(), {1, 0});
    steps.back() = {rate, first + r};
    ir::Rewriter rewriter = to_steps(steps, strict || rate == 1);  // in any row, no pixels become the same
    for (const ir::Stage* stage : stages) {
      ir::Stage& row = rows[r].emplace_back(ir::rewritten(*stage, std::ref(rewriter)));
      const ir::Range& down = stage->box.back();
      const ir::Affine least = (down.min - first + (rate - 1)).floor_div(rate),
                       end = (down.min + down.extent - first - together.count).floor_div(rate) + 1;
      row.box.back() = {least, end - least};
      add_names(*stage, rewriter, names, added);
    }
  }
  names.insert(added.begin(), added.end());
  return rows;
}

}  // namespace weft::lower
