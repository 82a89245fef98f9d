#include "rewrite/between_pixels.h"

#include <memory>

#include "analysis/footprint.h"
#include "analysis/interior.h"
#include "ir/build.h"
#include "ir/visit.h"

namespace weft::rewrite {

using ir::Expr;

namespace {

/// Whether an index along x is divided.
bool is_between(const ir::Read& read) {
  return !read.indices.empty() && analysis::access_of(read) == analysis::Access::Direct &&
         analysis::footprint(read)[0].divisor > 1;
}

/// What parts of a stage read: nothing, single lanes at pixels, those of coarser images as well, or pixels of several
/// lanes.
class Parts {
 public:
  enum class Reads { Nothing, Single, Between, Lanes };

  Reads of(const Expr& e) {
    const auto [known, is_new] = reads_.try_emplace(e.get(), Reads::Nothing);
    if (!is_new) return known->second;
    Reads reads = Reads::Nothing;
    for (const Expr& operand : ir::operands(*e)) reads = std::max(reads, of(operand));
    if (const auto* read = std::get_if<ir::Read>(&e->op)) {
      reads = std::max(reads, is_between(*read)               ? Reads::Between
                              : read->source->type.lanes == 1 ? Reads::Single
                                                              : Reads::Lanes);
    } else if (!is_simple(*e)) {
      reads = Reads::Lanes;
    }
    return reads_[e.get()] = reads;
  }

 private:
  /// A function of its operands, wherever the pixel is.
  static bool is_simple(const ir::Node& node) {
    const auto& op = node.op;
    return std::holds_alternative<ir::Const>(op) || std::holds_alternative<ir::ParamRef>(op) ||
           std::holds_alternative<ir::Unary>(op) || std::holds_alternative<ir::Binary>(op) ||
           std::holds_alternative<ir::Select>(op) || std::holds_alternative<ir::Cast>(op) ||
           std::holds_alternative<ir::Pack>(op) || std::holds_alternative<ir::Lane>(op);
  }

  std::unordered_map<const ir::Node*, Reads> reads_;
};

}  // namespace

bool has_parts(const ir::Stage& stage) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  return pure && pure->cases.size() == 1 && !pure->cases[0].when;
}

bool reads_lanes_at_pixels(const ir::Stage& stage) {
  for (const Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    if (!is_between(read) && !read.indices.empty() && read.source->type.lanes > 1) return true;
  }
  return false;
}

std::optional<BetweenPixels> between_pixels(const ir::Stage& stage,
                                            const std::unordered_map<const ir::Node*, std::string>& names) {
  if (!has_parts(stage)) return std::nullopt;
  const ir::Expr& value = std::get<ir::Pure>(stage.definition).cases[0].value;
  Parts parts;
  BetweenPixels result{stage, {}, {}};
  std::unordered_map<const ir::Node*, Expr> replaced;
  const auto take = [&](const auto& self, const Expr& e) -> void {
    const bool is_window =
        std::holds_alternative<ir::FoldResult>(e->op) || std::holds_alternative<ir::Median>(e->op);
    if (is_window || replaced.contains(e.get())) return;
    if (parts.of(e) != Parts::Reads::Between || std::holds_alternative<ir::Pack>(e->op)) {
      for (const Expr& operand : ir::operands(*e)) self(self, operand);
      return;
    }
    const ir::Stage of_part{stage.name + "_between", e->type, stage.box, ir::Pure{{{nullptr, e}}}, {}};
    result.between.push_back(std::make_shared<const ir::Stage>(of_part));
    std::vector<ir::Index> here;
    for (std::size_t d = 0; d < stage.box.size(); ++d)
      here.emplace_back(ir::Affine(ir::Coord{static_cast<int>(d)}));
    replaced[e.get()] = ir::read({result.between.back(), std::move(here), std::nullopt, stage.box, {}});
  };
  take(take, value);
  if (result.between.empty()) return std::nullopt;
  ir::Rewriter rewriter([&](const Expr& e) -> Expr {
    const auto found = replaced.find(e.get());
    return found == replaced.end() ? nullptr : found->second;
  });
  result.rest = ir::rewritten(stage, std::ref(rewriter));
  ir::visit(ir::expressions(stage), [&](const Expr& e) {
    const auto name = names.find(e.get());
    if (name != names.end()) result.names[rewriter(e).get()] = name->second;
  });
  return result;
}

}  // namespace weft::rewrite
