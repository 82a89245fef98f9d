// Walking and rewriting expressions.
#pragma once

#include <functional>
#include <optional>
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

/// Every expression that a stage's definition holds; those of an evolution's updates are theirs.
std::vector<Expr> expressions(const Stage& stage);
/// Every distinct Read of a stage's expressions, in order of evaluation.
std::vector<Expr> reads(const Stage& stage);
/// Whether each pixel of a stage of this domain reads the same pixel of the source: source(x, y, …) of a
/// source of the same box. Such a read cannot leave the box, so a border does not matter, but in a crop it
/// would.
bool reads_current_pixel(const Read& read, const Box& domain);
/// The constant that every lane of `e` is, or none.
std::optional<double> as_number(const Expr& e);
/// Whether it is made of constants and parameters, so that all pixels have the same.
bool is_same_everywhere(const Expr& e);
/// Whether two reads find the same pixel wherever their indices are the same: in the source and beyond it.
bool read_alike(const Read& a, const Read& b);
/// The read at a tap of the windows around it.
Read at_taps(Read read, const KnownTaps& known);
bool is_output(const Pipeline& pipeline, const Stage& stage);
/// The distinct stages and inputs that a stage needs: what it reads, and for an evolution its initial values
/// and what its updates read.
std::vector<StagePtr> sources(const Stage& stage);
/// The updates of an evolution, in order; none for any other stage.
std::vector<StagePtr> updates(const Stage& stage);
/// The field whose past a stage is, as an index into the evolution's fields; -1 for any other stage.
int field_of(const Stage* past, const Evolution& evolution);

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

/// The stage with its expressions rewritten; updates of an evolution stay as they are.
Stage rewritten(const Stage& stage, const std::function<Expr(const Expr&)>& rewrite);

/// The stages that outputs reach, producers first, inputs among them.
std::vector<StagePtr> topological_order(const std::vector<StagePtr>& outputs);

}  // namespace weft::ir
