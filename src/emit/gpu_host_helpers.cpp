#include "emit/gpu_host_helpers.h"

#include <fmt/format.h>

#include <algorithm>

#include "emit/writer.h"
#include "kernel/visit.h"

namespace weft::emit {
namespace {

constexpr const char* host_helpers_of_cuda = R"text(struct Extents {
  int64_t x, y, z;
};

unsigned blocks(int64_t threads, int64_t per_block, int64_t most) {
  const int64_t count = (threads + per_block - 1) / per_block;
  return (unsigned)(count < 1 ? 1 : count > most ? most : count);
}

// Launches a kernel with enough blocks for that number of threads; its loops make up for the limits of grids. Sizes that
// the kernel takes as 32 bits fit them: larger ones were refused.
template <class... Parameters, class... Given>
cudaError_t launch(void (*kernel)(Parameters...), Extents threads, Extents block, cudaStream_t stream, Given... given) {
  const dim3 grid(blocks(threads.x, block.x, MOST_X), blocks(threads.y, block.y, MOST_Y),
                  blocks(threads.z, block.z, MOST_Z));
  const auto with = [&](Parameters... arguments) {
    void* pointers[] = {(void*)&arguments...};
    return cudaLaunchKernel(kernel, grid, dim3((unsigned)block.x, (unsigned)block.y, (unsigned)block.z), pointers, 0,
                            stream);
  };
  return with(static_cast<Parameters>(given)...);
}

template <class T>
cudaError_t allocate(T*& memory, int64_t count, bool clear, cudaStream_t stream) {
  const size_t bytes = (size_t)count * sizeof(T);
  const cudaError_t status = cudaMallocAsync((void**)&memory, bytes, stream);
  return status == cudaSuccess && clear ? cudaMemsetAsync(memory, 0, bytes, stream) : status;
}

template <class T>
void release(T*& memory, cudaStream_t stream) {
  if (memory) cudaFreeAsync((void*)memory, stream);
  memory = nullptr;
}

template <class T>
cudaError_t copy_row(T* to, const T* from, int64_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return count <= 0 ? cudaSuccess : cudaMemcpyAsync(to, from, (size_t)count * sizeof(T), kind, stream);
}

// Copies between arrays of other pitches; extents and strides in scalars, x first.
template <class T>
cudaError_t copy_rows(T* to, const int64_t* to_strides, const T* from, const int64_t* from_strides,
                      const int64_t* extents, int rank, cudaMemcpyKind kind, cudaStream_t stream) {
  if (rank > 2) {
    cudaError_t status = cudaSuccess;
    for (int64_t i = 0; i < extents[rank - 1] && status == cudaSuccess; ++i) {
      status = copy_rows(to + i * to_strides[rank - 2], to_strides, from + i * from_strides[rank - 2], from_strides,
                         extents, rank - 1, kind, stream);
    }
    return status;
  }
  if (extents[0] <= 0 || extents[1] <= 0) return cudaSuccess;
  return cudaMemcpy2DAsync(to, (size_t)to_strides[0] * sizeof(T), from, (size_t)from_strides[0] * sizeof(T),
                           (size_t)extents[0] * sizeof(T), (size_t)extents[1], kind, stream);
}
)text";

constexpr const char* room_of_cuda = R"text(
// How many blocks of a kernel the current device has room for at a time. A thread asks once, unless it changes the device.
struct Room {
  int device = -1;
  int64_t blocks = 0;
};

template <class... Parameters>
cudaError_t find_room(void (*kernel)(Parameters...), int threads, Room& room) {
  int device = 0, multiprocessors = 0, of_one = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess || device == room.device) return status;
  status = cudaDeviceGetAttribute(&multiprocessors, MULTIPROCESSOR_COUNT, device);
  if (status == cudaSuccess) status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, kernel, threads, 0);
  if (status == cudaSuccess) room = {device, (int64_t)multiprocessors * of_one};
  return status;
}
)text";

}  // namespace

std::string gpu_host_helpers(const std::vector<const kernel::Module*>& modules,
                             const target::Dialect& dialect) {
  const bool have_rooms = std::any_of(modules.begin(), modules.end(), [](const kernel::Module* module) {
    return !kernel::launches_with_room(*module).empty();
  });
  std::string text = std::string(host_helpers_of_cuda) + (have_rooms ? room_of_cuda : "");
  text = replaced(text, "cudaFreeAsync", std::string(dialect.ignoring) + "cudaFreeAsync");
  for (std::size_t d = 0; d < 3; ++d)
    text = replaced(text, std::string("MOST_") + "XYZ"[d], std::to_string(dialect.most_blocks[d]));
  text =
      replaced(text, "cudaLaunchKernel(kernel", fmt::format("cudaLaunchKernel({}", dialect.kernel_address));
  text = replaced(text, "&of_one, kernel", fmt::format("&of_one, {}", dialect.kernel_address));
  text = replaced(text, "MULTIPROCESSOR_COUNT", std::string(dialect.multiprocessor_count));
  return replaced(text, "cuda", std::string(dialect.runtime));
}

}  // namespace weft::emit
