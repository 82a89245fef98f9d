// The operators on values, once for everybody: how each is written and what it makes of expressions.
#pragma once

#include <weft/expr.h>

#include <string>
#include <vector>

#include "fuzz/recipe.h"

namespace weft::fuzz {

struct Operator {
  enum class Form { Prefix, Infix, Call };
  const char* text;
  int arity;
  Form form;
  Expr (*apply)(const std::vector<Expr>& operands);
};

const Operator& operator_of(Op op);
/// Null for what is no function of floats.
const ir::Function* function_of(Op op);
/// "a + b", "sqrt(a)": the operands have been put in parentheses where they need them.
std::string spelt(Op op, const std::vector<std::string>& operands);

struct AssociativeOperator {
  const char* text;  ///< Of two values a and b.
  Expr (*combine)(const Expr& a, const Expr& b);
  std::int64_t (*identity)(int lane);
  bool commutes;
};
const AssociativeOperator& operator_of(Associative op);

const char* name_of(Combine combine);
Expr combined(Combine combine, const Domain& domain, const std::function<Expr(Tap)>& value);

}  // namespace weft::fuzz
