// The coordinates of strips that march in steps of several rows and columns (schedule/marching.h):
//
//     steps of 2 columns over [-3, 8):   the first strip begins at -4, the last one ends at 8
//     a source of rate 1, at the same place:               -2                      4
#pragma once

#include <vector>

#include "kernel/build.h"
#include "lower/rows.h"

namespace weft::lower {

class Steps {
 public:
  /// Of a result over that box.
  Steps(std::vector<int> step, const ir::Box& box, const Layout& layout)
      : step_(std::move(step)), box_(box), rows_(box, layout) {}

  int operator[](int d) const { return step_[d]; }
  /// Where the first strips begin: so that steps divide the coordinates of all of them.
  kernel::Expr origin(int d) const;
  /// From there to the end of the result.
  kernel::Expr extent(int d) const;
  /// Where the step ends that has the last coordinate before `end`.
  kernel::Expr whole(const kernel::Expr& end, int d) const;
  /// A coordinate of the result that its step divides, at the rate of a source.
  kernel::Expr at_rate(const kernel::Expr& coordinate, int d, int rate) const;

 private:
  const std::vector<int> step_;  // by dimension
  const ir::Box& box_;
  const Rows rows_;
};

}  // namespace weft::lower
