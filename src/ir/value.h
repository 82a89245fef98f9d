// Constant pixels and the arithmetic on them: this file and value.cpp define what every operator of the
// language computes. There is no undefined behaviour: signed integers wrap, x/0 and x%0 are 0, shift counts
// are taken modulo the width, and float to integer truncates and saturates (NaN gives 0).
#pragma once

#include <weft/types.h>

#include <array>
#include <cstdint>
#include <string>

namespace weft::ir {

enum class UnaryOp {
  Neg,
  Not,
  BitNot,
  Abs,
  Sqrt,
  Exp,
  Log,
  Sin,
  Cos,
  Tan,
  Atan,
  Tanh,
  Floor,
  Ceil,
  Rint,
  Trunc
};
enum class BinaryOp {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Min,
  Max,
  Pow,
  Atan2,  // operands and result have one type
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
/// How a cast treats what the target cannot hold.
/// Convert: C++'s conversion (integers wrap), and float to integer truncates and saturates.
/// Saturate: clamps to the target's range after rounding half to even.
enum class CastMode { Convert, Saturate };

std::string name_of(UnaryOp op);
std::string name_of(BinaryOp op);
bool is_comparison(BinaryOp op);
bool is_transcendental(UnaryOp op);  ///< exp, log, sine and the like: tens of operations.
bool is_transcendental(BinaryOp op);

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
