// The least multiple of a unit that is not less than a number: round_up(130, 32) is 160. Of what is not
// negative.
#pragma once

namespace weft {

template <class T>
constexpr T round_up(T n, T unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace weft
