#include "tools/images.h"

#include <weft/error.h>
#include <weft/picture.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "tools/scalars.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

bool contains(const auto& items, const auto& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

// ---- which type ------------------------------------------------------------------------------------------

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

/// Black is 0, and white the largest value.
bool is_unsigned(Scalar s) { return is_integer(s) && !is_signed(s); }
int bits(Scalar s) { return 8 * size_of(s); }
bool has_alpha(int lanes) { return lanes == 2 || lanes == 4; }

std::optional<Scalar> first_float(const std::vector<Scalar>& scalars) {
  const auto found = std::find_if(scalars.begin(), scalars.end(), [](Scalar s) { return is_float(s); });
  return found == scalars.end() ? std::nullopt : std::optional(*found);
}

/// The shortest of the image's unsigned integers that hold the picture's, or else the longest.
std::optional<Scalar> unsigned_for(std::vector<Scalar> scalars, Scalar of_picture) {
  std::erase_if(scalars, [](Scalar s) { return !is_unsigned(s); });
  std::sort(scalars.begin(), scalars.end(), [](Scalar a, Scalar b) { return size_of(a) < size_of(b); });
  for (const Scalar s : scalars) {
    if (size_of(s) >= size_of(of_picture)) return s;
  }
  return scalars.empty() ? std::nullopt : std::optional(scalars.back());
}

Scalar scalar_for(const DeclaredImage& image, Scalar of_picture, const std::string& label,
                  const ImageOptions& options) {
  if (contains(image.scalars, of_picture)) return of_picture;
  const bool has_range = is_unsigned(of_picture) || is_float(of_picture);
  if (const auto real = first_float(image.scalars); real && has_range) return *real;
  if (of_picture == Scalar::U8 && contains(image.scalars, Scalar::Bool)) return Scalar::Bool;
  const bool of_sensor = options.range > 255;  // whose values have no depth of a file's
  if (const auto other = unsigned_for(image.scalars, of_picture);
      other && is_unsigned(of_picture) && !of_sensor)
    return *other;
  Error error("image '" + image.name + "' takes " + scalars_text(image.scalars) + " pixels, '" + label +
              "' has " + weft::name_of(of_picture));
  if (!options.advice.empty())
    error.help(options.advice);
  else if (contains(image.scalars, Scalar::U8))
    error.help("convert the file to 8 bits per channel");
  throw error;
}

/// The number of lanes of an image that fits a picture with `of_picture` lanes, or 0 if that would be a guess.
int lanes_without_guessing(const std::vector<int>& lanes, int of_picture, Channels channels) {
  const auto first_of = [&](std::initializer_list<int> wanted) {
    for (int n : wanted) {
      if (contains(lanes, n)) return n;
    }
    return 0;
  };
  if (channels == Channels::Grey && contains(lanes, 1)) return 1;
  if (channels == Channels::Rgb && contains(lanes, 3)) return 3;
  switch (of_picture) {
    case 1: return first_of({1, 3, 4});
    case 2: return first_of({2, 4, 1, 3});
    case 3: return first_of({3, 4});
    default: return first_of({4, 3});
  }
}

int lanes_for(const DeclaredImage& image, int of_picture, const std::string& label,
              const ImageOptions& options) {
  const int lanes = lanes_without_guessing(image.lanes, of_picture, options.channels);
  if (lanes != 0) return lanes;
  Error error("image '" + image.name + "' takes " + lanes_text(image.lanes) + ", '" + label + "' has " +
              std::to_string(of_picture));
  if (!options.advice.empty())
    error.help(options.advice);
  else if (contains(image.lanes, 1))
    error.help("--grey converts it to luminance");
  else
    error.help("convert the file to " + channels(image.lanes[0]));
  throw error;
}

// ---- conversions -----------------------------------------------------------------------------------------

/// What the values of a picture are multiplied by.
double scale_of(Scalar picture, Scalar image, double range) {
  if (is_float(picture)) return 1;
  const double white = is_unsigned(image) ? ir::largest({image, 1}).as_double() : range;
  return white / ir::largest({picture, 1}).as_double();
}

template <class From, class To>
void convert_lanes(const From* from, To* to, std::int64_t count, double scale) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(from[i]);
    if constexpr (std::is_same_v<To, Boolean>)
      to[i].value = value != 0;
    else if constexpr (std::is_same_v<To, half>)
      to[i] = half(static_cast<float>(value * scale));
    else if constexpr (std::is_integral_v<To>)
      to[i] = static_cast<To>(value * scale + .5);  // of unsigned pictures
    else
      to[i] = static_cast<To>(value * scale);
  }
}

/// .299 R + .587 G + .114 B, rounded half to even for integers.
template <class T>
T luminance(const T* rgb) {
  const double y = .299 * static_cast<double>(rgb[0]) + .587 * static_cast<double>(rgb[1]) +
                   .114 * static_cast<double>(rgb[2]);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::nearbyint(y));
  else if constexpr (std::is_same_v<T, half>)
    return half(static_cast<float>(y));
  else if constexpr (std::is_same_v<T, Boolean>)
    return {y > 0};
  else
    return static_cast<T>(y);
}

