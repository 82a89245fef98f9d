// Which integers of a function may be truncated floats. GCC 12 joins the conversion back to a float with the
// truncation, so strict C++ has to keep them apart (emit/c_like.cpp).
//
//     const int32_t v = truncate_i32_f32(a);   v may be
//     const int32_t w = v + 1;                 so may w, since what is computed from one counts, too
#pragma once

#include <set>

#include "kernel/ir.h"

namespace weft::emit {

class TruncatedFloats {
 public:
  TruncatedFloats() = default;  ///< Where nothing may be.
  explicit TruncatedFloats(const kernel::Block& body);

  bool may_be(const kernel::Expr& integer) const;

 private:
  std::set<kernel::Symbol> names_;  ///< Variables, pointers and arrays.
};

}  // namespace weft::emit
