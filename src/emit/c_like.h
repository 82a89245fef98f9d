// Prints kernel expressions and statements as C. The spelling of what C lacks is left to helper functions of
// the prelude; the printer notes which ones it used.
#pragma once

#include <set>
#include <string>

#include "emit/writer.h"
#include "ir/kernel_ir.h"

namespace weft::emit {

std::string c_type(Scalar s);

class CLike {
 public:
  /// Unless strict, functions may be approximated within a few ulp.
  CLike(Writer& out, bool strict) : out_(out), strict_(strict) {}

  void print(const kernel::Block& block);
  std::string text(const kernel::Expr& e);  ///< The expression, without outer parentheses.

  /// The name of a helper function, noted as used.
  std::string helper(const std::string& name);
  const std::set<std::string>& used_helpers() const { return helpers_; }
  /// C's mathematical functions that were called: "expf", "pow", …
  const std::set<std::string>& used_functions() const { return functions_; }

 private:
  void print(const kernel::Stmt& statement);
  std::string spelt(const kernel::Expr& e, int context);
  std::string binary(const kernel::Node& node, const kernel::Binary& n, int context);
  std::string operand(const kernel::Expr& e, const kernel::Expr& other, int context);
  std::string wide(const kernel::Expr& e, int context);
  std::string cast(const kernel::Node& node, const kernel::Cast& n);
  std::string function(const std::string& name, Scalar type);
  std::string initializer(const kernel::Expr& e);

  Writer& out_;
  bool strict_;
  std::set<std::string> helpers_, functions_;
};

/// A literal of the type; floats with the fewest digits that read back exactly.
std::string c_literal(Scalar type, ir::Number value);

}  // namespace weft::emit
