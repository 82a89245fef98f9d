#include <weft/buffer.h>
#include <weft/error.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/blocks.h"
#include "base/cpp_names.h"

namespace weft {
namespace {

std::string text_of(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (auto e : extents) text += (text.empty() ? "" : "x") + std::to_string(e);
  return text.empty() ? "scalar" : text;
}

/// Calls visit(offset_a, offset_b) for every pixel, offsets in scalars.
template <class Visit>
void for_each_pixel(const Buffer& a, const Buffer& b, Visit visit) {
  if (a.pixels() == 0) return;
  std::vector<std::int64_t> at(a.rank(), 0);
  for (;;) {
    std::int64_t offset_a = 0, offset_b = 0;
    for (int d = 0; d < a.rank(); ++d) {
      offset_a += at[d] * a.stride(d);
      offset_b += at[d] * b.stride(d);
    }
    visit(offset_a, offset_b);
    int d = 0;
    while (d < a.rank() && ++at[d] == a.extent(d)) at[d++] = 0;
    if (d == a.rank()) return;
  }
}

/// Copies rows of adjacent scalars.
void copy_rows(const Buffer& to, const Buffer& from) {
  const auto row = static_cast<std::size_t>(to.extent(0) * size_of(to.type()));
  const int size = size_of(to.type().scalar);
  const auto first_column = [](const Buffer& b) {
    std::vector<std::int64_t> extents(b.extents().begin() + 1, b.extents().end());
    return Buffer(b.data(), b.type(), std::move(extents), {b.strides().begin() + 1, b.strides().end()});
  };
  for_each_pixel(first_column(to), first_column(from), [&](std::int64_t at, std::int64_t source) {
    std::memcpy(static_cast<std::byte*>(to.data()) + at * size,
                static_cast<const std::byte*>(from.data()) + source * size, row);
  });
}

}  // namespace

std::string name_of(Memory memory) {
  return memory.is_host() ? "the host's memory" : "the memory of GPU " + std::to_string(memory.device);
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents, int lanes) {
  std::vector<std::int64_t> strides;
  std::int64_t stride = lanes;
  for (auto e : extents) {
    strides.push_back(stride);
    stride *= e;
  }
  return strides;
}

std::int64_t checked_pixels(const std::vector<std::int64_t>& extents, int bytes_per_pixel,
                            const std::string& what) {
  std::int64_t pixels = 1, bytes = bytes_per_pixel;
  for (auto e : extents) {
    if (e < 0) throw Error(what + " has a negative size: " + text_of(extents));
  }
  for (auto e : extents) {
    if (e == 0) return 0;
    if (bytes > std::numeric_limits<std::int64_t>::max() / e) {
      throw Error(what + " is too large to address: " + text_of(extents));
    }
    bytes *= e;
    pixels *= e;
  }
  return pixels;
}

Buffer::Buffer(void* data, Type type, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides,
               std::int64_t lane_stride)
    : data_(data),
      type_(type),
      extents_(std::move(extents)),
      strides_(std::move(strides)),
      lane_stride_(lane_stride) {
  if (extents_.size() != strides_.size()) throw Error("a buffer needs one stride per dimension");
  if (type_.lanes < 1 || type_.lanes > 4) {
    throw Error("a pixel has 1 to 4 lanes, not " + std::to_string(type_.lanes))
        .help("make the lanes a dimension of an image of scalars, with the stride 1");
  }
  checked_pixels(extents_, size_of(type_), "the buffer");
}

Buffer Buffer::allocate(Type type, std::vector<std::int64_t> extents) {
  const std::int64_t pixels = checked_pixels(extents, size_of(type), "the buffer");
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(pixels * size_of(type), 1));
  const std::size_t size = block_size(bytes);
  void* data = size == 0 ? nullptr : allocate_block(size);
  if (!data)
    throw Error("cannot allocate " + std::to_string(bytes) + " bytes for a buffer of " + text_of(extents));
  std::memset(data, 0, bytes);
  auto strides = dense_strides(extents, type.lanes);
  Buffer buffer(data, type, std::move(extents), std::move(strides));
  buffer.owner_ = std::shared_ptr<void>(data, std::free);
  return buffer;
}

Buffer Buffer::over(void* data, Type type, std::size_t available, std::vector<std::int64_t> extents) {
  const std::int64_t pixels = checked_pixels(extents, size_of(type), "the view");
  if (static_cast<std::size_t>(pixels) != available) {
    throw Error("a view of " + text_of(extents) + " needs " + std::to_string(pixels) +
                " pixels, the vector has " + std::to_string(available));
  }
  auto strides = dense_strides(extents, type.lanes);
  return {data, type, std::move(extents), std::move(strides)};
}

Buffer Buffer::on_gpu(void* data, Type type, std::vector<std::int64_t> extents, int device) {
  auto strides = dense_strides(extents, type.lanes);
  return Buffer(data, type, std::move(extents), std::move(strides)).in(Memory::gpu(device));
}

Buffer Buffer::in(Memory memory) const {
  Buffer view = *this;
  view.memory_ = memory;
  return view;
}

