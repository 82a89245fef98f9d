#include <weft/resample.h>

#include <fmt/format.h>

#include <functional>
#include <numbers>
#include <optional>
#include <vector>

#include "dsl/sampled.h"
#include "ir/affine.h"

namespace weft {
namespace {

/// The type in which pixels of `source` are combined.
Type real_of(Type source) { return {size_of(source.scalar) == 8 ? Scalar::F64 : Scalar::F32, 1}; }

Expr real(Type type, double value) {
  return type.scalar == Scalar::F64 ? Expr(value) : Expr(static_cast<float>(value));
}

/// Throws for a source that cannot be interpolated.
void check_source(const Accessor& source, const Where& where) {
  const std::string& name = source.source().name();
  if (source.rank() < 1 || source.rank() > 3) {
    throw Error(fmt::format("'{}' is {}-D and cannot be interpolated", name, source.rank()), where)
        .note("needs", "one to three dimensions");
  }
  if (!source.border_mode()) {
    throw Error(fmt::format("'{}' is interpolated without a border", name), where)
        .help(fmt::format("say what is outside: {}.border(Border::clamp()) or another mode", name));
  }
}

// ---- kernels ---------------------------------------------------------------------------------------------

int taps_of(Interpolation kernel) {
  switch (kernel) {
    case Interpolation::Nearest: return 1;
    case Interpolation::Bilinear: return 2;
    case Interpolation::Bicubic: return 4;
    case Interpolation::Lanczos3: break;
  }
  return 6;
}

/// The first tap, counted from the sample at or to the left of the coordinate.
int first_tap(Interpolation kernel) { return 1 - taps_of(kernel) / 2; }

/// sinc(t) sinc(t/3) at the six taps around a coordinate f behind a sample and e = 1 - f before the next one,
/// divided by their sum. All six have the factor sin(pi f), up to their signs; so f e can take its place.
/// Their other sines are sin(pi f/3), sin(pi e/3) and the sum of both.
std::vector<Expr> lanczos3(const Expr& f) {
  const Type type = f.type();
  const auto number = [&](double value) { return real(type, value); };
  const Expr third = number(std::numbers::pi / 3), e = number(1) - f;
  const Expr a = sin(third * f), b = sin(third * e), fe = f * e;
  const auto over_square = [](const Expr& s, const Expr& t) { return s / (t * t); };
  const auto at_center = [&](const Expr& s, const Expr& t) { return select(t == number(0), third, s / t); };
  std::vector<Expr> weights = {fe * over_square(b, number(2) + f),
                               -fe * over_square(a + b, number(1) + f),
                               e * at_center(a, f),
                               f * at_center(b, e),
                               -fe * over_square(a + b, number(1) + e),
                               fe * over_square(a, number(2) + e)};
  Expr total = weights[0];
  for (std::size_t k = 1; k < weights.size(); ++k) total = total + weights[k];
  const Expr scale = number(1) / total;
  for (Expr& weight : weights) weight = weight * scale;
  return weights;
}

/// The weights of the taps around a coordinate that lies f, 0 to 1, behind a sample.
std::vector<Expr> weights_at(Interpolation kernel, const Expr& f) {
  const auto number = [&](double value) { return real(f.type(), value); };
  switch (kernel) {
    case Interpolation::Nearest: return {number(1)};
    case Interpolation::Bilinear: return {number(1) - f, f};
    case Interpolation::Bicubic:
      return {f * (number(-.5) + f * (number(1) - number(.5) * f)),
              number(1) + f * f * (number(-2.5) + number(1.5) * f),
              f * (number(.5) + f * (number(2) - number(1.5) * f)), f * f * (number(-.5) + number(.5) * f)};
    case Interpolation::Lanczos3: break;
  }
  return lanczos3(f);
}

}  // namespace

// ---- reads at real coordinates ---------------------------------------------------------------------------

Interpolated Accessor::interpolate(Interpolation kernel, std::source_location here) const {
  return {*this, kernel, here};
}

Interpolated::Interpolated(const Accessor& source, Interpolation kernel, const Where& where)
    : source_(source), kernel_(kernel) {
  check_source(source, where);
}

namespace {

/// The samples around a coordinate, and their weights.
struct Taps {
  std::vector<Expr> indices, weights;
};

Taps taps_at(Interpolation kernel, const Expr& u, Type type) {
  if (kernel == Interpolation::Nearest)
    return {{cast<std::int64_t>(floor(u + real(u.type(), .5)))}, {real(type, 1)}};
  const Expr below = floor(u), index = cast<std::int64_t>(below);
  Taps taps{{}, weights_at(kernel, cast(type, u - below))};
  for (int k = 0; k < taps_of(kernel); ++k) taps.indices.push_back(index + (first_tap(kernel) + k));
  return taps;
}

/// The weighted sum over the taps of dimensions 0 to dims - 1, at the indices `at` of the others.
Expr weighted_sum(const Accessor& source, const std::vector<Taps>& taps, std::size_t dims,
                  std::vector<At>& at, Type type) {
  if (dims == 0) return cast(type, dsl::read_at(source, at));
  const Taps& along = taps[dims - 1];
  std::optional<Expr> total;
  for (std::size_t k = 0; k < along.indices.size(); ++k) {
    at[dims - 1] = along.indices[k];
    const Expr term = along.weights[k] * weighted_sum(source, taps, dims - 1, at, type);
    total = total ? *total + term : term;
  }
  return *total;
}

}  // namespace

Expr Interpolated::read(const std::vector<At>& at) const {
  const std::string& name = source_.source().name();
  if (static_cast<int>(at.size()) != source_.rank()) {
    throw Error(
        fmt::format("'{}' is interpolated at {} coordinate{}", name, at.size(), at.size() == 1 ? "" : "s"),
        at[0].where)
        .note("needs", fmt::format("{}, one per dimension", source_.rank()));
  }
  const Type type = real_of(source_.type());
  std::vector<Taps> taps;
  for (const At& one : at) {
    const Expr u = one.affine ? Expr(*one.affine) : *one.computed;
    if (u.type().lanes > 1) {
      throw Error(fmt::format("'{}' is interpolated at a coordinate of type {}", name, name_of(u.type())),
                  one.where)
          .help("a coordinate is a scalar; take one lane of the pixel with .lane(i)");
    }
    taps.push_back(taps_at(kernel_, u.type().scalar == Scalar::F64 ? u : cast(real_of(u.type()), u), type));
  }
  std::vector<At> indices = at;
  if (kernel_ != Interpolation::Nearest) return weighted_sum(source_, taps, taps.size(), indices, type);
  for (std::size_t d = 0; d < taps.size(); ++d) indices[d] = taps[d].indices[0];
  return dsl::read_at(source_, indices);
}

Expr Interpolated::operator()(const At& u) const { return read({u}); }
Expr Interpolated::operator()(const At& u, const At& v) const { return read({u, v}); }
Expr Interpolated::operator()(const At& u, const At& v, const At& w) const { return read({u, v, w}); }

// ---- images of another size ------------------------------------------------------------------------------

namespace {

/// Index i of a dimension of n samples after the border mode.
Expr bordered(const Expr& i, const Expr& n, Border::Mode mode) {
  const auto modulo = [&](const Expr& period) { return (i % period + period) % period; };
  switch (mode) {
    case Border::Mode::Clamp: return clamp(i, 0, n - 1);
    case Border::Mode::Repeat: return modulo(n);
    case Border::Mode::Mirror: return min(modulo(2 * n), 2 * n - 1 - modulo(2 * n));
    case Border::Mode::Mirror101: {
      const Expr period = max(2 * n - 2, 1);
      return min(modulo(period), period - modulo(period));
    }
    case Border::Mode::Constant: break;
  }
  return i;  // the read itself has to see that it is outside
}

/// One dimension of a resize.
class Resampled {
 public:
  Resampled(const std::string& name, int dim, Index from, Index to, Interpolation kernel, Border::Mode mode,
            Type type, const std::source_location& here)
      : kernel_(kernel) {
    const Extents extents{to, taps_of(kernel)};
    const std::string along = ir::dim_name(dim);
    const Expr w(from), W(to);
    index_ = stage(
        name + "_index_" + along, extents,
        [&](Var x, Var k) {
          const Expr i = kernel == Interpolation::Nearest
                             ? (2 * Expr(x) + 1) * w / (2 * W)
                             : whole(Expr(x), w, W) + Expr(k) + first_tap(kernel);
          return cast<int>(bordered(i, w, mode));
        },
        here);
    if (kernel == Interpolation::Nearest) return;
    weight_ = stage(
        name + "_weight_" + along, extents,
        [&](Var x, Var k) {
          const Expr behind = shifted(Expr(x), w, W) % (2 * W);
          const std::vector<Expr> weights = weights_at(kernel, cast(type, behind) / cast(type, 2 * W));
          Cases result;
          for (std::size_t i = 0; i + 1 < weights.size(); ++i)
            result.when(Expr(k) == static_cast<int>(i), weights[i]);
          return result.otherwise(weights.back());
        },
        here);
  }

