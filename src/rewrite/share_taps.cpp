#include "rewrite/share_taps.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/interior.h"
#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {

using ir::Expr;

namespace {

// A stage of its own costs a store and, per tap, a load: worth it from some arithmetic per tap and some taps
// on.
constexpr int least_operations = 4;
constexpr std::size_t least_taps = 4;

/// Those of an operator alone, 0 if it is none.
int operations_of(const ir::Node& e) {
  const auto* unary = std::get_if<ir::Unary>(&e.op);
  const auto* binary = std::get_if<ir::Binary>(&e.op);
  if ((unary && ir::is_transcendental(unary->op)) || (binary && ir::is_transcendental(binary->op)))
    return least_operations * e.type.lanes;
  return unary || binary || std::holds_alternative<ir::Select>(e.op) ? e.type.lanes : 0;
}

/// The read of (x + t.x, y + t.y, …) that all of an expression's values come from.
struct TapRead {
  const ir::Read* read;
  Expr node;
};

class TapSharing {
 public:
  TapSharing(const ir::Loop& loop, const std::vector<Expr>& body) : loop_(loop) {
    for (const Expr& e : body) find_largest(e);
  }

  /// The largest expressions worth a stage, each a function of one read alone.
  const std::vector<std::pair<Expr, TapRead>>& found() const { return found_; }

 private:
  /// The read that `e` is a function of; nothing if it depends on anything else but constants and parameters.
  /// `operations` counts what is computed from it.
  bool is_function_of_one_read(const Expr& e, std::optional<TapRead>& read, int& operations,
                               std::unordered_set<const ir::Node*>& seen) const {
    if (!seen.insert(e.get()).second) return true;
    if (const auto* r = std::get_if<ir::Read>(&e->op)) {
      if (!analysis::is_at_tap(*r, loop_) || (read && !ir::read_alike(*read->read, *r))) return false;
      if (!read) read = TapRead{r, e};
      return true;
    }
    const bool is_leaf =
        std::holds_alternative<ir::Const>(e->op) || std::holds_alternative<ir::ParamRef>(e->op);
    const bool moves = std::holds_alternative<ir::Cast>(e->op) || std::holds_alternative<ir::Pack>(e->op) ||
                       std::holds_alternative<ir::Lane>(e->op);
    if (!is_leaf && !moves && operations_of(*e) == 0) return false;
    operations += operations_of(*e);
    for (const Expr& operand : ir::operands(*e)) {
      if (!is_function_of_one_read(operand, read, operations, seen)) return false;
    }
    return true;
  }

  void find_largest(const Expr& e) {
    std::optional<TapRead> read;
    std::unordered_set<const ir::Node*> seen;
    int operations = 0;
    if (is_function_of_one_read(e, read, operations, seen) && read) {
      if (operations >= least_operations) found_.emplace_back(e, *read);
      return;
    }
    if (std::holds_alternative<ir::FoldResult>(e->op) || std::holds_alternative<ir::Median>(e->op)) return;
    for (const Expr& operand : ir::operands(*e)) find_largest(operand);
  }

  const ir::Loop& loop_;
  std::vector<std::pair<Expr, TapRead>> found_;
};

/// `e` with every read replaced by `with`.
Expr with_reads(const Expr& e, const Expr& with) {
  ir::Rewriter rewrite(
      [&](const Expr& node) { return std::holds_alternative<ir::Read>(node->op) ? with : nullptr; });
  return rewrite(e);
}

/// Shares the taps of one stage's folds; what it needs in front of the stage collects in `shared`.
class StageSharing {
 public:
  StageSharing(const ir::Stage& stage, std::unordered_set<std::string>& names,
               std::vector<ir::StagePtr>& shared)
      : stage_(stage), names_(names), shared_(shared) {}

  Expr operator()(const Expr& e) {
    const auto* result = std::get_if<ir::FoldResult>(&e->op);
    if (!result || result->fold->loop->domain.points.size() < least_taps) return nullptr;
    auto [entry, is_new] = folds_.try_emplace(result->fold.get());
    if (is_new) {
      kept_.push_back(result->fold);
      entry->second = with_shared_taps(*result->fold);
    }
    if (!entry->second) return nullptr;
    return std::make_shared<const ir::Node>(
        ir::Node{e->type, ir::FoldResult{entry->second, result->accumulator}});
  }

 private:
  std::shared_ptr<const ir::Fold> with_shared_taps(const ir::Fold& fold) {
    const TapSharing sharing(*fold.loop, fold.next);
    if (sharing.found().empty()) return nullptr;
    auto copy = std::make_shared<ir::Fold>(fold);
    for (const auto& [value, tap] : sharing.found()) {
      ir::Read read = *tap.read;
      read.source = shared_.emplace_back(stage_for(value, *tap.read));
      if (read.border && read.border->constant)
        read.border->constant = with_reads(value, read.border->constant);
      const Expr original = value,
                 instead = std::make_shared<const ir::Node>(ir::Node{value->type, std::move(read)});
      ir::Rewriter replace([&](const Expr& node) { return node == original ? instead : nullptr; });
      for (Expr& next : copy->next) next = replace(next);
    }
    return copy;
  }

  ir::StagePtr stage_for(const Expr& value, const ir::Read& at_tap) {
    std::string name = stage_.name + "_tap";
    while (!names_.insert(name).second) name += "_";
    const Expr once = with_reads(value, ir::read(read_at_pixel(at_tap.source, at_tap.where)));
    return std::make_shared<const ir::Stage>(
        ir::Stage{name, value->type, at_tap.source->box, ir::Pure{{{nullptr, once}}}, stage_.where});
  }

  const ir::Stage& stage_;
  std::unordered_set<std::string>& names_;
  std::vector<ir::StagePtr>& shared_;
  std::unordered_map<const ir::Fold*, std::shared_ptr<const ir::Fold>> folds_;
  std::vector<std::shared_ptr<const ir::Fold>> kept_;  // keys of folds_ stay alive
};

}  // namespace

ir::Pipeline share_taps(const ir::Pipeline& pipeline) {
  return with_stages_before(pipeline, [](const ir::Stage& stage, auto& names, auto& shared) -> Rule {
    auto sharing = std::make_shared<StageSharing>(stage, names, shared);
    return [sharing](const Expr& e) { return (*sharing)(e); };
  });
}

}  // namespace weft::rewrite
