#include "kernel/drop_borders.h"

#include "kernel/build.h"
#include "kernel/value_ranges.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

class Dropping {
 public:
  void walk(Block& block) {
    const auto outer = ranges_.names;
    for (Stmt& s : block) {
      each_operand(s, [&](Expr& e) { e = dropped(e); });
      if (const auto* let = std::get_if<Let>(&s.op)) ranges_.declare(*let);
      if (const auto* loop = std::get_if<For>(&s.op)) ranges_.declare(*loop);
      each_block(s, [&](Block& inside) { walk(inside); });
    }
    ranges_.names = outer;
  }

 private:
  Expr dropped(const Expr& e) const {
    return rewritten(e, [&](const Expr& part) -> Expr {
      if (const auto* test = std::get_if<Select>(&part->op))
        return surely_holds(test->condition) ? dropped(test->a) : nullptr;
      const auto* index = std::get_if<IndexCall>(&part->op);
      const auto extent = index ? literal_value(index->b) : std::nullopt;
      if (!extent || *extent < 1 || index->op == IndexOp::FloorDiv) return nullptr;
      const ValueRange inside{0, static_cast<double>(*extent - 1)};
      return ranges_.of(index->a).within(inside) ? dropped(index->a) : nullptr;
    });
  }

  /// Whether an integer is inside of what the condition asks for, whatever the pixels are.
  bool surely_holds(const Expr& condition) const {
    const auto* n = std::get_if<Binary>(&condition->op);
    if (!n || is_float(n->a->type)) return false;
    if (n->op == ir::BinaryOp::And) return surely_holds(n->a) && surely_holds(n->b);
    const ValueRange a = ranges_.of(n->a), b = ranges_.of(n->b);
    switch (n->op) {
      case ir::BinaryOp::Lt: return a.high < b.low;
      case ir::BinaryOp::Le: return a.high <= b.low;
      default: return false;
    }
  }

  KnownRanges ranges_;
};

}  // namespace

void drop_borders(Function& function) { Dropping().walk(function.body); }

}  // namespace weft::kernel
