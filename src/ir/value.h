// Constant pixels and the arithmetic on them: this file and value.cpp define what every operator of the
// language computes. There is no undefined behaviour: signed integers wrap, x/0 and x%0 are 0, shift counts
// are taken modulo the width, and float to integer truncates and saturates (NaN gives 0).
#pragma once

#include <weft/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "ir/functions.h"

namespace weft::ir {

#define WEFT_ENUMERATOR(op, ...) op,
enum class UnaryOp { Neg, Not, BitNot, Abs, WEFT_FUNCTIONS_OF_ONE(WEFT_ENUMERATOR) };
enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Min,
  Max,
  WEFT_FUNCTIONS_OF_TWO(WEFT_ENUMERATOR)  // operands and result have one type
  And,
  Or,
  Xor,
  Shl,
  Shr,  // integers (And, Or, Xor also bool)
  Lt,
  Le,
  Eq,
  Ne  // result is bool
};
#undef WEFT_ENUMERATOR

/// A function of floats, a row of ir/functions.h. Integers are converted first.
struct Function {
  enum class Cost { Low, Moderate, High };  ///< High: tens of operations.
  const char *name, *c_name;                ///< In the language; in C, where that of floats has an f more.
  int operands;
  Cost cost;
  bool has_vectors;                  ///< In glibc, within 4 ulp.
  double least, greatest, steepest;  ///< Values, and slopes: infinite, if not known.
};
const Function* function_of(UnaryOp op);  ///< Null for other operators.
const Function* function_of(BinaryOp op);
std::span<const Function> functions();

/// How a cast treats what the target cannot hold.
/// Convert: C++'s conversion (integers wrap), and float to integer truncates and saturates.
/// Saturate: clamps to the target's range after rounding half to even.
enum class CastMode { Convert, Saturate };

std::string name_of(UnaryOp op);
std::string name_of(BinaryOp op);
bool is_comparison(BinaryOp op);
/// Functions of a high cost: exp, log, sine and the like.
template <class Op>
bool is_transcendental(Op op) {
  const Function* function = function_of(op);
  return function && function->cost == Function::Cost::High;
}

/// One lane: integers and bool in `i` (u64 as its bit pattern), floats in `f` (f32 exactly representable).
union Number {
  std::int64_t i;
  double f;
};

struct Value {
  Type type;
  std::array<Number, 4> lane{};

  static Value integer(Type type,
                       std::int64_t value);    ///< The same value in every lane, converted to `type`.
  static Value real(Type type, double value);  ///< Likewise from a double.
  double as_double(int l = 0) const;
  std::int64_t as_integer(int l = 0) const;  ///< Floats truncate and saturate.
  bool operator==(const Value& o) const;     ///< Same type and bits.
  std::string to_string() const;             ///< "0.25", "(1, 2, 3)"
};

Number apply(UnaryOp op, Scalar s, Number a);
Number apply(BinaryOp op, Scalar s, Number a, Number b);  ///< s is the operands' type.
Number convert(CastMode mode, Scalar from, Scalar to, Number a);

Number load(Scalar s, const void* address);         ///< Reads one scalar from memory.
void store(Scalar s, void* address, Number value);  ///< Writes one scalar to memory.

/// The identities of min and max: the largest and the least value of a type (infinities for floats).
Value largest(Type type);
Value least(Type type);

}  // namespace weft::ir
