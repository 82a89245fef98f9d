#include "runtime/host_copies.h"

#include <algorithm>

namespace weft::runtime {
namespace {

constexpr std::int64_t bytes_of_thread = 1 << 20;  // worth waking one
constexpr int most_copying = 8;                    // more would wait for memory

}  // namespace

Buffer rows_of(const Buffer& buffer, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> extents = buffer.extents();
  extents.back() = last - first;
  const std::int64_t scalars = first * buffer.strides().back();
  auto* data = static_cast<std::byte*>(buffer.data()) + scalars * size_of(buffer.type().scalar);
  return Buffer(data, buffer.type(), std::move(extents), buffer.strides(), buffer.lane_stride())
      .in(buffer.memory());
}

void HostCopies::copy(const Buffer& to, const Buffer& from) const {
  const std::int64_t portions =
      from.rank() > 0 ? std::min(from.bytes() / bytes_of_thread, from.extents().back()) : 0;
  if (portions < 2) return to.copy_from(from);
  std::call_once(made_,
                 [&] { threads_ = std::make_unique<ThreadPool>(std::min(usual_threads(), most_copying)); });
  const std::int64_t rows = from.extents().back();
  threads_->parallel_for(0, rows, (rows + portions - 1) / portions,
                         [&](std::int64_t first, std::int64_t last) {
                           rows_of(to, first, last).copy_from(rows_of(from, first, last));
                         });
}

}  // namespace weft::runtime
