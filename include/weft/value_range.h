// The values that a parameter or an option may have:
//
//     const Param<int> steps("steps", 1, at_least(0));
//     const Option<int> levels("levels", 4, between(1, 16));
#pragma once

#include <limits>
#include <string>

namespace weft {

/// Numbers from `least` to `most`, ends included; all numbers unless said. NaN is in no range with an end.
struct ValueRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  bool has_least() const { return least > -std::numeric_limits<double>::infinity(); }
  bool has_most() const { return most < std::numeric_limits<double>::infinity(); }
  bool contains(double value) const {
    return (!has_least() || value >= least) && (!has_most() || value <= most);
  }
  bool operator==(const ValueRange&) const = default;
};

inline ValueRange at_least(double least) { return {.least = least}; }
inline ValueRange at_most(double most) { return {.most = most}; }
inline ValueRange between(double least, double most) { return {least, most}; }

std::string text_of(const ValueRange& range);  ///< "at least 0", "at most 1", "from 0 to 1"; or "".

}  // namespace weft
