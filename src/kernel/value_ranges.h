// The values that numbers of a kernel can take, from their types and what is computed of them.
//
//     (int32_t)(10.0f * min(max(in[i], 0.0f), 1.0f))     from 0 to 10, whatever in[i] is: NaN becomes 0
#pragma once

#include <map>
#include <vector>

#include "kernel/ir.h"

namespace weft::kernel {

/// Ends beyond 2^53 are rounded to nearest. A float may be NaN besides.
struct ValueRange {
  double low, high;

  bool within(const ValueRange& o) const { return o.low <= low && high <= o.high; }
  bool operator==(const ValueRange&) const = default;
};

ValueRange range_of(Scalar type);
ValueRange range_of_constant(Scalar type, const ir::Value& value);
/// All that is in one of the two.
ValueRange hull(const ValueRange& a, const ValueRange& b);
/// Of the exact result of integers, however many bits it needs; everything for operators that are not followed.
ValueRange range_of_result(ir::BinaryOp op, const ValueRange& a, const ValueRange& b);
/// Of floats, where results may be off by some units in the last place.
ValueRange range_of_float_result(const Binary& n, Scalar type, const ValueRange& a, const ValueRange& b);
/// Before bits are cut off.
ValueRange range_of_cast(const Cast& n, Scalar to, const ValueRange& a);

/// The ranges of what is visible at a place of a function.
class KnownRanges {
 public:
  ValueRange of(const Expr& e) const;
  /// From here on the variable is known by its value, unless that may change.
  void declare(const Let& let);
  /// Within the loop its variable is from where it begins to before where it ends.
  void declare(const For& loop);
  /// The arrays that a pointer may point into; an array itself.
  std::vector<Symbol> arrays_of(const Symbol& name) const;

  std::map<Symbol, ValueRange> names;            ///< Variables that do not change.
  std::map<Symbol, std::vector<Symbol>> points;  ///< Pointers, by the arrays that they may point into.
  std::map<Symbol, ValueRange> stored;           ///< Local arrays, by what is ever stored in them.

 private:
  ValueRange exact_range(const Expr& e) const;
  ValueRange of_array(const Symbol& name, const ValueRange& all) const;
};

}  // namespace weft::kernel
