// PGM and PPM hold grey and RGB integers, as text (P2, P3) or bytes (P5, P6); PFM holds floats (Pf, PF). All
// start with a magic number and a few numbers of text.
#include "io/claim.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace weft::io {
namespace netpbm {
namespace {

// A file so much shorter than its pixels was not cut: its header is wrong.
constexpr std::int64_t absurd = 16384;

constexpr bool native_is_little = std::endian::native == std::endian::little;

bool is_space(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool has_magic(Bytes file, std::string_view magic) {
  return starts_with(file, magic) && file.size() > 2 && (is_space(file[2]) || file[2] == '#');
}

std::uint16_t swapped(std::uint16_t v) { return static_cast<std::uint16_t>(v << 8 | v >> 8); }
std::uint32_t swapped(std::uint32_t v) { return __builtin_bswap32(v); }

/// Takes words off the front of a file. Comments run from # to the end of the line.
class Words {
 public:
  Words(Bytes file, std::string format) : rest_(file), format_(std::move(format)) {}

  std::string_view next() {
    skip_space();
    std::size_t n = 0;
    while (n < rest_.size() && !is_space(rest_[n]) && rest_[n] != '#') ++n;
    if (n == 0) throw truncated();
    const std::string_view word(reinterpret_cast<const char*>(rest_.data()), n);
    rest_ = rest_.subspan(n);
    return word;
  }
  template <class Number>
  Number number(const char* what) {
    const std::string_view word = next();
    Number value{};
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (problem != std::errc() || end != word.data() + word.size()) {
      if (rest_.empty()) throw truncated();  // the number was cut, as in "-" for "-1.0"
      throw damaged(std::string(what) + " is '" + std::string(word.substr(0, 20)) + "'");
    }
    return value;
  }
  /// What follows the header: exactly one white space lies between, and the next may be a pixel.
  Bytes raster() const {
    if (rest_.empty()) throw truncated();
    return rest_.subspan(1);
  }
  std::size_t left() const { return rest_.size(); }

  Fault truncated() const { return {"the " + format_ + " is truncated"}; }
  Fault damaged(const std::string& how) const { return {"the " + format_ + " is damaged: " + how}; }

 private:
  void skip_space() {
    while (!rest_.empty() && (is_space(rest_[0]) || rest_[0] == '#')) {
      const bool comment = rest_[0] == '#';
      const auto end =
          comment ? std::find_if(rest_.begin(), rest_.end(), [](auto c) { return c == '\n' || c == '\r'; })
                  : rest_.begin() + 1;
      rest_ = rest_.subspan(end - rest_.begin());
    }
  }

  Bytes rest_;
  std::string format_;
};

std::vector<std::int64_t> read_size(Words& words) {
  const auto width = words.number<std::int64_t>("the width");
  const auto height = words.number<std::int64_t>("the height");
  if (width < 0 || height < 0) throw words.damaged("a size is negative");
  return {width, height};
}

// ---- PGM and PPM ----------------------------------------------------------------------------------------

/// The samples as numbers from 0 to `maxval`, scaled to the whole range of T: a 10-bit white comes out white.
template <class T, class Next>
void fill(const Buffer& picture, std::uint32_t maxval, const Words& words, Next next) {
  constexpr std::uint32_t white = static_cast<T>(-1);
  auto* to = static_cast<T*>(picture.data());
  for (auto* end = to + picture.pixels() * picture.type().lanes; to != end; ++to) {
    const std::uint32_t v = next();
    if (v > maxval) {
      throw words.damaged("a sample is " + std::to_string(v) + ", the largest is " + std::to_string(maxval));
    }
    *to = static_cast<T>(maxval == white ? v : (std::uint64_t{v} * white + maxval / 2) / maxval);
  }
}

template <class Next>
void fill(const Buffer& picture, std::uint32_t maxval, const Words& words, Next next) {
  if (picture.type().scalar == Scalar::U8) {
    fill<std::uint8_t>(picture, maxval, words, next);
  } else {
    fill<std::uint16_t>(picture, maxval, words, next);
  }
}

Decoded read_integers(const Source& source, const char* format, int lanes) {
  Words words(source.bytes, format);
  const bool text = words.next() < "P4";
  const auto extents = read_size(words);
  const auto maxval = words.number<std::uint32_t>("the largest sample");
  if (maxval == 0 || maxval > 65535) {
    throw words.damaged("the largest sample is " + std::to_string(maxval) + ", not within 1 to 65535");
  }
  const Type type{maxval < 256 ? Scalar::U8 : Scalar::U16, lanes};

  // A sample of text takes a digit and a space, the last one no space.
  const std::int64_t samples = checked_pixels(extents, size_of(type), "it") * lanes;
  const std::int64_t least = least_length(samples, absurd);
  check_claim(source, type, extents, least);
  const std::size_t have = text ? words.left() : words.raster().size();
  if (have < static_cast<std::size_t>(text ? 2 * samples : samples * size_of(type.scalar))) {
    throw words.truncated();
  }
  const Buffer picture = allocate_claimed(source, type, extents, least);
  if (text) {
    fill(picture, maxval, words, [&] { return words.number<std::uint32_t>("a sample"); });
  } else {
    const std::uint8_t* from = words.raster().data();
    const bool wide = type.scalar == Scalar::U16;
    fill(picture, maxval, words, [&]() -> std::uint32_t {
      const std::uint32_t high = *from++;
      return wide ? high << 8 | *from++ : high;
    });
  }
  return {picture};
}

bool is_pgm(Bytes file) { return has_magic(file, "P2") || has_magic(file, "P5"); }
bool is_ppm(Bytes file) { return has_magic(file, "P3") || has_magic(file, "P6"); }
Decoded read_pgm(const Source& source) { return read_integers(source, "PGM", 1); }
Decoded read_ppm(const Source& source) { return read_integers(source, "PPM", 3); }

void put_header(std::FILE* file, const std::string& magic, const Buffer& picture, const std::string& last) {
  const std::string header = magic + "\n" + std::to_string(picture.extent(0)) + " " +
                             std::to_string(picture.extent(1)) + "\n" + last + "\n";
  put(file, header.data(), header.size());
}

void write_integers(std::FILE* file, const Buffer& picture, Bytes) {
  const bool wide = picture.type().scalar == Scalar::U16;
  put_header(file, picture.type().lanes == 1 ? "P5" : "P6", picture, wide ? "65535" : "255");
  if (!wide || !native_is_little) return put(file, picture.data(), picture.bytes());
  std::vector<std::uint16_t> row(picture.extent(0) * picture.type().lanes);
  for (std::int64_t y = 0; y < picture.extent(1); ++y) {
    std::memcpy(row.data(), row_of(picture, y), row.size() * 2);
    for (std::uint16_t& v : row) v = swapped(v);
    put(file, row.data(), row.size() * 2);
  }
}

// ---- PFM ------------------------------------------------------------------------------------------------

bool is_pfm(Bytes file) { return has_magic(file, "Pf") || has_magic(file, "PF"); }

Decoded read_pfm(const Source& source) {
  Words words(source.bytes, "PFM");
  const Type type{Scalar::F32, words.next() == "PF" ? 3 : 1};
  const auto extents = read_size(words);
  // The sign tells the byte order. The magnitude is a unit of brightness: no reader applies it, nor do we.
  const auto scale = words.number<double>("the scale");
  if (scale == 0 || !std::isfinite(scale)) throw words.damaged("the scale is not a number above or below 0");

  const Bytes raster = words.raster();
  const std::int64_t least = least_length(checked_pixels(extents, size_of(type), "it"), absurd);
  check_claim(source, type, extents, least);
  const auto row_bytes = static_cast<std::size_t>(extents[0] * size_of(type));
  if (raster.size() / row_bytes < static_cast<std::size_t>(extents[1])) throw words.truncated();
  const Buffer picture = allocate_claimed(source, type, extents, least);
  for (std::int64_t y = 0; y < extents[1]; ++y) {  // the file starts with the bottom row
    std::memcpy(row_of(picture, extents[1] - 1 - y), raster.data() + y * row_bytes, row_bytes);
  }
  if ((scale < 0) != native_is_little) {
    auto* sample = static_cast<std::uint32_t*>(picture.data());
    for (std::int64_t i = 0; i < picture.pixels() * type.lanes; ++i) sample[i] = swapped(sample[i]);
  }
  return {picture};
}

void write_pfm(std::FILE* file, const Buffer& picture, Bytes) {
  put_header(file, picture.type().lanes == 1 ? "Pf" : "PF", picture, native_is_little ? "-1.0" : "1.0");
  const auto row_bytes = static_cast<std::size_t>(picture.extent(0) * size_of(picture.type()));
  for (std::int64_t y = picture.extent(1) - 1; y >= 0; --y) put(file, row_of(picture, y), row_bytes);
}

}  // namespace
}  // namespace netpbm

const Codec& pgm_codec() {
  static const Codec codec{"PGM", {".pgm"},       {Scalar::U8, Scalar::U16}, {1},
                           2,     netpbm::is_pgm, netpbm::read_pgm,          netpbm::write_integers};
  return codec;
}

const Codec& ppm_codec() {
  static const Codec codec{"PPM", {".ppm"},       {Scalar::U8, Scalar::U16}, {3},
                           2,     netpbm::is_ppm, netpbm::read_ppm,          netpbm::write_integers};
  return codec;
}

/// .pnm is either of the two.
const Codec& pnm_codec() {
  static const Codec codec{"PNM",   {".pnm"}, {Scalar::U8, Scalar::U16}, {1, 3}, 2,
                           nullptr, nullptr,  netpbm::write_integers};
  return codec;
}

const Codec& pfm_codec() {
  static const Codec codec{"PFM", {".pfm"},       {Scalar::F32},    {1, 3},
                           2,     netpbm::is_pfm, netpbm::read_pfm, netpbm::write_pfm};
  return codec;
}

}  // namespace weft::io
