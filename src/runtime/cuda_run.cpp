#include "runtime/cuda_run.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "kernel/build.h"

namespace weft::runtime {

using kernel::Array;

namespace {

/// Enough blocks for so many threads; the loops of kernels make up for the limits of grids.
unsigned blocks(std::int64_t threads, int per_block, std::int64_t most) {
  const std::int64_t count = threads / per_block + (threads % per_block > 0);
  return static_cast<unsigned>(std::clamp<std::int64_t>(count, 1, most));
}
constexpr std::array<std::int64_t, 3> most_blocks = {2147483647, 65535, 65535};

/// The bytes of whole words that hold so many scalars, see host::arrays_exchanging_words.
std::size_t whole_words(const Array& a, std::size_t scalars) {
  return (scalars * static_cast<std::size_t>(size_of(a.type.scalar)) + 3) / 4 * 4;
}

}  // namespace

CudaCode::CudaCode(kernel::Module lowered)
    : module(std::move(lowered)),
      lifetimes(host::lifetimes_of(module)),
      exchanging_words(host::arrays_exchanging_words(module)) {}

CudaRun::CudaRun(const CudaCode& code, std::shared_ptr<const CudaDevice> device, CudaPool& of_device,
                 CudaPool& pinned, void* stream)
    : code_(code),
      module_(code.module),
      device_(std::move(device)),
      stream_(stream),
      memory_(device_, of_device, pinned, stream) {}

void CudaRun::bind(const ir::Pipeline& pipeline, const ir::Bindings& bindings) {
  fields_ = kernel::field_values(module_, pipeline, bindings);
  limit_sizes();
}

void CudaRun::limit_sizes() const {
  for (const kernel::Field& size : module_.sizes) {
    const std::int64_t given = fields_.at(size.name).i;
    if (size.most > 0 && given > size.most) {
      throw Error(fmt::format("an image is too large: {} is {}, and kernels for GPUs are made for {} at most",
                              size.name, given, size.most));
    }
  }
}

void CudaRun::take_images(const std::map<std::string, Buffer>& images) {
  for (const Array& a : module_.arrays) {
    if (a.role != Array::Role::Input) continue;
    const Buffer& image = images.at(a.name);
    place(a, image);
    if (is_empty(a) || !image.memory().is_host()) continue;
    const Buffer staged = staging(a, image);
    staged.copy_from(image);
    check(device_->driver()->copy_to_device(as_address(addresses_.at(a.name)), staged.data(), bytes_of(a),
                                            stream_),
          fmt::format("image '{}' cannot be copied to the GPU", a.name));
  }
}

void CudaRun::take_outputs(const std::map<std::string, Buffer>& outputs) {
  for (const Array& a : module_.arrays) {
    if (a.role != Array::Role::Output) continue;
    const Buffer& output = outputs.at(a.name);
    place(a, output);
    if (output.memory().is_host() && output.pixels() > 0) on_host_.emplace_back(&a, output);
  }
}

void CudaRun::launch_all() {
  for (std::size_t i = 0; i < module_.steps.size(); ++i) {
    for (const std::size_t a : code_.lifetimes[i].begin) place_on_device(module_.arrays[a]);
    if (const auto* one = std::get_if<kernel::Launch>(&module_.steps[i]))
      launch(*one);
    else
      repeat(std::get<kernel::Repeat>(module_.steps[i]));
    for (const std::size_t a : code_.lifetimes[i].end)
      memory_.give_early(addresses_.at(module_.arrays[a].name));
  }
}

void CudaRun::fetch_outputs() {
  if (on_host_.empty()) return;
  std::vector<Buffer> staged;
  for (const auto& [a, output] : on_host_) {
    staged.push_back(staging(*a, output));
    check(device_->driver()->copy_to_host(staged.back().data(), as_address(addresses_.at(a->name)),
                                          bytes_of(*a), stream_),
          fmt::format("output '{}' cannot be copied from the GPU", a->name));
  }
  wait();
  for (std::size_t i = 0; i < staged.size(); ++i) on_host_[i].second.copy_from(staged[i]);
}

void CudaRun::wait() {
  if (std::exchange(waited_, true)) return;
  check(device_->driver()->synchronize_stream(stream_), "its kernels failed on the GPU");
  if (progress_ && launched_) progress_->end();
}

// ---- memory -----------------------------------------------------------------------------------------------

bool CudaRun::is_empty(const Array& a) const {
  const kernel::Expr empty = host::is_empty(a);
  return empty && value(empty);
}

void* CudaRun::allocate(const Array& a, std::size_t scalars) {
  if (scalars >
      static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max() / size_of(a.type.scalar) - 1))
    throw Error(fmt::format("'{}' is too large to address", a.name)).help("use smaller images");
  const std::size_t bytes = whole_words(a, scalars);
  return memory_.of_device(bytes, fmt::format("'{}' needs {} bytes of the GPU's memory", a.name, bytes));
}

