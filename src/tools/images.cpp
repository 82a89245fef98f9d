#include "tools/images.h"

#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "io/picture.h"
#include "ir/value.h"
#include "tools/scalars.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

/// The same pixels in another box.
Buffer reshaped(const Buffer& buffer, const std::vector<std::int64_t>& extents) {
  const Buffer dense = buffer.is_dense() ? buffer : buffer.packed();
  Buffer other = Buffer::allocate(dense.type(), extents);
  std::memcpy(other.data(), dense.data(), static_cast<std::size_t>(dense.bytes()));
  return other;
}

bool contains(const auto& items, const auto& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

std::string channels(int lanes) { return std::to_string(lanes) + (lanes == 1 ? " channel" : " channels"); }

std::string lanes_text(const std::vector<int>& lanes) {
  std::vector<std::string> texts;
  for (int n : lanes) texts.push_back(std::to_string(n));
  return one_of(texts) + (lanes == std::vector{1} ? " channel" : " channels");
}

std::string scalars_text(const std::vector<Scalar>& scalars) {
  std::vector<std::string> texts;
  for (Scalar s : scalars) texts.push_back(weft::name_of(s));
  return one_of(texts);
}

// ---- from pictures ----------------------------------------------------------------------------------------

std::optional<Scalar> first_float(const std::vector<Scalar>& scalars) {
  const auto found = std::find_if(scalars.begin(), scalars.end(), [](Scalar s) { return is_float(s); });
  return found == scalars.end() ? std::nullopt : std::optional(*found);
}

Scalar scalar_for(const DeclaredImage& image, Scalar of_picture, const std::string& label) {
  if (contains(image.scalars, of_picture)) return of_picture;
  const bool has_range = !is_signed(of_picture) || is_float(of_picture);
  if (const auto real = first_float(image.scalars); real && has_range) return *real;
  if (of_picture == Scalar::U8 && contains(image.scalars, Scalar::Bool)) return Scalar::Bool;
  Error error("image '" + image.name + "' takes " + scalars_text(image.scalars) + " pixels, '" + label +
              "' has " + weft::name_of(of_picture));
  if (contains(image.scalars, Scalar::U8)) error.help("convert the file to 8 bits per channel");
  throw error;
}

int lanes_for(const DeclaredImage& image, int of_picture, const std::string& label, bool grey) {
  const bool grey_possible = contains(image.lanes, 1) && of_picture >= 3;
  if (grey && grey_possible) return 1;
  if (contains(image.lanes, of_picture)) return of_picture;
  Error error("image '" + image.name + "' takes " + lanes_text(image.lanes) + ", '" + label + "' has " +
              std::to_string(of_picture));
  if (grey_possible) {
    error.help("--grey converts it to luminance");
  } else if (of_picture == 4 && contains(image.lanes, 3)) {
    error.help("save the file without its alpha channel");
  } else {
    error.help("convert the file to " + std::string(image.lanes[0] == 3   ? "RGB"
                                                    : image.lanes[0] == 4 ? "RGB with alpha"
                                                    : image.lanes[0] == 1 ? "grey"
                                                                          : channels(image.lanes[0])));
  }
  throw error;
}

/// Full range of an integer picture to 0 … range.
double scale_of(Scalar picture, double range) {
  return is_float(picture) ? 1 : range / ir::largest({picture, 1}).as_double();
}

template <class From, class To>
void convert_lanes(const From* from, To* to, std::int64_t count, double scale) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<To, Boolean>)
      to[i].value = static_cast<double>(from[i]) != 0;
    else if constexpr (std::is_same_v<To, half>)
      to[i] = half(static_cast<float>(static_cast<double>(from[i]) * scale));
    else
      to[i] = static_cast<To>(static_cast<double>(from[i]) * scale);
  }
}

/// .299 R + .587 G + .114 B, rounded half to even for integers.
Buffer luminance(const Buffer& picture) {
  const Type type = picture.type();
  Buffer grey = Buffer::allocate(type.lane(), picture.extents());
  with_scalar(type.scalar, [&]<class T>(T) {
    const T* from = static_cast<const T*>(picture.data());
    T* to = static_cast<T*>(grey.data());
    for (std::int64_t i = 0; i < picture.pixels(); ++i, from += type.lanes) {
      const double y = .299 * static_cast<double>(from[0]) + .587 * static_cast<double>(from[1]) +
                       .114 * static_cast<double>(from[2]);
      if constexpr (std::is_integral_v<T>)
        to[i] = static_cast<T>(std::nearbyint(y));
      else if constexpr (std::is_floating_point_v<T>)
        to[i] = static_cast<T>(y);
    }
  });
  return grey;
}

