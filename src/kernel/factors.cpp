#include "kernel/factors.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

/// The shifts, sums and differences that a product by a number takes at least: it is made of powers of two, as few as
/// possible (the non-adjacent form), and the first of them needs no sum.
int shifts_and_sums_for(std::int64_t number) {
  int shifts = 0, sums = -1;
  std::int64_t rest = std::abs(number);
  for (int power = 0; rest != 0; ++power, rest >>= 1) {
    if (rest % 2 == 0) continue;
    shifts += power > 0;
    ++sums;
    rest -= rest % 4 == 3 ? -1 : 1;
  }
  return shifts + sums;
}

/// Compilers know by this factor, the last of several steps, that bits are counted, for which there may be an instruction.
constexpr std::int64_t sum_of_bytes = 0x01010101;

bool is_worth_hiding(std::int64_t factor) {
  return shifts_and_sums_for(factor) > 2 && factor != sum_of_bytes;
}

/// Of a product of 32-bit integers by a constant that is worth hiding, the constant.
const Expr* factor_in(const Expr& e) {
  const auto* product = std::get_if<Binary>(&e->op);
  if (!product || product->op != ir::BinaryOp::Mul || (e->type != Scalar::I32 && e->type != Scalar::U32))
    return nullptr;
  for (const Expr* side : {&product->a, &product->b}) {
    const auto* constant = std::get_if<Const>(&(*side)->op);
    if (constant && is_worth_hiding(constant->value.as_integer())) return side;
  }
  return nullptr;
}

/// The names that the loops of a block have for their factors.
class FactorsOfBlock {
 public:
  explicit FactorsOfBlock(Names& names) : names_(names) {}

  /// Returns the names that are new, which stand before the loop.
  Block hide_in(For& loop) {
    rewrite_expressions(loop.body, [this](const Expr& e) { return with_name(e); });
    return std::exchange(new_, {});
  }

 private:
  /// Null if it is no such product.
  Expr with_name(const Expr& e) {
    const Expr* factor = factor_in(e);
    if (!factor) return nullptr;
    const auto& product = std::get<Binary>(e->op);
    const auto side = [&](const Expr& operand) {
      if (operand == *factor) return name_of(operand);
      return rewritten(operand, [this](const Expr& part) { return with_name(part); });
    };
    return binary(ir::BinaryOp::Mul, side(product.a), side(product.b));
  }
  Expr name_of(const Expr& factor) {
    const std::int64_t value = std::get<Const>(factor->op).value.as_integer();
    const auto [found, is_new] = named_.try_emplace({factor->type, value});
    if (is_new) {
      const Symbol symbol = names_.claim(fmt::format("factor_{}{}", value < 0 ? "m" : "", std::abs(value)));
      new_.push_back({Let{.name = symbol, .value = factor, .is_opaque = true}});
      found->second = name(symbol, factor->type);
    }
    return found->second;
  }

  Names& names_;
  std::map<std::pair<Scalar, std::int64_t>, Expr> named_;
  Block new_;
};

void hide_in(Block& block, Names& names) {
  FactorsOfBlock factors(names);
  Block result;
  for (Stmt& statement : block) {
    each_block(statement, [&](Block& within) { hide_in(within, names); });
    auto* loop = std::get_if<For>(&statement.op);
    if (loop && loop->kind == LoopKind::Vector) append(result, factors.hide_in(*loop));
    result.push_back(std::move(statement));
  }
  block = std::move(result);
}

}  // namespace

void hide_factors(Function& function, Names names) {
  avoid_declared_in(function, names);
  hide_in(function.body, names);
}

}  // namespace weft::kernel
