// Rewriting the expressions of every stage of a pipeline, reads following the stages that they read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/stage_ir.h"
#include "ir/visit.h"

namespace weft::rewrite {

using Rule = std::function<ir::Expr(const ir::Expr&)>;

/// `rule_for` makes the rule for one stage; it sees expressions whose operands and sources are rewritten
/// already. `of_updates` sees those of the updates of evolutions, which stay as they are without it.
ir::Pipeline rewrite_stages(const ir::Pipeline& pipeline,
                            const std::function<Rule(const ir::Stage&)>& rule_for,
                            const Rule& of_updates = nullptr);

/// Stages as they are, but for the needs that `need_of` gives them.
ir::Pipeline with_needs(const ir::Pipeline& pipeline,
                        const std::function<std::shared_ptr<const ir::Need>(const ir::Stage&)>& need_of);

/// As rewrite_stages(), with rules that put stages of their own in front of the one that they rewrite. `names`
/// are taken: a new stage inserts its own.
using RuleWithStages = std::function<Rule(const ir::Stage&, std::unordered_set<std::string>& names,
                                          std::vector<ir::StagePtr>& before)>;
ir::Pipeline with_stages_before(const ir::Pipeline& pipeline, const RuleWithStages& rule_for);

/// Evolutions with the stages that they read replaced, and their updates rewritten, if there is a rule.
class Evolutions {
 public:
  using Replaced = std::unordered_map<const ir::Stage*, ir::StagePtr>;
  /// `replaced` is looked into when an evolution comes.
  explicit Evolutions(const Replaced& replaced, Rule of_updates = nullptr)
      : replaced_(replaced), of_updates_(std::move(of_updates)) {}
  /// The stage itself, or the one that evolves by the rewritten evolution.
  ir::Stage operator()(const ir::Stage& stage);

 private:
  std::shared_ptr<const ir::Evolution> rewritten(const ir::Evolution& evolution) const;

  const Replaced& replaced_;
  Rule of_updates_;
  std::unordered_map<const ir::Evolution*, std::shared_ptr<const ir::Evolution>>
      done_;  // several stages share one
};

/// A read of the source at the current pixel: its own coordinates, no border.
ir::Read read_at_pixel(const ir::StagePtr& source, const Where& where);
/// `read` of another source of the same rank.
ir::Expr with_source(const ir::Expr& read, ir::StagePtr source);

}  // namespace weft::rewrite
