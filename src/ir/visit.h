// Walking and rewriting expressions.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::ir {

/// The direct operands of a node, those inside folds and border constants included.
std::vector<Expr> operands(const Node& node);

/// Visits every distinct node below `root` once, operands before users, `root` last.
void visit(const Expr& root, const std::function<void(const Expr&)>& visitor);
void visit(const std::vector<Expr>& roots, const std::function<void(const Expr&)>& visitor);

/// Every expression that a stage's definition holds: conditions and values.
std::vector<Expr> expressions(const Stage& stage);
/// Every distinct Read of a stage's definition, in order of evaluation.
std::vector<Expr> reads(const Stage& stage);

/// Replaces nodes bottom up, sharing kept: `rule` gets a node whose operands are already rewritten and
/// returns its replacement or null to keep it. Loops keep their identity.
class Rewriter {
 public:
  explicit Rewriter(std::function<Expr(const Expr&)> rule) : rule_(std::move(rule)) {}
  Expr operator()(const Expr& e);

 private:
  std::shared_ptr<const Fold> rewritten(const std::shared_ptr<const Fold>& fold);
  Expr with_new_operands(const Expr& e);

  std::function<Expr(const Expr&)> rule_;
  std::unordered_map<const Node*, Expr> done_;
  std::unordered_map<const Fold*, std::shared_ptr<const Fold>> folds_;
  std::vector<Expr> kept_;  // keys of done_ stay alive
};

/// The stages that outputs reach, producers first, inputs among them.
std::vector<StagePtr> topological_order(const std::vector<StagePtr>& outputs);

}  // namespace weft::ir
