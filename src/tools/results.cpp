#include "tools/results.h"

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/picture.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ir/value.h"
#include "tools/flow_colours.h"
#include "tools/images.h"
#include "tools/scalars.h"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;

bool is_short(Scalar s) { return s == Scalar::U8 || s == Scalar::U16; }
double largest_of(Scalar s) { return ir::largest({s, 1}).as_double(); }

// ---- what a file gets ------------------------------------------------------------------------------------

/// A file and the pixels it is to hold.
struct Destination {
  const fs::path& file;
  int lanes, rank;

  bool holds(Scalar s) const { return io::can_write(file, {s, lanes}, rank); }
  /// Floats, so values need not be brought into a range.
  bool holds_numbers() const { return holds(Scalar::F32); }
};

bool asks_for_shades(const PictureOptions& options) {
  return options.normalize || (options.depth && is_short(*options.depth));
}

/// Two lanes that are a direction: neither grey with alpha, nor numbers in a file of numbers.
bool is_flow(const fs::path& file, Type result, int rank, const PictureOptions& options) {
  const bool points = result.lanes == 2 && is_signed(result.scalar) && !options.with_alpha;
  return points && (asks_for_shades(options) || !Destination{file, 2, rank}.holds_numbers());
}

/// The type of the picture that holds such a result in the file.
Type picture_type(const fs::path& file, Type result, int rank, const PictureOptions& options) {
  const bool flow = is_flow(file, result, rank, options);
  const Destination to{file, flow ? 3 : result.lanes, rank};
  const auto of = [&](Scalar s) { return Type{s, to.lanes}; };
  const Scalar shades = options.deep && to.holds(Scalar::U16) ? Scalar::U16 : Scalar::U8;
  if (options.depth) return of(*options.depth);
  if (flow || options.normalize) return of(shades);
  if (to.holds(result.scalar)) return result;
  if (result.scalar == Scalar::Bool) return of(Scalar::U8);
  const bool wide = is_integer(result.scalar) && size_of(result.scalar) == 8;
  if (wide && to.holds(Scalar::F64)) return of(Scalar::F64);
  if (to.holds_numbers()) return of(Scalar::F32);
  if (is_float(result.scalar)) return of(shades);
  return result.scalar == Scalar::U16 ? of(Scalar::U8) : result;
}

/// Integers of less bits than their type has, such as the raw values of a sensor.
bool is_of_sensor(Scalar result, const PictureOptions& options) {
  return is_integer(result) && options.range > 255 && size_of(result) > 1;
}

/// The value of a result that is shown as white.
double white_of(Scalar result, const PictureOptions& options) {
  if (options.white > 0) return options.white;
  if (is_float(result) || is_of_sensor(result, options)) return options.range;
  return largest_of(result);
}

struct Obstacle {
  std::string why, remedy;
};

/// Why the file cannot have the result, if it cannot.
std::optional<Obstacle> obstacle(const fs::path& file, Type result, int rank, const PictureOptions& options) {
  const bool flow = is_flow(file, result, rank, options);
  const Destination to{file, result.lanes, rank};
  if (result.lanes == 2 && !flow && !options.with_alpha && !to.holds_numbers() && to.holds(Scalar::U8))
    return Obstacle{"the second of two lanes would be taken for alpha",
                    "write a .tif or a .npy, which hold both as numbers"};
  const bool signed_integer = is_integer(result.scalar) && is_signed(result.scalar);
  if (signed_integer && !flow && !options.normalize && options.depth && is_short(*options.depth))
    return Obstacle{"values with a sign have no black and white of their own",
                    "--normalize shows the least as black and the largest as white"};
  std::string why, remedy;
  if (io::can_write(file, picture_type(file, result, rank, options), rank, &why, &remedy))
    return std::nullopt;
  if (options.depth == Scalar::F32) return Obstacle{why, "--depth 32f needs a .tif, a .npy or a .pfm"};
  if (options.depth) return Obstacle{why, "leave --depth out, or write a .png or a .tif"};
  if (options.normalize) return Obstacle{why, "write a file of 8 bits, such as a .png, or drop --normalize"};
  const bool alpha_alone = result.lanes == 4 && io::can_write(file, {Scalar::U8, 3}, rank);
  return Obstacle{why, alpha_alone ? "--rgb reads pictures without their alpha channel" : remedy};
}

// ---- values to shades ------------------------------------------------------------------------------------

/// Lanes of a picture: all, or all but alpha, or alpha alone.
struct Lanes {
  int first, count, of;

  bool all() const { return count == of; }
};

/// value * scale + offset, rounded half to even.
struct Shades {
  double scale, offset;

