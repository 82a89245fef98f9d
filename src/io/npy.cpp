// NPY: an array of NumPy's, as numpy.save writes it. The last axis of NumPy's is the nearest one, so a
// picture has the shape (height, width) or (height, width, lanes), a volume (depth, height, width) or (depth,
// height, width, lanes). Of three axes, the last one is lanes if it has 1 to 4 elements; so a volume as
// narrow as that is written with an axis of lanes.
#include "io/claim.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

namespace weft::io {
namespace npy {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "\x93NUMPY"sv;
constexpr bool native_is_little = std::endian::native == std::endian::little;

struct Code {
  std::string_view name;
  Scalar scalar;
};
constexpr Code codes[] = {{"b1", Scalar::Bool}, {"i1", Scalar::I8},  {"i2", Scalar::I16},
                          {"i4", Scalar::I32},  {"i8", Scalar::I64}, {"u1", Scalar::U8},
                          {"u2", Scalar::U16},  {"u4", Scalar::U32}, {"u8", Scalar::U64},
                          {"f2", Scalar::F16},  {"f4", Scalar::F32}, {"f8", Scalar::F64}};

struct Header {
  Scalar scalar = Scalar::U8;
  bool swapped = false;        ///< The bytes of a number are in the other order.
  bool first_nearest = false;  ///< Fortran's order: the first axis is the nearest one.
  std::vector<std::int64_t> shape;
  Bytes elements;
};

Fault damaged() { return {"the NPY is damaged: its header is not one of NumPy's"}; }

/// What follows 'key': in the header, which is a dictionary of Python's.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const auto at = header.find(quoted);
  if (at == std::string_view::npos) throw damaged();
  header.remove_prefix(at + quoted.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::string_view between(std::string_view text, char open, char close) {
  const auto end = text.find(close, 1);
  if (text.empty() || text[0] != open || end == std::string_view::npos) throw damaged();
  return text.substr(1, end - 1);
}

std::vector<std::int64_t> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    if (text.empty()) return shape;
    std::int64_t extent = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (problem != std::errc() || extent < 0) throw damaged();
    text.remove_prefix(end - text.data());
    shape.push_back(extent);
  }
}

void parse_type(std::string_view text, Header& header) {
  if (text.empty() || text[0] != '\'')
    throw Fault{"its elements are records", "save one field as an array of its own"};
  const std::string_view type = between(text, '\'', '\'');
  const auto* code = std::find_if(std::begin(codes), std::end(codes),
                                  [&](const Code& c) { return !type.empty() && c.name == type.substr(1); });
  if (code == std::end(codes) || "<>|="sv.find(type[0]) == std::string_view::npos)
    throw Fault{"its elements are '" + std::string(type) + "'",
                "convert them with astype to bool, integers or floats of 16, 32 or 64 bits"};
  header.scalar = code->scalar;
  header.swapped = size_of(code->scalar) > 1 && type[0] == (native_is_little ? '>' : '<');
}

Header read_header(Bytes file) {
  const Fault truncated{"the NPY is truncated"};
  if (file.size() < 12) throw truncated;
  const int version = file[6];
  if (version < 1 || version > 3) throw Fault{"its version is " + std::to_string(version), "save it again"};
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t b = 0; b < start - 8; ++b) length |= std::size_t{file[8 + b]} << 8 * b;
  if (file.size() - start < length) throw truncated;
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + start, length);
  Header header;
  parse_type(value_of(text, "descr"), header);
  const std::string_view order = value_of(text, "fortran_order");
  if (!order.starts_with("True") && !order.starts_with("False")) throw damaged();
  header.first_nearest = order.starts_with("True");
  header.shape = parse_shape(between(value_of(text, "shape"), '(', ')'));
  header.elements = file.subspan(start + length);
  return header;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const auto e : shape) text += (text.empty() ? "" : ", ") + std::to_string(e);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

/// Which axis is what; those that the array lacks have one element.
struct Axes {
  std::optional<std::size_t> lanes = {}, x = {}, y = {}, z = {};
};

Axes axes_of(const std::vector<std::int64_t>& shape) {
  const std::size_t rank = shape.size();
  const auto is_lanes = [&] { return shape.back() >= 1 && shape.back() <= 4; };
  if (rank == 1) return {.x = 0};
  if (rank == 2) return {.x = 1, .y = 0};
  if (rank == 3 && is_lanes()) return {.lanes = 2, .x = 1, .y = 0};
  if (rank == 3) return {.x = 2, .y = 1, .z = 0};
  if (rank == 4 && is_lanes()) return {.lanes = 3, .x = 2, .y = 1, .z = 0};
  throw Fault{
      "its shape is " + shape_text(shape),
      "a picture has (height, width), a volume (depth, height, width), and an axis of up to 4 lanes may "
      "follow"};
}

