#include <weft/dlpack.h>

#include <dlpack/dlpack.h>
#include <weft/error.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr int boolean = 6;  // kDLBool of newer headers than this may be

int code_of(Scalar s) {
  if (s == Scalar::Bool) return boolean;
  if (is_float(s)) return kDLFloat;
  return is_signed(s) ? kDLInt : kDLUInt;
}

Scalar scalar_of(const DLDataType& type) {
  for (int i = 0; i <= static_cast<int>(Scalar::F64); ++i) {
    const auto s = static_cast<Scalar>(i);
    if (type.lanes == 1 && type.code == code_of(s) && type.bits == 8 * size_of(s)) return s;
  }
  throw Error("a DLPack tensor has elements that are no pixels: code " + std::to_string(type.code) + ", " +
              std::to_string(type.bits) + " bits, " + std::to_string(type.lanes) + " lanes")
      .help("convert them to integers or floats of 8 to 64 bits");
}

Memory memory_of(const DLDevice& device) {
  switch (static_cast<int>(device.device_type)) {
    case kDLCPU:
    case kDLCUDAHost: return {};
    case kDLCUDA:
    case kDLCUDAManaged: return Memory::gpu(device.device_id);
    default:
      throw Error("a DLPack tensor lies on a device of type " + std::to_string(device.device_type) +
                  ", which is neither the host nor a GPU of CUDA");
  }
}

/// A tensor with all that it points to.
struct Exported {
  Buffer buffer;
  std::vector<std::int64_t> shape, strides;
  DLManagedTensor tensor{};
};

}  // namespace

Buffer from_dlpack(DLManagedTensor* managed, int lanes) {
  const DLTensor& tensor = managed->dl_tensor;
  std::vector<std::int64_t> extents(tensor.shape, tensor.shape + tensor.ndim);
  std::reverse(extents.begin(), extents.end());
  std::vector<std::int64_t> strides = dense_strides(extents, 1);
  if (tensor.strides) std::reverse_copy(tensor.strides, tensor.strides + tensor.ndim, strides.begin());
  std::int64_t lane_stride = 1;
  if (lanes > 1) {
    if (extents.empty() || extents[0] != lanes)
      throw Error("a DLPack tensor for pixels of " + std::to_string(lanes) +
                  " lanes has a last dimension of " + std::to_string(extents.empty() ? 0 : extents[0]));
    lane_stride = strides[0];
    extents.erase(extents.begin());
    strides.erase(strides.begin());
  }
  const Type type{scalar_of(tensor.dtype), lanes};
  const Memory memory = memory_of(tensor.device);
  const Buffer view(static_cast<std::byte*>(tensor.data) + tensor.byte_offset, type, std::move(extents),
                    std::move(strides), lane_stride);
  const auto release = [](void* owner) {
    auto* const owned = static_cast<DLManagedTensor*>(owner);
    if (owned->deleter) owned->deleter(owned);
  };
  return view.in(memory).owned_by(std::shared_ptr<void>(managed, release));
}

DLManagedTensor* to_dlpack(const Buffer& buffer) {
  auto exported = std::make_unique<Exported>();
  exported->buffer = buffer;
  exported->shape.assign(buffer.extents().rbegin(), buffer.extents().rend());
  exported->strides.assign(buffer.strides().rbegin(), buffer.strides().rend());
  const Type type = buffer.type();
  if (type.lanes > 1) {
    exported->shape.push_back(type.lanes);
    exported->strides.push_back(buffer.lane_stride());
  }
  DLTensor& tensor = exported->tensor.dl_tensor;
  tensor.data = buffer.data();
  tensor.device.device_type = buffer.memory().is_host() ? kDLCPU : kDLCUDA;
  tensor.device.device_id = buffer.memory().device;
  tensor.ndim = static_cast<int>(exported->shape.size());
  tensor.dtype.code = static_cast<std::uint8_t>(code_of(type.scalar));
  tensor.dtype.bits = static_cast<std::uint8_t>(8 * size_of(type.scalar));
  tensor.dtype.lanes = 1;
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  exported->tensor.manager_ctx = exported.get();
  exported->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<Exported*>(self->manager_ctx); };
  return &exported.release()->tensor;
}

}  // namespace weft