  /// Returns how many lanes were outside of what To holds.
  template <class From, class To>
  std::int64_t operator()(const From* from, To* to, std::int64_t pixels, const Lanes& lanes) const {
    std::int64_t outside = 0;
    if (lanes.all()) return row(from, to, pixels * lanes.of);
    for (std::int64_t i = 0; i < pixels; ++i)
      outside += row(from + i * lanes.of + lanes.first, to + i * lanes.of + lanes.first, lanes.count);
    return outside;
  }

 private:
  template <class From, class To>
  std::int64_t row(const From* from, To* to, std::int64_t count) const {
    constexpr double rounds = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no bits for a fraction
    constexpr double most = std::numeric_limits<To>::max();
    std::int64_t outside = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double v = static_cast<double>(from[i]) * scale + offset;
      outside += (v >= -0.5 && v <= most + 0.5) ? 0 : 1;
      const double clamped = v > 0 ? (v < most ? v : most) : 0;  // not a number: 0
      to[i] = static_cast<To>((clamped + rounds) - rounds);
    }
    return outside;
  }
};

/// The finite values of these lanes; of very large pictures, every n-th.
std::vector<double> finite_values(const Buffer& dense, const Lanes& lanes) {
  constexpr std::int64_t enough = std::int64_t{1} << 24;
  const std::int64_t step = dense.pixels() * lanes.count / enough + 1;
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>((dense.pixels() + step - 1) / step * lanes.count));
  with_scalar(dense.type().scalar, [&]<class T>(T) {
    const T* from = static_cast<const T*>(dense.data());
    for (std::int64_t i = 0; i < dense.pixels(); i += step) {
      for (int l = lanes.first; l < lanes.first + lanes.count; ++l) {
        const auto v = static_cast<double>(from[i * lanes.of + l]);
        if (std::isfinite(v)) values.push_back(v);
      }
    }
  });
  return values;
}

struct Span {
  double least = 0, largest = 0;
};

Span span_of(const Buffer& dense, const Lanes& lanes) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  with_scalar(dense.type().scalar, [&]<class T>(T) {
    const T* from = static_cast<const T*>(dense.data());
    for (std::int64_t i = 0; i < dense.pixels(); ++i) {
      for (int l = lanes.first; l < lanes.first + lanes.count; ++l) {
        const auto v = static_cast<double>(from[i * lanes.of + l]);
        if (!std::isfinite(v)) continue;
        least = std::min(least, v);
        largest = std::max(largest, v);
      }
    }
  });
  return largest >= least ? Span{least, largest} : Span{};
}

/// From the percentile's opposite to the percentile: all values for 100.
Span percentile_span(const Buffer& dense, const Lanes& lanes, double percentile) {
  if (percentile >= 100) return span_of(dense, lanes);
  std::vector<double> values = finite_values(dense, lanes);
  if (values.empty()) return {};
  const auto at = [&](double percent) {
    const auto n =
        static_cast<std::ptrdiff_t>(std::llround(percent / 100 * static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + n, values.end());
    return values[static_cast<std::size_t>(n)];
  };
  return {at(100 - percentile), at(percentile)};
}

/// Black where the span begins, and white where it ends.
Shades spreading(const Span& span, double most) {
  if (!(span.largest > span.least)) return {0, 0};
  const double scale = most / (span.largest - span.least);
  return {scale, -span.least * scale};
}

template <class F>
void with_shades(Scalar scalar, F f) {
  if (scalar == Scalar::U16) return f(std::uint16_t{});
  f(std::uint8_t{});
}

/// `from` shown in `to`; alpha stays what it is.
std::int64_t show(const Buffer& from, const Buffer& to, const Shades& colours, const Shades& alpha,
                  bool has_alpha) {
  const int lanes = from.type().lanes;
  std::int64_t outside = 0;
  with_scalar(from.type().scalar, [&]<class From>(From) {
    with_shades(to.type().scalar, [&]<class To>(To) {
      const From* values = static_cast<const From*>(from.data());
      To* shades = static_cast<To*>(to.data());
      const bool apart = has_alpha && (colours.scale != alpha.scale || colours.offset != alpha.offset);
      outside = colours(values, shades, from.pixels(), {0, apart ? lanes - 1 : lanes, lanes});
      if (apart) outside += alpha(values, shades, from.pixels(), {lanes - 1, 1, lanes});
    });
  });
  return outside;
}

// ---- conversions -----------------------------------------------------------------------------------------

/// The first and the third lane of each pixel exchanged.
Buffer blue_and_red_exchanged(const Buffer& dense) {
  Buffer to = dense.packed();
  with_scalar(to.type().scalar, [&]<class T>(T) {
    T* pixel = static_cast<T*>(to.data());
    for (std::int64_t i = 0; i < to.pixels(); ++i, pixel += to.type().lanes) std::swap(pixel[0], pixel[2]);
  });
  return to;
}

Buffer as_numbers(const Buffer& from, Type type) {
  Buffer to = Buffer::allocate(type, from.extents());
  with_scalar(from.type().scalar, [&]<class From>(From) {
    with_image_scalar(type.scalar, [&]<class To>(To) {
      if constexpr (std::is_floating_point_v<To>) {
        const From* values = static_cast<const From*>(from.data());
        To* numbers = static_cast<To*>(to.data());
        for (std::int64_t i = 0; i < from.pixels() * type.lanes; ++i)
          numbers[i] = static_cast<To>(static_cast<double>(values[i]));
      }
    });
  });
  return to;
}

ResultPicture as_flow(const Buffer& offsets, Type type, const PictureOptions& options) {
  const double longest =
      percentile_span(lengths_of(offsets), {0, 1, 1}, options.normalize.value_or(100)).largest;
  ResultPicture picture{flow_colours(offsets, type.scalar, longest)};
  picture.legend = flow_legend(longest);
  return picture;
}

ResultPicture as_shades(const Buffer& from, Type type, const PictureOptions& options) {
  const bool has_alpha = type.lanes == 4 || (type.lanes == 2 && options.with_alpha);
  const Lanes colours{0, has_alpha ? type.lanes - 1 : type.lanes, type.lanes};
  const double most = largest_of(type.scalar), white = white_of(from.type().scalar, options);
  const Span span = span_of(from, colours);
  ResultPicture picture{from, 0, white, span.least, span.largest, ""};
  const Shades plain{most / white, 0};
  if (options.normalize) {
    const Span shown = percentile_span(from, colours, *options.normalize);
    picture.buffer = Buffer::allocate(type, from.extents());
    show(from, picture.buffer, spreading(shown, most), plain, has_alpha);
    picture.white = 0;
  } else if (from.type() != type || plain.scale != 1) {
    picture.buffer = Buffer::allocate(type, from.extents());
    picture.clamped = show(from, picture.buffer, plain, plain, has_alpha);
  }
  return picture;
}

}  // namespace

