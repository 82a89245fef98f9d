#include "tools/picture_codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace weft::tools {
namespace {

using Byte = std::uint8_t;

const Byte* bytes_of(const Buffer& rgb) { return static_cast<const Byte*>(rgb.data()); }

std::string base64(std::string_view bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<Byte>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// ---- sixel ------------------------------------------------------------------------------------------------

/// Colours by number, and the number that each pixel has.
struct Paletted {
  std::vector<std::array<int, 3>> colours;  ///< In percent, as sixel has them.
  std::vector<Byte> pixels;
};

bool is_grey(const Buffer& rgb) {
  const Byte* p = bytes_of(rgb);
  for (std::int64_t i = 0; i < rgb.pixels(); ++i, p += 3) {
    if (p[0] != p[1] || p[0] != p[2]) return false;
  }
  return true;
}

Paletted in_greys(const Buffer& rgb) {
  Paletted result;
  for (int percent = 0; percent <= 100; ++percent) result.colours.push_back({percent, percent, percent});
  const Byte* p = bytes_of(rgb);
  for (std::int64_t i = 0; i < rgb.pixels(); ++i, p += 3)
    result.pixels.push_back(static_cast<Byte>((p[0] * 100 + 127) / 255));
  return result;
}

/// The order in which the pixels of 8x8 are rounded up, as a value grows from one level to the next.
int bayer(std::int64_t x, std::int64_t y) {
  int order = 0;
  for (int bit = 0; bit < 3; ++bit) {
    const int a = static_cast<int>(x >> bit & 1), b = static_cast<int>(y >> bit & 1);
    order = order << 2 | (a ^ b) << 1 | b;
  }
  return order;
}

Paletted in_colours(const Buffer& rgb) {
  constexpr std::array<int, 3> levels = {6, 7, 6};  // 252 colours: most terminals have 256
  const auto percent = [&](int level, std::size_t c) {
    return (level * 100 + (levels[c] - 1) / 2) / (levels[c] - 1);
  };
  Paletted result;
  for (int r = 0; r < levels[0]; ++r) {
    for (int g = 0; g < levels[1]; ++g) {
      for (int b = 0; b < levels[2]; ++b)
        result.colours.push_back({percent(r, 0), percent(g, 1), percent(b, 2)});
    }
  }
  const Byte* p = bytes_of(rgb);
  for (std::int64_t y = 0; y < rgb.extent(1); ++y) {
    for (std::int64_t x = 0; x < rgb.extent(0); ++x, p += 3) {
      int number = 0;
      for (std::size_t c = 0; c < 3; ++c)
        number = number * levels[c] + (p[c] * (levels[c] - 1) * 64 + bayer(x, y) * 255) / (255 * 64);
      result.pixels.push_back(static_cast<Byte>(number));
    }
  }
  return result;
}

/// Runs of a character are written as their number.
void append_runs(std::string& text, const std::string& characters) {
  for (std::size_t i = 0; i < characters.size();) {
    std::size_t end = i;
    while (end < characters.size() && characters[end] == characters[i]) ++end;
    if (end - i > 3)
      text += fmt::format("!{}{}", end - i, characters[i]);
    else
      text.append(end - i, characters[i]);
    i = end;
  }
}

}  // namespace

Buffer as_rgb(const Buffer& picture) {
  const Buffer dense = picture.is_dense() ? picture : picture.packed();
  const std::int64_t width = dense.extent(0), height = dense.extent(1);
  const std::int64_t page = dense.rank() > 2 ? dense.extent(2) / 2 * width * height : 0;
  const int lanes = dense.type().lanes, green = lanes < 3 ? 0 : 1, blue = lanes < 3 ? 0 : 2;
  Buffer rgb = Buffer::allocate({Scalar::U8, 3}, {width, height});
  Byte* to = static_cast<Byte*>(rgb.data());
  const bool deep = dense.type().scalar == Scalar::U16;
  const auto value = [&](std::int64_t lane) {
    return deep ? static_cast<Byte>(static_cast<const std::uint16_t*>(dense.data())[lane] / 257)
                : bytes_of(dense)[lane];
  };
  for (std::int64_t i = 0; i < width * height; ++i, to += 3) {
    const std::int64_t first = (page + i) * lanes;
    to[0] = value(first), to[1] = value(first + green), to[2] = value(first + blue);
  }
  return rgb;
}

Buffer shrunk(const Buffer& rgb, std::int64_t most_width, std::int64_t most_height) {
  const std::int64_t width = rgb.extent(0), height = rgb.extent(1);
  if (width <= most_width && height <= most_height) return rgb;
  const double scale = std::min(static_cast<double>(most_width) / static_cast<double>(width),
                                static_cast<double>(most_height) / static_cast<double>(height));
  const auto scaled = [&](std::int64_t extent) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(extent) * scale));
  };
  const std::int64_t to_width = scaled(width), to_height = scaled(height);
  Buffer small = Buffer::allocate({Scalar::U8, 3}, {to_width, to_height});
  Byte* to = static_cast<Byte*>(small.data());
  for (std::int64_t y = 0; y < to_height; ++y) {
    for (std::int64_t x = 0; x < to_width; ++x, to += 3) {
      std::array<std::int64_t, 3> sum{};
      std::int64_t count = 0;
      for (std::int64_t v = y * height / to_height; v < (y + 1) * height / to_height; ++v) {
        for (std::int64_t u = x * width / to_width; u < (x + 1) * width / to_width; ++u, ++count) {
          for (std::size_t c = 0; c < 3; ++c)
            sum[c] += bytes_of(rgb)[(v * width + u) * 3 + static_cast<std::int64_t>(c)];
        }
      }
      for (std::size_t c = 0; c < 3; ++c) to[c] = static_cast<Byte>((sum[c] + count / 2) / count);
    }
  }
  return small;
}

