// Comparing images scalar by scalar.
#pragma once

#include <weft/buffer.h>

#include <string>

namespace weft::testing_support {

/// How far a result may be from the expected one.
struct Bound {
  double largest = 0;  ///< Difference of any scalar.
  double share = 1;    ///< Of the scalars that differ at all, of all scalars; at least one may.
};

/// Equal values. NaN equals NaN, and -0 equals 0.
inline constexpr Bound exactly{};

/// Empty if the images agree; else where they differ first, how many scalars do, and by how much at most.
std::string difference(const Buffer& expected, const Buffer& got, const Bound& bound = exactly);

}  // namespace weft::testing_support