Buffer as_picture(const Buffer& result) {
  if (result.rank() >= 2) return result.is_dense() ? result : result.packed();
  return reshaped(result, {result.rank() == 1 ? result.extent(0) : 1, 1});
}

void check_result(const fs::path& file, const std::string& output, Type type, int rank,
                  const PictureOptions& options) {
  const auto found = obstacle(file, type, std::max(rank, 2), options);
  if (!found) return;
  Error error("cannot write '" + file.string() + "': " + found->why);
  error.note("output", "'" + output + "' is " + weft::name_of(type) + ", " + std::to_string(rank) + "-D");
  if (!found->remedy.empty()) error.help(found->remedy);
  throw error;
}

ResultPicture to_picture(const Buffer& result, const fs::path& file, const PictureOptions& options) {
  Buffer from = as_picture(result);
  if (options.bgr && from.type().lanes >= 3) from = blue_and_red_exchanged(from);
  const int rank = from.rank();
  const Type type = picture_type(file, from.type(), rank, options);
  if (is_flow(file, from.type(), rank, options)) return as_flow(from, type, options);
  const Destination to{file, type.lanes, rank};
  const bool raw =
      from.type() == type && is_of_sensor(type.scalar, options);  // camera_pipe reads them as they are
  const bool numbers = raw || (to.holds_numbers() && from.type().scalar != Scalar::Bool);
  const bool shows = asks_for_shades(options) || !numbers;
  if (is_short(type.scalar) && shows) return as_shades(from, type, options);
  if (from.type() != type) return {as_numbers(from, type)};
  const bool looked_at = is_short(type.scalar) && !to.holds(Scalar::I64);  // a file of any numbers is not
  if (!looked_at) return {from};
  const Span span = span_of(from, {0, type.lanes, type.lanes});
  return {from,
          0,
          std::min(white_of(type.scalar, {.range = options.range}), largest_of(type.scalar)),
          span.least,
          span.largest,
          ""};
}

std::string faintness(const ResultPicture& picture, const fs::path& file) {
  constexpr double share_seen = .05;
  const double used = std::min(picture.largest, picture.white) - std::max(picture.least, 0.);
  const bool varies = picture.largest > picture.least;
  if (picture.white == 0 || !varies || used >= share_seen * picture.white) return "";
  return fmt::format(
      "{} uses {:.2g} % of its range: the values go from {:.3g} to {:.3g}, and white is {:.6g}; --normalize "
      "spreads them",
      file.string(), 100 * std::max(used, 0.) / picture.white, picture.least, picture.largest, picture.white);
}

}  // namespace weft::tools