std::uint8_t* copy_number(const std::uint8_t* from, std::uint8_t* to, std::int64_t bytes, bool swapped) {
  if (swapped)
    std::reverse_copy(from, from + bytes, to);
  else
    std::memcpy(to, from, bytes);
  return to + bytes;
}

void copy_elements(const Header& header, const Axes& axes, const Buffer& picture) {
  const std::int64_t bytes = size_of(header.scalar);
  if (!header.swapped && !header.first_nearest) {
    std::memcpy(picture.data(), header.elements.data(), picture.bytes());
    return;
  }
  const std::size_t rank = header.shape.size();
  std::vector<std::int64_t> strides(rank, bytes);
  for (std::size_t i = 1; i < rank; ++i) {
    if (header.first_nearest)
      strides[i] = strides[i - 1] * header.shape[i - 1];
    else
      strides[rank - 1 - i] = strides[rank - i] * header.shape[rank - i];
  }
  const auto stride = [&](std::optional<std::size_t> axis) { return axis ? strides[*axis] : 0; };
  const std::int64_t height = picture.extent(1), pages = picture.rank() == 3 ? picture.extent(2) : 1;
  auto* to = static_cast<std::uint8_t*>(picture.data());
  for (std::int64_t z = 0; z < pages; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      const std::uint8_t* row = header.elements.data() + z * stride(axes.z) + y * stride(axes.y);
      for (std::int64_t x = 0; x < picture.extent(0); ++x) {
        for (int l = 0; l < picture.type().lanes; ++l)
          to = copy_number(row + x * stride(axes.x) + l * stride(axes.lanes), to, bytes, header.swapped);
      }
    }
  }
}

bool recognizes(Bytes file) { return starts_with(file, magic); }

Decoded read(const Source& source) {
  const Header header = read_header(source.bytes);
  if (header.shape.empty()) throw Fault{"it is a single number, not an array"};
  const Axes axes = axes_of(header.shape);
  const auto extent = [&](std::optional<std::size_t> axis) { return axis ? header.shape[*axis] : 1; };
  const Type type{header.scalar, static_cast<int>(extent(axes.lanes))};
  std::vector<std::int64_t> extents{extent(axes.x), extent(axes.y)};
  if (axes.z) extents.push_back(extent(axes.z));
  check_claim(source, type, extents, 0);
  const std::int64_t bytes = checked_pixels(extents, size_of(type), "it") * size_of(type);
  if (std::ssize(header.elements) < bytes) throw Fault{"the NPY is truncated"};
  const Buffer picture = allocate_claimed(source, type, extents, 0);
  copy_elements(header, axes, picture);
  if (type.scalar == Scalar::Bool) {  // only 0 and 1 are values of a bool
    auto* value = static_cast<std::uint8_t*>(picture.data());
    std::for_each(value, value + picture.bytes(), [](std::uint8_t& v) { v = v != 0; });
  }
  return {picture};
}

std::string code_of(Scalar scalar) {
  const auto* code =
      std::find_if(std::begin(codes), std::end(codes), [&](const Code& c) { return c.scalar == scalar; });
  const char order = size_of(scalar) == 1 ? '|' : native_is_little ? '<' : '>';
  return order + std::string(code->name);
}

void write(std::FILE* file, const Buffer& picture, Bytes) {
  std::vector<std::int64_t> shape(picture.extents().rbegin(), picture.extents().rend());
  const int lanes = picture.type().lanes;
  if (lanes > 1 || (shape.size() == 3 && shape.back() <= 4)) shape.push_back(lanes);
  std::string header = "{'descr': '" + code_of(picture.type().scalar) +
                       "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr std::size_t before = 10, alignment = 64;  // of the first element
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string start(magic);
  start += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  start += header;
  put(file, start.data(), start.size());
  put(file, picture.data(), picture.bytes());
}

}  // namespace
}  // namespace npy

const Codec& npy_codec() {
  static const Codec codec{
      .name = "NPY",
      .extensions = {".npy"},
      .scalars = {Scalar::Bool, Scalar::U8, Scalar::I8, Scalar::U16, Scalar::I16, Scalar::U32, Scalar::I32,
                  Scalar::U64, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64},
      .lanes = {1, 2, 3, 4},
      .max_rank = 3,
      .recognizes = npy::recognizes,
      .read = npy::read,
      .write = npy::write};
  return codec;
}

}  // namespace weft::io
