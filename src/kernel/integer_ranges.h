// The values that integers of a kernel can take, from their types and what is computed of them.
#pragma once

#include "kernel/ir.h"

namespace weft::kernel {

/// Ends beyond 2^53 are rounded to nearest.
struct IntegerRange {
  double low, high;

  bool within(const IntegerRange& o) const { return o.low <= low && high <= o.high; }
  bool operator==(const IntegerRange&) const = default;
};

/// Of floats, everything.
IntegerRange range_of(Scalar type);
IntegerRange range_of_constant(Scalar type, const ir::Value& value);
/// All that is in one of the two.
IntegerRange hull(const IntegerRange& a, const IntegerRange& b);
/// Of the exact result, however many bits it needs; everything for operators that are not followed.
IntegerRange range_of_result(ir::BinaryOp op, const IntegerRange& a, const IntegerRange& b);

}  // namespace weft::kernel
