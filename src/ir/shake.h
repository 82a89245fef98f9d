// Random roundings. Compiled code may round otherwise than the interpreter: it contracts a * b + c,
// multiplies with reciprocals, and has mathematical functions of its own. How much that may count for a pixel
// depends on the pipeline and on the images: a thousandth of a pixel's distance counts much at an edge, and
// nothing in a plain. So the interpreter is run again with roundings that are a little off at random, as in
// Monte Carlo arithmetic (D. S. Parker, 1997); how far its results come to lie apart is how much roundings
// count.
#pragma once

#include <cstdint>
#include <random>

#include "ir/value.h"

namespace weft::ir {

class Shake {
 public:
  explicit Shake(std::uint64_t seed) : random_(seed) {}

  /// The result of the operation, or a number close by: a neighbour if the result was rounded, one of the
  /// four to either side for mathematical functions. Results that are exact, of integers above all, stay.
  Number operator()(UnaryOp op, Scalar s, Number a, Number result);
  Number operator()(BinaryOp op, Scalar s, Number a, Number b, Number result);

 private:
  Number near(Scalar s, Number result, int most);

  std::mt19937_64 random_;
};

}  // namespace weft::ir
