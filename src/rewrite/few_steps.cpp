#include "rewrite/few_steps.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"
#include "rewrite/unroll_steps.h"

namespace weft::rewrite {
namespace {

// More steps than these spend most of their time in kernels that take several at once, whatever is around them.
constexpr std::int64_t most_steps = 8;

/// Of an evolution whose steps become stages: no versions if there is no step.
std::optional<UnrolledSteps> few_steps_of(const ir::Stage& stage, int most_rank) {
  const auto* evolve = std::get_if<ir::Evolve>(&stage.definition);
  if (!evolve || stage.rank() < 2 || stage.rank() > most_rank || evolve->evolution->fields.size() != 1)
    return std::nullopt;
  const auto* steps = std::get_if<ir::Const>(&evolve->evolution->steps->op);
  if (!steps || steps->value.as_integer() > most_steps) return std::nullopt;
  if (steps->value.as_integer() <= 0) return UnrolledSteps{};
  UnrolledSteps unrolled = unroll_steps(*evolve->evolution, static_cast<int>(steps->value.as_integer()));
  return unrolled.why.empty() ? std::optional(std::move(unrolled)) : std::nullopt;
}

/// By the stages that evolve.
using FewSteps = std::map<const ir::Stage*, UnrolledSteps>;

bool is_zero(const ir::Expr& e) {
  const auto* constant = std::get_if<ir::Const>(&e->op);
  return constant && is_integer(e->type.scalar) && constant->value.as_integer() == 0;
}

class StepsAsStages {
 public:
  StepsAsStages(const ir::Pipeline& pipeline, const FewSteps& few) : result_(pipeline), few_(few) {}

  ir::Pipeline run() {
    std::vector<ir::StagePtr> stages = std::move(result_.stages);
    result_.stages.clear();
    Evolutions evolutions(replaced_);
    for (const ir::StagePtr& stage : stages) {
      if (const auto found = few_.find(stage.get()); found != few_.end())
        add_steps(stage, found->second);
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

  void add_steps(const ir::StagePtr& stage, const UnrolledSteps& steps) {
    const ir::StagePtr& initial = std::get<ir::Evolve>(stage->definition).evolution->fields[0].initial;
    if (steps.versions.empty()) {
      const ir::Expr pixel = ir::read(read_at_pixel(initial, stage->where));
      ir::Stage copy = *stage;
      copy.definition = ir::Pure{{{nullptr, pixel}}};
      return add(stage, following(copy));
    }
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
  const FewSteps& few_;
  Evolutions::Replaced replaced_;
};

}  // namespace

ir::Pipeline few_steps(const ir::Pipeline& pipeline, int most_rank) {
  FewSteps few;
  for (const ir::StagePtr& stage : pipeline.stages) {
    if (std::optional<UnrolledSteps> steps = few_steps_of(*stage, most_rank))
      few.emplace(stage.get(), *std::move(steps));
  }
  return few.empty() ? pipeline : StepsAsStages(pipeline, few).run();
}

}  // namespace weft::rewrite