/// Of Weft's own layout.
void CudaRun::place_on_device(const Array& a) {
  if (is_empty(a)) {  // Read as zero: one cleared row, which all rows share.
    for (const std::string& stride : a.strides) fields_[stride] = {.i = 0};
    const auto scalars = static_cast<std::size_t>(value(host::scalars_of_stand_in(a)));
    addresses_[a.name] = allocate(a, scalars);
    return clear(a, scalars);
  }
  const std::vector<kernel::Expr> strides = host::allocated_strides(a);
  for (std::size_t d = 0; d < strides.size(); ++d) fields_[a.strides[d]] = {.i = value(strides[d])};
  const auto scalars = static_cast<std::size_t>(value(host::allocated_scalars(a)));
  addresses_[a.name] = allocate(a, scalars);
  if (code_.exchanging_words.count(a.name)) clear(a, scalars);
}

void CudaRun::clear(const Array& a, std::size_t scalars) {
  check(device_->driver()->fill(as_address(addresses_.at(a.name)), 0, whole_words(a, scalars), stream_),
        fmt::format("'{}' cannot be cleared", a.name));
}

/// Where the buffer is, if that is on the GPU.
void CudaRun::place(const Array& a, const Buffer& buffer) {
  if (buffer.memory().is_host() || is_empty(a)) return place_on_device(a);
  addresses_[a.name] = buffer.data();
  for (std::size_t d = 0; d < a.strides.size(); ++d)
    fields_[a.strides[d]] = {.i = buffer.stride(static_cast<int>(d) + 1)};
}

std::size_t CudaRun::bytes_of(const Array& a) const {
  return static_cast<std::size_t>(value(host::allocated_scalars(a)) * size_of(a.type.scalar));
}

/// Pinned memory laid out as the array is on the GPU, with the pixels of `like`.
Buffer CudaRun::staging(const Array& a, const Buffer& like) {
  const std::size_t bytes = bytes_of(a);
  void* memory =
      memory_.pinned(bytes, fmt::format("'{}' needs {} bytes of the host's pinned memory", a.name, bytes));
  std::vector<std::int64_t> strides;
  if (like.rank() > 0) strides.push_back(a.type.lanes);
  for (const std::string& stride : a.strides) strides.push_back(fields_.at(stride).i);
  return {memory, like.type(), like.extents(), std::move(strides)};
}

// ---- steps ------------------------------------------------------------------------------------------------

void CudaRun::launch(const kernel::Launch& launch) {
  const CudaCode::Kernel& kernel = code_.kernels.at(launch.function);
  std::vector<std::array<std::byte, 8>> values(kernel.parameters.size());
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const host::Parameter& p = kernel.parameters[i];
    if (p.is_array)
      ir::store(Scalar::I64, values[i].data(),
                {.i = static_cast<std::int64_t>(as_address(addresses_.at(p.name)))});
    else
      ir::store(p.type, values[i].data(), fields_.at(p.name));
    pointers.push_back(values[i].data());
  }
  if (progress_) {
    if (std::exchange(launched_, true)) progress_->end();
    progress_->begin(1);
  }
  const kernel::Grid& grid = *launch.grid;
  std::array<unsigned, 3> count{}, block{};
  for (std::size_t d = 0; d < 3; ++d) {
    count[d] = blocks(value(grid.threads[d]), grid.block[d], most_blocks[d]);
    block[d] = static_cast<unsigned>(grid.block[d]);
  }
  check(device_->driver()->launch(kernel.function, count[0], count[1], count[2], block[0], block[1], block[2],
                                  0, stream_, pointers.data(), nullptr),
        fmt::format("kernel '{}' cannot be launched", launch.function));
}

/// With some turns in front, the last one ends with every array in its place.
void CudaRun::repeat(const kernel::Repeat& repeat) {
  const std::int64_t count = value(repeat.count);
  for (const kernel::Rotation& arrays : repeat.rotations) {
    const auto size = static_cast<std::int64_t>(arrays.size());
    const std::int64_t turns = count > 0 ? (size - count % size) % size : 0;
    for (std::int64_t turn = 0; turn < turns; ++turn) rotate(arrays);
  }
  for (std::int64_t step = 0; step < count; ++step) {
    fields_[repeat.counter] = {.i = step};
    for (const kernel::Rotation& arrays : repeat.rotations) rotate(arrays);
    for (const kernel::Launch& one : repeat.launches) launch(one);
  }
}

/// Pointers and pitches move together.
void CudaRun::rotate(const kernel::Rotation& arrays) {
  for (std::size_t i = arrays.size() - 1; i > 0; --i) {
    const Array &to = array_named(arrays[i]), &from = array_named(arrays[i - 1]);
    std::swap(addresses_.at(to.name), addresses_.at(from.name));
    for (std::size_t d = 0; d < to.strides.size(); ++d)
      std::swap(fields_.at(to.strides[d]), fields_.at(from.strides[d]));
  }
}

const Array& CudaRun::array_named(const std::string& name) const {
  return *std::find_if(module_.arrays.begin(), module_.arrays.end(),
                       [&](const Array& a) { return a.name == name; });
}

void CudaRun::check(int status, const std::string& what) const { device_->driver().check(status, what); }

}  // namespace weft::runtime
