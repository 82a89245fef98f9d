// Windows that are too large to be unrolled, with every border: see rewrite/separate_windows.h.
#pragma once

#include <weft/weft.hpp>

#include <string>
#include <vector>

namespace weft::testing_support {

/// Sums, minima and maxima of boxes, and a window that is a column times a row.
/// T is the type of the image's pixels, A that of the sums.
template <class T, class A>
Pipeline large_windows(const std::string& name, bool strict) {
  const Image<T> in("in");
  const auto wide = [](Expr e) { return cast<A>(e); };
  const auto sum_of = [&](const char* stage_name, const Domain& domain, const Accessor& source) {
    return stage(stage_name, in.size(), [&](Var x, Var y) {
      return sum(domain, [&](Tap t) { return wide(source(x + t.x, y + t.y)); });
    });
  };
  const Mask mask = Mask::outer({1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1},
                                {1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1});
  // Lines beside the pixel.
  const std::vector<Mask::Coefficient> ones(19, 1);
  const Domain to_one_side(Mask::outer(ones, {0, 0, 1})), to_the_other(Mask::outer({0, 0, 0, 0, 1}, ones));
  Outputs outputs{
      sum_of("clamp_sum", Domain(17, 23), in.border(Border::clamp())),
      sum_of("constant_sum", Domain(31, 8), in.border(Border::constant(7))),
      local("mirror_max", in.border(Border::mirror()), Domain(23, 19), Local::Max),
      local("mirror101_min", in.border(Border::mirror101()), Domain(16, 16), Local::Min),
      local("constant_max", in.border(Border::constant(3)), Domain(13, 17), Local::Max),
      sum_of("repeat_sum", Domain(21, 21), in.border(Border::repeat())),
      sum_of("line_sum", to_one_side, in.border(Border::mirror())),
      local("line_max", in.border(Border::constant(9)), to_the_other, Local::Max),
      convolve("mask", in.border(Border::constant(5)), mask),
  };
  return Pipeline(name, outputs.strict(strict));
}

/// What needs no border, since the result is smaller than the image.
template <class T, class A>
Pipeline large_windows_inside(const std::string& name) {
  const Image<T> in("in");
  const BoxAt inside{{12, 7}, Extents(in.width() - 24, in.height() - 13)};
  const Stage sums = stage("sums", inside, [&](Var x, Var y) {
    return sum(Domain(25, 14), [&](Tap t) { return cast<A>(in(x + t.x, y + t.y)); });
  });
  return Pipeline(name, local("mean", sums.border(Border::clamp()), Domain(15, 15), Local::Mean));
}

}  // namespace weft::testing_support
