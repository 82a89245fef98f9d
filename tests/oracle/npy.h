// Reads the .npy files of tests/oracle/data (NumPy's format, version 1.0, C order) into buffers:
// an array (h, w) becomes an image of w x h, an array (h, w, c) one with c lanes.
#pragma once

#include <weft/buffer.h>
#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace weft::oracle {

static_assert(std::endian::native == std::endian::little, "the files are read without swapping bytes");

/// The header of a .npy file: a Python dictionary with the keys descr, fortran_order and shape.
class NpyHeader {
 public:
  NpyHeader(std::string text, std::string file) : text_(std::move(text)), file_(std::move(file)) {}

  Scalar scalar() const {
    const std::string descr = quoted(value_of("descr"));
    if (descr == "|u1") return Scalar::U8;
    if (descr == "|i1") return Scalar::I8;
    if (descr == "<u2") return Scalar::U16;
    if (descr == "<i4") return Scalar::I32;
    if (descr == "<u4") return Scalar::U32;
    if (descr == "<i8") return Scalar::I64;
    if (descr == "<u8") return Scalar::U64;
    if (descr == "<f4") return Scalar::F32;
    if (descr == "<f8") return Scalar::F64;
    fail("has elements of the unsupported type '" + descr + "'");
  }

  bool fortran_order() const {
    const std::string value = value_of("fortran_order");
    if (value.starts_with("False")) return false;
    if (value.starts_with("True")) return true;
    fail("has a malformed header: fortran_order is neither True nor False");
  }

  std::vector<std::int64_t> shape() const {
    const std::string value = value_of("shape");
    const std::size_t end = value.find(')');
    if (!value.starts_with('(') || end == std::string::npos)
      fail("has a malformed header: shape is no tuple");
    std::vector<std::int64_t> sizes;
    for (std::size_t at = 1; at < end;) {
      const std::size_t comma = std::min(value.find(',', at), end);
      if (const std::string item = trimmed(value.substr(at, comma - at)); !item.empty() || comma < end) {
        sizes.push_back(size_of_dimension(item));
      }
      at = comma + 1;
    }
    return sizes;
  }

  [[noreturn]] void fail(const std::string& what) const { throw Error("'" + file_ + "' " + what); }

 private:
  /// What follows "'key':", to the end of the header.
  std::string value_of(const std::string& key) const {
    const std::string name = "'" + key + "':";
    const std::size_t at = text_.find(name);
    if (at == std::string::npos) fail("has a malformed header: no " + key);
    return trimmed(text_.substr(at + name.size()));
  }
  std::string quoted(const std::string& value) const {
    const std::size_t end = value.find('\'', 1);
    if (!value.starts_with('\'') || end == std::string::npos)
      fail("has a malformed header: descr is no string");
    return value.substr(1, end - 1);
  }
  std::int64_t size_of_dimension(const std::string& digits) const {
    constexpr std::size_t longest = 12;  // more pixels than any test image has, and far from overflow
    const bool number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!number || digits.size() > longest) fail("has a malformed header: '" + digits + "' is no size");
    return std::stoll(digits);
  }
  static std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \n");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \n") - first + 1);
  }

  std::string text_, file_;
};

/// The image in a .npy file. Throws weft::Error naming the file when it is missing, malformed, truncated, too
/// long, or of a kind that these tests do not use.
inline Buffer load_npy(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error("cannot open '" + file + "'");
  std::ostringstream content;
  content << in.rdbuf();
  const std::string bytes = content.str();

  constexpr std::size_t preamble = 10;  // magic, version, length of the header
  if (bytes.size() < preamble || !bytes.starts_with("\x93NUMPY"))
    throw Error("'" + file + "' is no .npy file");
  if (bytes[6] != 1 || bytes[7] != 0) throw Error("'" + file + "' is not of .npy version 1.0");
  std::uint16_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + 8, sizeof header_size);
  const std::size_t start = preamble + header_size;
  if (bytes.size() < start) throw Error("'" + file + "' ends in its header");

  const NpyHeader header(bytes.substr(preamble, header_size), file);
  if (header.fortran_order()) header.fail("is in Fortran order, not in C order");
  const auto shape = header.shape();
  if (shape.size() != 2 && shape.size() != 3) header.fail("is no (h, w) or (h, w, c) array");
  const std::int64_t lanes = shape.size() == 3 ? shape[2] : 1;
  if (lanes < 1 || lanes > 4) header.fail("has " + std::to_string(lanes) + " lanes, not 1 to 4");

  const Type type{header.scalar(), static_cast<int>(lanes)};
  const std::vector<std::int64_t> extents{shape[1], shape[0]};
  const std::int64_t expected = checked_pixels(extents, size_of(type), "'" + file + "'") * size_of(type);
  const auto found = static_cast<std::int64_t>(bytes.size() - start);
  if (found != expected) {
    header.fail("has " + std::to_string(found) + " bytes of pixels, not " + std::to_string(expected));
  }
  Buffer image = Buffer::allocate(type, extents);
  std::memcpy(image.data(), bytes.data() + start, static_cast<std::size_t>(expected));
  return image;
}

}  // namespace weft::oracle
