// Which 64-bit integers of a function are surely below 2^51: coordinates, sizes and what is computed of them, but no
// pixels and no parameters of that type. AVX2 and older processors have no instruction that converts vectors of 64-bit
// integers to floats; of such numbers a sum does it.
#pragma once

#include <map>

#include "kernel/ir.h"

namespace weft::emit {

class IndexValues {
 public:
  IndexValues() = default;  ///< Where nothing is known.
  IndexValues(const kernel::Function& function, const kernel::Module& module);

  bool is_one(const kernel::Expr& e) const;

 private:
  double bound(const kernel::Expr& e) const;  ///< Of the magnitude.

  bool known_ = false;
  std::map<kernel::Symbol, double> bounds_;  ///< Of variables and parameters.
};

}  // namespace weft::emit
