// The functions of floats: everything that Weft knows of one is a row here. The operators' enumerators, their
// meaning (C++'s function of the name in C), types, costs, spelling, the language's functions and the random
// pipelines read these rows; include/weft/expr.h declares what the language calls them.
#pragma once

// Enumerator, name in the language, in C (where an f after it makes it that of floats), what it costs, whether
// glibc has it for vectors, the least and the greatest value, and how steep it is at most. The last three let
// random pipelines say how far results may differ: values are unbounded if they may also be no number, and a
// slope that is leaves it to exact operands.
#define WEFT_FUNCTIONS_OF_ONE(ROW)                                       \
  ROW(Sqrt, sqrt, sqrt, Moderate, false, 0, unbounded, unbounded)        \
  ROW(Exp, exp, exp, High, true, 0, unbounded, unbounded)                \
  ROW(Log, log, log, High, true, -unbounded, unbounded, unbounded)       \
  ROW(Sin, sin, sin, High, true, -1, 1, 1)                               \
  ROW(Cos, cos, cos, High, true, -1, 1, 1)                               \
  ROW(Tan, tan, tan, High, true, -unbounded, unbounded, unbounded)       \
  ROW(Atan, atan, atan, High, true, -1.6, 1.6, 1)                        \
  ROW(Tanh, tanh, tanh, High, true, -1, 1, 1)                            \
  ROW(Floor, floor, floor, Low, false, -unbounded, unbounded, unbounded) \
  ROW(Ceil, ceil, ceil, Low, false, -unbounded, unbounded, unbounded)    \
  ROW(Rint, round, rint, Low, false, -unbounded, unbounded, unbounded)   \
  ROW(Trunc, trunc, trunc, Low, false, -unbounded, unbounded, unbounded) \
  ROW(Asin, asin, asin, High, false, -unbounded, unbounded, unbounded)   \
  ROW(Acos, acos, acos, High, false, -unbounded, unbounded, unbounded)   \
  ROW(Cbrt, cbrt, cbrt, High, false, -unbounded, unbounded, unbounded)   \
  ROW(Exp2, exp2, exp2, High, false, 0, unbounded, unbounded)            \
  ROW(Log2, log2, log2, High, false, -unbounded, unbounded, unbounded)   \
  ROW(Erf, erf, erf, High, false, -1, 1, 1.2)

#define WEFT_FUNCTIONS_OF_TWO(ROW)                                 \
  ROW(Pow, pow, pow, High, true, -unbounded, unbounded, unbounded) \
  ROW(Atan2, atan2, atan2, High, true, -3.2, 3.2, unbounded)       \
  ROW(Hypot, hypot, hypot, High, false, 0, unbounded, 1)