/// RGB as 1 to 4 lanes: luminance, red and green, RGB, RGB and full alpha.
Buffer with_lanes(const Buffer& rgb, int lanes) {
  if (lanes == 3) return rgb;
  if (lanes == 1) return luminance(rgb);
  Buffer other = Buffer::allocate({Scalar::U8, lanes}, rgb.extents());
  const auto* from = static_cast<const std::uint8_t*>(rgb.data());
  auto* to = static_cast<std::uint8_t*>(other.data());
  for (std::int64_t i = 0; i < rgb.pixels(); ++i) {
    for (int l = 0; l < lanes; ++l) to[i * lanes + l] = l < 3 ? from[i * 3 + l] : 255;
  }
  return other;
}

// ---- to pictures ------------------------------------------------------------------------------------------

/// The type of the picture that holds such a result in the file: itself, or 8 bits, or float.
Type picture_type(const std::filesystem::path& file, Type result, int rank, const PictureOptions& options) {
  const auto holds = [&](Scalar s) { return io::can_write(file, {s, result.lanes}, rank); };
  if (options.normalize || result.scalar == Scalar::Bool) return {Scalar::U8, result.lanes};
  if (holds(result.scalar)) return result;
  const bool wide = is_integer(result.scalar) && size_of(result.scalar) == 8;
  if (wide && holds(Scalar::F64)) return {Scalar::F64, result.lanes};
  if (!is_float(result.scalar))
    return holds(Scalar::U8) || !holds(Scalar::F32) ? result : Type{Scalar::F32, result.lanes};
  return {holds(Scalar::F32) ? Scalar::F32 : Scalar::U8, result.lanes};
}

/// The first and the third lane of each pixel exchanged.
Buffer blue_and_red_exchanged(const Buffer& dense) {
  Buffer to = dense.packed();
  with_scalar(to.type().scalar, [&]<class T>(T) {
    T* pixel = static_cast<T*>(to.data());
    for (std::int64_t i = 0; i < to.pixels(); ++i, pixel += to.type().lanes) std::swap(pixel[0], pixel[2]);
  });
  return to;
}

/// value * scale + offset as 8 bits, rounded half to even.
struct ToBytes {
  double scale, offset;

  /// Returns how many lanes were outside.
  template <class T>
  std::int64_t operator()(const T* from, std::uint8_t* to, std::int64_t count) const {
    constexpr double rounds = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no bits for a fraction
    std::int64_t outside = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double v = static_cast<double>(from[i]) * scale + offset;
      outside += (v >= -0.5 && v <= 255.5) ? 0 : 1;
      const double clamped = v > 0 ? (v < 255 ? v : 255) : 0;  // not a number: 0
      to[i] = static_cast<std::uint8_t>((clamped + rounds) - rounds);
    }
    return outside;
  }
};

/// The map from the least and largest finite value to 0 and 255.
ToBytes normalizing(const Buffer& dense, std::int64_t lanes) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  with_scalar(dense.type().scalar, [&]<class T>(T) {
    const T* from = static_cast<const T*>(dense.data());
    for (std::int64_t i = 0; i < lanes; ++i) {
      const auto v = static_cast<double>(from[i]);
      if (!std::isfinite(v)) continue;
      least = std::min(least, v);
      largest = std::max(largest, v);
    }
  });
  if (!(largest > least)) return {0, 0};
  return {255 / (largest - least), -least * 255 / (largest - least)};
}

}  // namespace

