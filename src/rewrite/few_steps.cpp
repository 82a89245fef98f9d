#include "rewrite/few_steps.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"
#include "rewrite/unroll_steps.h"

namespace weft::rewrite {
namespace {

// More steps than these spend most of their time in kernels that take several at once, whatever is around them.
constexpr std::int64_t most_steps = 8;

/// Of an evolution whose steps become stages: how many there are, from 0 on.
std::optional<int> few_steps_of(const ir::Stage& stage, int most_rank) {
  const auto* evolve = std::get_if<ir::Evolve>(&stage.definition);
  if (!evolve || stage.rank() < 2 || stage.rank() > most_rank || evolve->evolution->fields.size() != 1)
    return std::nullopt;
  const auto* steps = std::get_if<ir::Const>(&evolve->evolution->steps->op);
  if (!steps) return std::nullopt;
  const std::int64_t count = std::max<std::int64_t>(steps->value.as_integer(), 0);
  if (count > most_steps ||
      (count > 0 && !unroll_steps(*evolve->evolution, static_cast<int>(count)).why.empty()))
    return std::nullopt;
  return static_cast<int>(count);
}

bool is_zero(const ir::Expr& e) {
  const auto* constant = std::get_if<ir::Const>(&e->op);
  return constant && is_integer(e->type.scalar) && constant->value.as_integer() == 0;
}

class StepsAsStages {
 public:
  StepsAsStages(const ir::Pipeline& pipeline, int most_rank) : result_(pipeline), most_rank_(most_rank) {}

  ir::Pipeline run() {
    std::vector<ir::StagePtr> stages = std::move(result_.stages);
    result_.stages.clear();
    Evolutions evolutions(replaced_);
    for (const ir::StagePtr& stage : stages) {
      if (const std::optional<int> count = few_steps_of(*stage, most_rank_))
        add_steps(stage, *count);
      else
        add(stage, evolutions(following(*stage)));
    }
    for (ir::StagePtr& output : result_.outputs) output = replaced_.at(output.get());
    // What no step is left to read is not computed.
    const std::vector<ir::StagePtr> reached = ir::topological_order(result_.outputs);
    const std::set<ir::StagePtr> needed(reached.begin(), reached.end());
    std::erase_if(result_.stages, [&](const ir::StagePtr& stage) { return !needed.count(stage); });
    return result_;
  }

 private:
  void add(const ir::StagePtr& original, ir::Stage stage) {
    replaced_[original.get()] =
        result_.stages.emplace_back(std::make_shared<const ir::Stage>(std::move(stage)));
  }

  void add_steps(const ir::StagePtr& stage, int count) {
    const auto& evolve = std::get<ir::Evolve>(stage->definition);
    const ir::StagePtr& initial = evolve.evolution->fields[0].initial;
    if (count == 0) {
      ir::Stage copy{stage->name,  stage->type,
                     stage->box,   ir::Pure{{{nullptr, ir::read(read_at_pixel(initial, stage->where))}}},
                     stage->where, stage->need};
      return add(stage, following(copy));
    }
    const UnrolledSteps& steps = unrolled_.emplace_back(unroll_steps(*evolve.evolution, count));
    const auto known = replaced_.find(initial.get());
    for (const Version& past : steps.pasts)
      replaced_[past.stage.get()] = known == replaced_.end() ? initial : known->second;
    for (const Version& version : steps.versions) add(version.stage, following(*version.stage));
    replaced_[stage.get()] = result_.stages.back();
  }

  /// The stage, reading what took the place of others, at the step that it is.
  ir::Stage following(const ir::Stage& stage) const {
    ir::Rewriter rewrite([&](const ir::Expr& e) -> ir::Expr {
      if (const auto* read = std::get_if<ir::Read>(&e->op)) {
        const auto known = replaced_.find(read->source.get());
        return known == replaced_.end() ? nullptr : with_source(e, known->second);
      }
      // Steps are numbers further on: 0 + 2.
      if (std::holds_alternative<ir::StepNumber>(e->op)) return ir::constant(e->type, 0);
      const auto* sum = std::get_if<ir::Binary>(&e->op);
      return sum && sum->op == ir::BinaryOp::Add && is_zero(sum->a) && sum->b->type == e->type ? sum->b
                                                                                               : nullptr;
    });
    return ir::rewritten(stage, std::ref(rewrite));
  }

  ir::Pipeline result_;
  const int most_rank_;
  Evolutions::Replaced replaced_;
  std::deque<UnrolledSteps> unrolled_;  // whose stages are looked for
};

}  // namespace

ir::Pipeline few_steps(const ir::Pipeline& pipeline, int most_rank) {
  const bool has_few =
      std::any_of(pipeline.stages.begin(), pipeline.stages.end(),
                  [&](const ir::StagePtr& stage) { return few_steps_of(*stage, most_rank).has_value(); });
  return has_few ? StepsAsStages(pipeline, most_rank).run() : pipeline;
}

}  // namespace weft::rewrite