  /// The sum over the taps of pixel x; `sample` gives the source at an index.
  Expr sum(const Var& x, const std::function<Expr(const Expr& index)>& sample) const {
    if (!weight_) return sample((*index_)(x, 0));
    Expr total = (*weight_)(x, 0) * sample((*index_)(x, 0));
    for (int k = 1; k < taps_of(kernel_); ++k) total = total + (*weight_)(x, k) * sample((*index_)(x, k));
    return total;
  }

 private:
  /// 2 W (u + 1) for u = (x + 1/2) * w / W - 1/2, a positive integer.
  static Expr shifted(const Expr& x, const Expr& w, const Expr& W) { return (2 * x + 1) * w + W; }
  /// floor(u)
  static Expr whole(const Expr& x, const Expr& w, const Expr& W) { return shifted(x, w, W) / (2 * W) - 1; }

  Interpolation kernel_;
  std::optional<Stage> index_, weight_;
};

/// The pixel `at`, resampled along the dimensions before `end`, beginning with `begin`.
Expr resampled_pixel(const Accessor& source, const std::vector<Resampled>& along, int begin, int end,
                     const std::vector<At>& at) {
  if (begin == end) return dsl::read_at(source, at);
  const int d = end - 1;
  return along[d].sum(*at[d].affine, [&](const Expr& index) {
    std::vector<At> sample = at;
    sample[d] = At(index);
    return resampled_pixel(source, along, begin, d, sample);
  });
}

}  // namespace

Stage resize(const std::string& name, const Accessor& source, const Extents& extents, Interpolation kernel,
             std::source_location here) {
  return resize(name, source, extents, kernel, Post(), here);
}

Stage resize(const std::string& name, const Accessor& source, const Extents& extents, Interpolation kernel,
             const Post& post, std::source_location here) {
  check_source(source, here);
  const int rank = source.rank();
  if (extents.rank() != rank) {
    throw Error(
        fmt::format("stage '{}' resizes '{}' to {} extents", name, source.source().name(), extents.rank()),
        here)
        .note("needs", fmt::format("{}, one per dimension", rank));
  }
  const Border& border = *source.border_mode();
  // The indices have been through the border.
  const Border inside = border.mode() == Border::Mode::Constant ? border : Border::clamp();
  std::vector<Resampled> along;
  std::vector<Index> box;
  for (int d = 0; d < rank; ++d) {
    along.emplace_back(name, d, source.size()[d], extents[d], kernel, border.mode(), real_of(source.type()),
                       here);
    box.push_back(source.size()[d]);
  }
  // More than two taps per dimension are worth a stage per dimension.
  const int dims_per_stage = taps_of(kernel) > 2 ? 1 : rank;
  Accessor current = dsl::from_zero(source).border(inside);
  for (int begin = 0;; begin += dims_per_stage) {
    const int end = begin + dims_per_stage;
    for (int d = begin; d < end; ++d) box[d] = extents[d];
    const Stage resampled = detail::make_stage(
        end == rank ? name : name + "_" + ir::dim_name(begin), {{}, Extents(box)},
        [&](const std::vector<Var>& v) {
          const Expr value = resampled_pixel(current, along, begin, end, {v.begin(), v.end()});
          return detail::as_cases(end == rank && post ? post(value) : value);
        },
        here);
    if (end == rank) return resampled;
    current = resampled.border(inside);
  }
}

}  // namespace weft
