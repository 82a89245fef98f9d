// Reading between the samples, and images of another size.
//
//     auto src = in.border(Border::clamp()).interpolate(Interpolation::Bicubic);
//     Stage turned = stage("turned", in.size(), [&](Var x, Var y) { return src(c * x - s * y, s * x + c * y);
//     }); Stage small = resize("small", in.border(Border::clamp()), {640, 480}, Interpolation::Lanczos3);
//
// Coordinates are indices: sample i lies at u = i, its area reaches from i - 1/2 to i + 1/2. So an image of w
// samples is as wide as one of W where u + 1/2 = (x + 1/2) * w / W.
#pragma once

#include <weft/stage.h>

#include <string>

namespace weft {

/// A source of one to three dimensions, read at real coordinates through a border mode.
///
/// The value is a sum over the samples around (2, 4 or 6 per dimension), weighted by the product of one
/// kernel per dimension; the weights of a dimension sum to 1. The border mode applies to each sample's index.
///   Nearest    the sample floor(u + 1/2); keeps the source's type
///   Bilinear   1 - |t|
///   Bicubic    Keys 1981, a = -1/2:  1.5|t|^3 - 2.5|t|^2 + 1  and  -0.5|t|^3 + 2.5|t|^2 - 4|t| + 2  from 1
///   to 2 Lanczos3   sinc(t) sinc(t/3), |t| < 3, divided by the sum of the six weights
/// All but Nearest compute in float, in double if the source's scalars have 64 bits.
class Interpolated {
 public:
  /// Throws weft::Error for a source without a border or with other than one to three dimensions.
  Interpolated(const Accessor& source, Interpolation kernel, const Where& where);

  // One coordinate per dimension, a scalar each, in units of samples.
  Expr operator()(const At& u) const;
  Expr operator()(const At& u, const At& v) const;
  Expr operator()(const At& u, const At& v, const At& w) const;

 private:
  Expr read(const std::vector<At>& at) const;

  Accessor source_;
  Interpolation kernel_;
};

/// The whole of `source` resampled to `extents`, which have the source's rank, one to three.
///
/// Pixel x lies at u = (x + 1/2) * w / W - 1/2 of a source of w samples; Nearest reads the sample
/// floor((2 * x + 1) * w / (2 * W)), in integers. There is no low-pass filter before: make small images from
/// large ones by way of a pyramid.
///
/// Nearest keeps the source's type; the others give float, or double for 64-bit scalars. `post` is applied to
/// the result in the same stage. Indices and weights are stages of their own, so that no pixel computes them
/// again: NAME_index_x, NAME_weight_x, ... Bicubic and Lanczos3 resample one dimension after the other, in
/// stages NAME_x, ...
Stage resize(const std::string& name, const Accessor& source, const Extents& extents, Interpolation kernel,
             std::source_location here = std::source_location::current());
Stage resize(const std::string& name, const Accessor& source, const Extents& extents, Interpolation kernel,
             const Post& post, std::source_location here = std::source_location::current());

}  // namespace weft