template <class T>
T full_alpha(double range) {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::max();
  else if constexpr (std::is_same_v<T, half>)
    return half(static_cast<float>(range));
  else if constexpr (std::is_same_v<T, Boolean>)
    return {1};
  else
    return static_cast<T>(range);
}

/// One pixel with other lanes: colour as luminance, grey as colour, alpha full where there was none. Two
/// lanes of a colour are red and green, for synthetic images.
template <class T>
void convert_pixel(const T* from, int lanes, T* to, int wanted, T opaque) {
  const bool from_colour = lanes >= 3, to_colour = wanted >= 3 || (wanted == 2 && from_colour);
  if (!to_colour) {
    to[0] = from_colour ? luminance(from) : from[0];
  } else {
    for (int l = 0; l < std::min(wanted, 3); ++l) to[l] = from[from_colour ? l : 0];
  }
  if (wanted == 4) to[3] = has_alpha(lanes) ? from[lanes - 1] : opaque;
}

Buffer with_lanes(const Buffer& picture, int lanes, double range) {
  const Type type = picture.type();
  if (type.lanes == lanes) return picture;
  Buffer other = Buffer::allocate({type.scalar, lanes}, picture.extents());
  with_scalar(type.scalar, [&]<class T>(T) {
    const T* from = static_cast<const T*>(picture.data());
    T* to = static_cast<T*>(other.data());
    for (std::int64_t i = 0; i < picture.pixels(); ++i, from += type.lanes, to += lanes)
      convert_pixel(from, type.lanes, to, lanes, full_alpha<T>(range));
  });
  return other;
}

}  // namespace

Buffer reshaped(const Buffer& buffer, const std::vector<std::int64_t>& extents) {
  const Buffer dense = buffer.is_dense() ? buffer : buffer.packed();
  Buffer other = Buffer::allocate(dense.type(), extents);
  std::memcpy(other.data(), dense.data(), static_cast<std::size_t>(dense.bytes()));
  return other;
}

Buffer with_rank(const DeclaredImage& image, const Buffer& picture, const std::string& label) {
  const int rank = picture.rank();
  if (rank == image.rank) return picture;
  std::vector<std::int64_t> extents = picture.extents();
  const auto all_one = [&](int first) {
    return std::all_of(extents.begin() + first, extents.end(), [](auto e) { return e == 1; });
  };
  if (rank > image.rank && !all_one(image.rank)) {
    throw Error("image '" + image.name + "' has " + counted(image.rank, "dimension") + ", '" + label +
                "' has " +
                (rank == 3 && extents[2] > 1 ? counted(extents[2], "page") : counted(extents[1], "row")));
  }
  extents.resize(image.rank, 1);
  return reshaped(picture, extents);
}

Type type_for_picture(const DeclaredImage& image, const Buffer& picture, const std::string& label,
                      const ImageOptions& options) {
  const int lanes = lanes_for(image, picture.type().lanes, label, options);
  return {scalar_for(image, picture.type().scalar, label, options), lanes};
}

std::string conversion_text(Type picture, Type image) {
  std::vector<std::string> parts;
  if (picture.lanes >= 3 && image.lanes == 1) parts.emplace_back("as luminance");
  if (picture.lanes <= 2 && image.lanes >= 3) parts.emplace_back("as RGB");
  if (has_alpha(picture.lanes) && !has_alpha(image.lanes)) parts.emplace_back("without its alpha channel");
  if (!has_alpha(picture.lanes) && has_alpha(image.lanes)) parts.emplace_back("with full alpha");
  if (is_unsigned(picture.scalar) && is_unsigned(image.scalar) && picture.scalar != image.scalar)
    parts.push_back("in " + std::to_string(bits(image.scalar)) + " bits instead of " +
                    std::to_string(bits(picture.scalar)));
  if (picture.scalar != Scalar::Bool && image.scalar == Scalar::Bool)
    parts.emplace_back("as true where it is not 0");
  return joined(parts);
}

Buffer to_image(const Buffer& picture, Type type, double range) {
  const Buffer from = with_lanes(picture, type.lanes, range);
  if (from.type() == type) return from;
  Buffer to = Buffer::allocate(type, from.extents());
  const double scale = scale_of(from.type().scalar, type.scalar, range);
  with_scalar(from.type().scalar, [&]<class From>(From) {
    with_image_scalar(type.scalar, [&]<class To>(To) {
      convert_lanes(static_cast<const From*>(from.data()), static_cast<To*>(to.data()),
                    from.pixels() * type.lanes, scale);
    });
  });
  return to;
}

Buffer synthetic_image(const Buffer& rgb, Type type, double range) {
  const Buffer bytes = with_lanes(rgb, type.lanes, 255);
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