std::string kitty_code(const Buffer& rgb) {
  constexpr std::size_t most_in_a_chunk = 4096;
  const std::string data =
      base64({reinterpret_cast<const char*>(rgb.data()), static_cast<std::size_t>(rgb.pixels() * 3)});
  std::string text;
  for (std::size_t i = 0; i < data.size(); i += most_in_a_chunk) {
    const bool more = i + most_in_a_chunk < data.size();
    text += "\033_G";
    // Transmit and show; 24 bits a pixel; answer nothing.
    if (i == 0) text += fmt::format("a=T,f=24,s={},v={},q=2,", rgb.extent(0), rgb.extent(1));
    text += fmt::format("m={};{}\033\\", more ? 1 : 0, data.substr(i, most_in_a_chunk));
  }
  return text;
}

std::string sixel_code(const Buffer& rgb) {
  const std::int64_t width = rgb.extent(0), height = rgb.extent(1);
  const Paletted picture = is_grey(rgb) ? in_greys(rgb) : in_colours(rgb);
  std::string text = fmt::format("\033P0;1q\"1;1;{};{}", width, height);
  for (std::size_t c = 0; c < picture.colours.size(); ++c)
    text += fmt::format("#{};2;{}", c, fmt::join(picture.colours[c], ";"));
  for (std::int64_t band = 0; band < height; band += 6) {
    // A character has a bit for each of 6 rows; each colour of the band has characters of its own.
    std::map<Byte, std::string> by_colour;
    for (std::int64_t y = band; y < std::min(band + 6, height); ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        std::string& bits = by_colour[picture.pixels[static_cast<std::size_t>(y * width + x)]];
        if (bits.empty()) bits.assign(static_cast<std::size_t>(width), '?');
        bits[static_cast<std::size_t>(x)] =
            static_cast<char>('?' + ((bits[static_cast<std::size_t>(x)] - '?') | 1 << (y - band)));
      }
    }
    for (const auto& [colour, bits] : by_colour) {
      text += fmt::format("#{}", colour);
      append_runs(text, bits);
      text += '$';
    }
    text += '-';
  }
  return text + "\033\\";
}

}  // namespace weft::tools
