// The host's side of CUDA's run-time interface: memory.
#pragma once

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

// Allocation. The pointer is set by code that is not checked: it is the host's own variable.
template <class T>
SIMT_UNCHECKED cudaError_t cudaMalloc(T** address, std::size_t bytes,
                                      simt::abi::Site site = simt::abi::Site::here()) {
  void* result = nullptr;
  const int error = simt_services->allocate(&result, bytes, site);
  *address = static_cast<T*>(result);
  return simt::result(error);
}
template <class T>
SIMT_UNCHECKED cudaError_t cudaMallocAsync(T** address, std::size_t bytes, cudaStream_t stream,
                                           simt::abi::Site site = simt::abi::Site::here()) {
  void* result = nullptr;
  const int error = simt_services->allocate_async(&result, bytes, stream, site);
  *address = static_cast<T*>(result);
  return simt::result(error);
}
/// Rows begin at multiples of 512 bytes, as on GPUs.
template <class T>
SIMT_UNCHECKED cudaError_t cudaMallocPitch(T** address, std::size_t* pitch, std::size_t width,
                                           std::size_t height,
                                           simt::abi::Site site = simt::abi::Site::here()) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(address, *pitch * height, site);
}
template <class T>
SIMT_UNCHECKED cudaError_t cudaMallocHost(T** address, std::size_t bytes) {
  void* result = nullptr;
  const int error = simt_services->allocate_host(&result, bytes);
  *address = static_cast<T*>(result);
  return simt::result(error);
}
template <class T>
cudaError_t cudaHostAlloc(T** address, std::size_t bytes, unsigned) {
  return cudaMallocHost(address, bytes);
}
inline SIMT_UNCHECKED cudaError_t cudaFree(void* address, simt::abi::Site site = simt::abi::Site::here()) {
  return simt::result(simt_services->release(address, site));
}
inline SIMT_UNCHECKED cudaError_t cudaFreeAsync(void* address, cudaStream_t stream,
                                                simt::abi::Site site = simt::abi::Site::here()) {
  return simt::result(simt_services->release_async(address, stream, site));
}
inline SIMT_UNCHECKED cudaError_t cudaFreeHost(void* address) {
  return simt::result(simt_services->release_host(address));
}

// Copies.
namespace simt {
inline SIMT_UNCHECKED cudaError_t copy(void* to, std::size_t to_pitch, const void* from,
                                       std::size_t from_pitch, std::size_t width, std::size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous,
                                       abi::Site site) {
  const abi::Copy copy{to, from, to_pitch, from_pitch, width, height, kind};
  return result(simt_services->copy(copy, stream, asynchronous, site));
}
}  // namespace simt

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                              simt::abi::Site site = simt::abi::Site::here()) {
  return simt::copy(to, bytes, from, bytes, bytes, 1, kind, nullptr, false, site);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr,
                                   simt::abi::Site site = simt::abi::Site::here()) {
  return simt::copy(to, bytes, from, bytes, bytes, 1, kind, stream, true, site);
}
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                simt::abi::Site site = simt::abi::Site::here()) {
  return simt::copy(to, to_pitch, from, from_pitch, width, height, kind, nullptr, false, site);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr,
                                     simt::abi::Site site = simt::abi::Site::here()) {
  return simt::copy(to, to_pitch, from, from_pitch, width, height, kind, stream, true, site);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                               simt::abi::Site site = simt::abi::Site::here()) {
  char* to = const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset;
  return simt::copy(to, bytes, from, bytes, bytes, 1, kind, nullptr, false, site);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                    simt::abi::Site site = simt::abi::Site::here()) {
  char* to = const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset;
  return simt::copy(to, bytes, from, bytes, bytes, 1, kind, stream, true, site);
}
template <class T, class Symbol>
cudaError_t cudaGetSymbolAddress(T** address, const Symbol& symbol) {
  *address = reinterpret_cast<T*>(const_cast<Symbol*>(&symbol));
  return cudaSuccess;
}

// Fills.
inline SIMT_UNCHECKED cudaError_t cudaMemset(void* address, int value, std::size_t bytes,
                                             simt::abi::Site site = simt::abi::Site::here()) {
  return simt::result(simt_services->fill(address, value, bytes, bytes, 1, nullptr, false, site));
}
inline SIMT_UNCHECKED cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes,
                                                  cudaStream_t stream = nullptr,
                                                  simt::abi::Site site = simt::abi::Site::here()) {
  return simt::result(simt_services->fill(address, value, bytes, bytes, 1, stream, true, site));
}
inline SIMT_UNCHECKED cudaError_t cudaMemset2DAsync(void* address, std::size_t pitch, int value,
                                                    std::size_t width, std::size_t height,
                                                    cudaStream_t stream = nullptr,
                                                    simt::abi::Site site = simt::abi::Site::here()) {
  return simt::result(simt_services->fill(address, value, pitch, width, height, stream, true, site));
}

// What a pointer points to.
enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
inline SIMT_UNCHECKED cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                           const void* address) {
  const bool device = simt_services->is_device_pointer(address);
  void* pointer = const_cast<void*>(address);
  *attributes = {device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0, device ? pointer : nullptr,
                 device ? nullptr : pointer};
  return cudaSuccess;
}
