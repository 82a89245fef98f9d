// A vector loop along a row that computes several pixels at a time, one of each phase (phases.h).
//
//     for i:   out[2 * i] = (c[i - 1] + c[i]) * .5,   out[2 * i + 1] = (c[i] + c[i + 1]) * .5
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "kernel/ir.h"
#include "lower/expressions.h"
#include "lower/layout.h"
#include "lower/phases.h"
#include "lower/strip_pixels.h"

namespace weft::lower {

class PhaseLoop {
 public:
  /// Of stages of one box and as many phases each, at the coordinates of a row. Steps count from `first`, or from the step
  /// with the pixel 0. What stages have in common is computed once.
  PhaseLoop(const KernelContext& kernel, Place place, std::vector<Phases> stages,
            std::vector<kernel::Expr> coords, const kernel::Expr& first = kernel::literal(0));
  PhaseLoop(const PhaseLoop&) = delete;
  PhaseLoop& operator=(const PhaseLoop&) = delete;
  ~PhaseLoop();

  ExpressionLowering& expressions() { return expressions_; }
  /// The pixels from one x to before another, counted from the first of the first step and both multiples of the number of
  /// phases; each stage's pixel x goes to its target. The expressions are open.
  kernel::For pixels(const kernel::Expr& from, const kernel::Expr& to,
                     const std::function<StripTarget(std::size_t stage, const kernel::Expr& x)>& target_of);

 private:
  Layout& layout_;
  const std::vector<Phases> stages_;
  const std::unordered_map<const ir::Node*, std::string> names_;
  ExpressionLowering expressions_;
};

}  // namespace weft::lower