Buffer Buffer::lane(int i) const {
  if (i < 0 || i >= type_.lanes)
    throw Error("lane " + std::to_string(i) + " of a buffer of " + name_of(type_) + " pixels")
        .note("needs", "0 to " + std::to_string(type_.lanes - 1));
  Buffer view = *this;
  view.data_ = static_cast<std::byte*>(data_) + i * lane_stride_ * size_of(type_.scalar);
  view.type_ = type_.lane();
  view.lane_stride_ = 1;
  return view;
}

bool Buffer::is_same_view(const Buffer& other) const {
  return data_ == other.data_ && type_ == other.type_ && extents_ == other.extents_ &&
         strides_ == other.strides_ && lane_stride_ == other.lane_stride_ && memory_ == other.memory_;
}

Buffer Buffer::owned_by(std::shared_ptr<void> owner) const {
  Buffer view = *this;
  view.owner_ = std::move(owner);
  return view;
}

Scalar Buffer::scalar_of_cv_depth(int depth) {
  constexpr Scalar scalars[] = {Scalar::U8,  Scalar::I8,  Scalar::U16, Scalar::I16,
                                Scalar::I32, Scalar::F32, Scalar::F64, Scalar::F16};
  if (depth < 0 || depth > 7)
    throw Error("cv::Mat depth " + std::to_string(depth) + " is not a pixel type of Weft");
  return scalars[depth];
}

void Buffer::check_cv_dims(int dims) {
  if (dims <= 2) return;
  throw Error("view_of_mat is given a cv::Mat of " + std::to_string(dims) + " dimensions")
      .note("needs", "2")
      .help("view others as Buffer(mat.data, type, extents, strides), x first, strides counted in scalars");
}

void Buffer::check_pixel(Type wanted, std::span<const std::int64_t> at) const {
  const std::string buffer = "a buffer of " + text_of(extents_) + " " + name_of(type_) + " pixels";
  if (empty()) throw Error("a pixel of a buffer without memory");
  if (!memory_.is_host()) throw Error("the CPU cannot reach pixels in " + name_of(memory_));
  if (wanted != type_) {
    Error error("at<" + cpp_name(wanted) + ">() of " + buffer);
    const bool is_lane = wanted == type_.lane();
    throw error.note("needs", "at<" + cpp_name(type_) + ">()" +
                                  (is_lane ? ", or lane(i).at<" + cpp_name(wanted) + ">()" : ""));
  }
  if (type_.lanes > 1 && lane_stride_ != 1) {
    throw Error("at<" + cpp_name(wanted) + ">() of " + buffer + " whose lanes are not side by side")
        .help("take one lane, lane(i).at<" + cpp_name(type_.lane()) + ">(), or packed(), a copy");
  }
  if (at.size() != extents_.size()) {
    throw Error(std::to_string(at.size()) + (at.size() == 1 ? " index" : " indices") + " for " + buffer)
        .note("needs", std::to_string(rank()) + ", one per dimension");
  }
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] >= 0 && at[d] < extents_[d]) continue;
    std::string place;
    for (const std::int64_t i : at) place += (place.empty() ? "" : ", ") + std::to_string(i);
    throw Error("pixel (" + place + ") is outside of " + buffer);
  }
}

std::int64_t Buffer::pixels() const {
  std::int64_t n = 1;
  for (auto e : extents_) n *= e;
  return n;
}
std::int64_t Buffer::bytes() const { return pixels() * size_of(type_); }

bool Buffer::rows_are_dense() const {
  return (type_.lanes == 1 || lane_stride_ == 1) && (rank() == 0 || strides_[0] == type_.lanes);
}
bool Buffer::is_dense() const {
  return (type_.lanes == 1 || lane_stride_ == 1) && strides_ == dense_strides(extents_, type_.lanes);
}

Buffer Buffer::packed() const {
  Buffer copy = allocate(type_, extents_);
  copy.copy_from(*this);
  return copy;
}

void Buffer::copy_from(const Buffer& source) const {
  for (const Buffer* buffer : {this, &source}) {
    if (!buffer->memory_.is_host())
      throw Error("cannot copy a buffer in " + name_of(buffer->memory_) + " on the CPU");
  }
  if (type_ != source.type_ || extents_ != source.extents_) {
    throw Error("cannot copy a " + name_of(source.type_) + " buffer of " + text_of(source.extents_) +
                " to a " + name_of(type_) + " buffer of " + text_of(extents_));
  }
  if (is_dense() && source.is_dense()) {
    if (pixels() > 0) std::memcpy(data_, source.data_, static_cast<std::size_t>(bytes()));
    return;
  }
  if (rank() > 0 && rows_are_dense() && source.rows_are_dense()) {
    if (pixels() > 0) copy_rows(*this, source);
    return;
  }
  const int size = size_of(type_.scalar);
  for_each_pixel(*this, source, [&](std::int64_t to, std::int64_t from) {
    for (int l = 0; l < type_.lanes; ++l) {
      std::memcpy(static_cast<std::byte*>(data_) + (to + l * lane_stride_) * size,
                  static_cast<const std::byte*>(source.data_) + (from + l * source.lane_stride_) * size,
                  size);
    }
  });
}

}  // namespace weft