Buffer with_rank(const DeclaredImage& image, const Buffer& picture, const std::string& label) {
  const int rank = picture.rank();
  if (rank == image.rank) return picture;
  std::vector<std::int64_t> extents = picture.extents();
  const auto all_one = [&](int first) {
    return std::all_of(extents.begin() + first, extents.end(), [](auto e) { return e == 1; });
  };
  if (rank > image.rank && !all_one(image.rank)) {
    const auto count = [](std::int64_t n, const std::string& what) {
      return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    throw Error("image '" + image.name + "' has " + count(image.rank, "dimension") + ", '" + label +
                "' has " +
                (rank == 3 && extents[2] > 1 ? count(extents[2], "page") : count(extents[1], "row")));
  }
  extents.resize(image.rank, 1);
  return reshaped(picture, extents);
}

Type type_for_picture(const DeclaredImage& image, const Buffer& picture, const std::string& label,
                      bool grey) {
  const int lanes = lanes_for(image, picture.type().lanes, label, grey);
  return {scalar_for(image, picture.type().scalar, label), lanes};
}

Buffer to_image(const Buffer& picture, Type type, double range) {
  Buffer from = picture.type().lanes >= 3 && type.lanes == 1 ? luminance(picture) : picture;
  if (from.type() == type) return from;
  Buffer to = Buffer::allocate(type, from.extents());
  const double scale = scale_of(from.type().scalar, range);
  with_scalar(from.type().scalar, [&]<class From>(From) {
    with_image_scalar(type.scalar, [&]<class To>(To) {
      convert_lanes(static_cast<const From*>(from.data()), static_cast<To*>(to.data()),
                    from.pixels() * type.lanes, scale);
    });
  });
  return to;
}

Buffer synthetic_image(const Buffer& rgb, Type type, double range) {
  const Buffer bytes = with_lanes(rgb, type.lanes);
  if (type.scalar == Scalar::U8 || type.scalar == Scalar::Bool || is_float(type.scalar))
    return to_image(bytes, type, range);
  Buffer image = Buffer::allocate(type, bytes.extents());
  const auto* from = static_cast<const std::uint8_t*>(bytes.data());
  auto* to = static_cast<std::byte*>(image.data());
  const int size = size_of(type.scalar);
  const bool to_range = range > 255 && size > 1;  // of a sensor, say, that has 10 bits
  const std::int64_t bytes_mean = is_signed(type.scalar) && !to_range ? 128 : 0;
  const std::int64_t factor = size == 1 ? 1 : is_signed(type.scalar) ? 256 : 257;
  for (std::int64_t i = 0; i < bytes.pixels() * type.lanes; ++i) {
    const std::int64_t value =
        to_range ? std::llround(from[i] * range / 255) : (from[i] - bytes_mean) * factor;
    ir::store(type.scalar, to + i * size, {.i = value});
  }
  return image;
}

Buffer as_picture(const Buffer& result) {
  if (result.rank() >= 2) return result.is_dense() ? result : result.packed();
  return reshaped(result, {result.rank() == 1 ? result.extent(0) : 1, 1});
}

void check_result(const std::filesystem::path& file, const std::string& output, Type type, int rank,
                  const PictureOptions& options) {
  std::string why;
  if (io::can_write(file, picture_type(file, type, std::max(rank, 2), options), std::max(rank, 2), &why))
    return;
  Error error("cannot write '" + file.string() + "': " + why);
  error.note("output", "'" + output + "' is " + weft::name_of(type) + ", " + std::to_string(rank) + "-D");
  if (options.normalize) error.help("write a file of 8 bits, such as a .png, or drop --normalize");
  throw error;
}

ResultPicture to_picture(const Buffer& result, const std::filesystem::path& file,
                         const PictureOptions& options) {
  Buffer from = as_picture(result);
  if (options.bgr && from.type().lanes >= 3) from = blue_and_red_exchanged(from);
  const Type type = picture_type(file, from.type(), from.rank(), options);
  if (from.type() == type) return {from};
  Buffer to = Buffer::allocate(type, from.extents());
  const std::int64_t lanes = from.pixels() * type.lanes;
  std::int64_t clamped = 0;
  with_scalar(from.type().scalar, [&]<class From>(From) {
    const From* values = static_cast<const From*>(from.data());
    if (type.scalar == Scalar::F64) return convert_lanes(values, static_cast<double*>(to.data()), lanes, 1);
    if (type.scalar == Scalar::F32) return convert_lanes(values, static_cast<float*>(to.data()), lanes, 1);
    const bool is_bool = from.type().scalar == Scalar::Bool;
    const ToBytes map =
        options.normalize ? normalizing(from, lanes) : ToBytes{255 / (is_bool ? 1 : options.range), 0};
    clamped = map(values, static_cast<std::uint8_t*>(to.data()), lanes);
  });
  return {to, clamped};
}

std::string size_text(const Buffer& buffer) {
  std::string text;
  for (auto e : buffer.extents()) text += (text.empty() ? "" : "x") + std::to_string(e);
  return text.empty() ? "1" : text;
}

ir::Value lane_value(const Buffer& buffer, std::int64_t pixel, int lane) {
  const Buffer dense = buffer.is_dense() ? buffer : buffer.packed();
  const Scalar s = dense.type().scalar;
  const std::int64_t at = (pixel * dense.type().lanes + lane) * size_of(s);
  return {dense.type().lane(), {ir::load(s, static_cast<const std::byte*>(dense.data()) + at)}};
}

}  // namespace weft::tools
