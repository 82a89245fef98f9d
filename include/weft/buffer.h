// Views over pixels in memory. A Buffer says where the pixels are and how they are strided; it owns them only
// if it was made by Buffer::allocate.
#pragma once

#include <weft/types.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Where pixels lie. Only programs that run on a GPU can read and write its memory.
struct Memory {
  enum class Kind { Host, Gpu };
  Kind kind = Kind::Host;
  int device = 0;  ///< Which GPU, as CUDA counts them.

  static Memory gpu(int device = 0) { return {Kind::Gpu, device}; }
  bool is_host() const { return kind == Kind::Host; }
  bool operator==(const Memory&) const = default;
};
std::string name_of(Memory memory);  ///< "the host's memory", "the memory of GPU 0"

/// An n-D array of pixels, x first. Strides count scalars (not pixels, not bytes): pixel (x, y) has its lane
/// l at data + x * stride[0] + y * stride[1] + l * lane_stride. An interleaved RGB image has stride[0] == 3
/// and lane_stride == 1, a planar one stride[0] == 1 and lane_stride == width * height.
class Buffer {
 public:
  Buffer() = default;
  Buffer(void* data, Type type, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides,
         std::int64_t lane_stride = 1);

  /// A dense, interleaved, zeroed, owned buffer, from 4 MiB on in huge pages where the system has them.
  /// Throws weft::Error if the size is negative or overflows.
  static Buffer allocate(Type type, std::vector<std::int64_t> extents);

  /// A dense interleaved view over a vector: Buffer::view(pixels, {width, height}).
  template <class T>
  static Buffer view(std::vector<T>& pixels, std::vector<std::int64_t> extents) {
    return over(pixels.data(), type_of<T>(), pixels.size(), std::move(extents));
  }
  /// A view over anything shaped like a 2-D cv::Mat (rows, cols, step, channels(), depth(), data).
  template <class Mat>
  static Buffer view_of_mat(const Mat& mat) {
    if constexpr (requires { mat.dims; }) check_cv_dims(mat.dims);
    const Type type{scalar_of_cv_depth(mat.depth()), mat.channels()};
    const auto row = static_cast<std::int64_t>(static_cast<std::size_t>(mat.step)) / size_of(type.scalar);
    return {mat.data, type, {mat.cols, mat.rows}, {type.lanes, row}};
  }

  /// A dense interleaved view of memory of a GPU.
  static Buffer on_gpu(void* data, Type type, std::vector<std::int64_t> extents, int device = 0);

  /// The same view, of other memory: Buffer(data, type, extents, strides).in(Memory::gpu()).
  Buffer in(Memory memory) const;
  /// The view of one lane of each pixel: rgb.lane(0).at<float>(x, y) is red.
  Buffer lane(int i) const;
  /// The same view, which keeps the owner of its memory alive.
  Buffer owned_by(std::shared_ptr<void> owner) const;

  /// Whether both are the same pixels of the same memory, whoever owns it.
  bool is_same_view(const Buffer& other) const;

  bool empty() const { return data_ == nullptr; }
  Memory memory() const { return memory_; }
  void* data() const { return data_; }
  Type type() const { return type_; }
  int rank() const { return static_cast<int>(extents_.size()); }
  std::int64_t extent(int dim) const { return extents_[dim]; }
  std::int64_t stride(int dim) const { return strides_[dim]; }
  std::int64_t lane_stride() const { return lane_stride_; }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }
  std::int64_t pixels() const;  ///< The number of pixels.
  std::int64_t bytes() const;   ///< pixels() * size_of(type()), whatever the strides.

  /// x adjacent, lanes interleaved: what emitted code reads without repacking. Rows may be padded.
  bool rows_are_dense() const;
  /// No padding at all.
  bool is_dense() const;
  /// An owned dense interleaved copy. Throws weft::Error for memory of a GPU.
  Buffer packed() const;
  /// Copies the pixels of `source`, which has the same type and extents. Throws weft::Error for memory of a
  /// GPU.
  void copy_from(const Buffer& source) const;

  /// One pixel: buffer.at<float>(x, y). Throws weft::Error if its pixels are no T, if it has no such pixel,
  /// or if the pixel is in the memory of a GPU.
  template <class T, std::integral... Index>
  T& at(Index... index) const {
    const std::int64_t at[] = {static_cast<std::int64_t>(index)..., 0};
    check_pixel(type_of<T>(), {at, sizeof...(Index)});
    return unchecked<T>(index...);
  }
  /// Likewise where the caller knows that all is right, and has measured that the checks take time.
  template <class T, std::integral... Index>
  T& unchecked(Index... index) const {
    const std::int64_t at[] = {static_cast<std::int64_t>(index)..., 0};
    std::int64_t offset = 0;
    for (int d = 0; d < rank(); ++d) offset += at[d] * strides_[d];
    return *reinterpret_cast<T*>(static_cast<std::byte*>(data_) + offset * size_of(type_.scalar));
  }

 private:
  static Buffer over(void* data, Type type, std::size_t available, std::vector<std::int64_t> extents);
  static Scalar scalar_of_cv_depth(int depth);
  static void check_cv_dims(int dims);
  void check_pixel(Type wanted, std::span<const std::int64_t> at) const;

  void* data_ = nullptr;
  Type type_;
  std::vector<std::int64_t> extents_, strides_;
  std::int64_t lane_stride_ = 1;
  Memory memory_;
  std::shared_ptr<void> owner_;
};

/// The dense interleaved strides of the given extents.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents, int lanes);
/// The number of pixels in a box; throws weft::Error naming `what` when it is negative or pixels *
/// bytes_per_pixel does not fit in 63 bits.
std::int64_t checked_pixels(const std::vector<std::int64_t>& extents, int bytes_per_pixel,
                            const std::string& what);

}  // namespace weft
