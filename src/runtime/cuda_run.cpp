#include "runtime/cuda_run.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "ir/stage_ir.h"
#include "kernel/symbol_format.h"
#include "runtime/executable.h"
#include "target/dialect.h"

namespace weft::runtime {

using kernel::Array;

namespace {

/// Enough blocks for that number of threads; the loops of kernels make up for the limits of grids.
unsigned blocks(std::int64_t threads, int per_block, std::int64_t most) {
  const std::int64_t count = threads / per_block + (threads % per_block > 0);
  return static_cast<unsigned>(std::clamp<std::int64_t>(count, 1, most));
}

/// Rows that are copied between the host and the GPU at once.
struct Piece {
  Buffer image, staged;  ///< The caller's, and the same rows in pinned memory.
  /// As they lie in pinned memory and on the GPU: from the first row of all to these, and of these.
  std::size_t offset, bytes;
};

/// While one is copied to or from the GPU, the host copies the next, or the one before.
std::vector<Piece> pieces_of(const Buffer& image, const Buffer& staged, std::size_t bytes) {
  constexpr std::size_t usual_bytes = 4 << 20;
  if (image.rank() < 2 || bytes <= usual_bytes) return {{image, staged, 0, bytes}};
  const std::int64_t rows = image.extents().back();
  const std::size_t row = bytes / static_cast<std::size_t>(rows);
  const std::int64_t at_once = std::max<std::int64_t>(static_cast<std::int64_t>(usual_bytes / row), 1);
  std::vector<Piece> pieces;
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t last = std::min(first + at_once, rows);
    pieces.push_back({rows_of(image, first, last), rows_of(staged, first, last),
                      static_cast<std::size_t>(first) * row, static_cast<std::size_t>(last - first) * row});
  }
  return pieces;
}

}  // namespace

CudaRun::CudaRun(const CudaCode& code, std::shared_ptr<const CudaDevice> device, CudaPool& of_device,
                 CudaPool& pinned, const HostCopies& copies, void* stream, bool is_captured)
    : code_(code),
      module_(code.module),
      device_(std::move(device)),
      stream_(stream),
      memory_(device_, of_device, pinned, stream, is_captured),
      copies_(copies),
      one_by_one_(!is_captured && kernels_run_one_by_one()) {}

/// An array has its stage's name only where that is an identifier which nothing else has: so they are told by their
/// order.
void CudaRun::bind(const ir::Pipeline& pipeline, const ir::Bindings& bindings,
                   const std::map<std::string, Buffer>& outputs) {
  fields_ = kernel::field_values(module_, pipeline, bindings);
  for (const auto& [field, blocks] : code_.rooms) fields_[field] = blocks;
  check_limits();
  auto a = module_.arrays.begin();
  for (const ir::StagePtr& input : pipeline.inputs) take(*a++, bindings.images.at(input->name));
  for (const ir::StagePtr& output : pipeline.outputs) {
    outputs_[a->name] = output->name;
    take(*a++, outputs.at(output->name));
  }
}

void CudaRun::check_limits() const {
  for (const host::Limit& limit : code_.plan.limits) {
    const std::int64_t given = fields_.at(limit.size).i;
    if (given > limit.most) {
      throw GpuRefusal(
          Error(fmt::format("an image is too large: {} is {}, and kernels for GPUs are made for {} at most",
                            limit.size, given, limit.most)));
    }
  }
}

void CudaRun::take(const Array& a, const Buffer& image) {
  images_[a.name] = image;
  addresses_[a.name] = image.data();
  for (std::size_t d = 0; d < a.strides.size(); ++d)
    fields_[a.strides[d]] = {.i = image.stride(static_cast<int>(d) + 1)};
}

void CudaRun::queue() { queue(code_.plan.nodes); }

void CudaRun::queue_by(CudaGraphs& graphs) {
  collects_ = true;
  queue(code_.plan.nodes);
  graphs.queue(std::move(calls_), stream_);
}

bool CudaRun::takes_part(const host::Node& node) const {
  if (node.when == host::When::Always) return true;
  const Buffer& image = images_.at(host::array_of(node));
  if (node.when == host::When::HostImage) return image.memory().is_host();
  return !image.memory().is_host() && image.pixels() == 0;
}

void CudaRun::queue(const std::vector<host::Node>& nodes) {
  for (const host::Node& node : nodes) {
    if (!takes_part(node)) continue;
    std::visit(ir::overloaded{
                   [&](const host::Allocate& n) { allocate(n); },
                   [&](const host::Free& n) { free(n); },
                   [&](const host::Copy& n) { copy(n); },
                   [&](const host::Launch& n) { launch(n, node.uses); },
                   [&](const host::Repeat& n) { repeat(n); },
               },
               node.what);
  }
}

void CudaRun::finish_copies() {
  for (const Fetched& fetched : fetched_) {
    fetched.after ? fetched.after->wait() : wait();
    copies_.copy(fetched.output, fetched.pixels);
  }
}

void CudaRun::wait() {
  if (std::exchange(waited_, true)) return;
  check(device_->driver()->synchronize_stream(stream_), "one of its kernels failed on the GPU");
  if (progress_ && launched_) progress_->end();
}

// ---- memory -----------------------------------------------------------------------------------------------

void CudaRun::allocate(const host::Allocate& n) {
  const Array& a = host::array_named(module_, n.array);
  for (std::size_t d = 0; d < a.strides.size(); ++d) fields_[a.strides[d]] = {.i = value(n.strides[d])};
  const std::int64_t scalars = value(n.scalars);
  if (scalars > std::numeric_limits<std::ptrdiff_t>::max() / size_of(n.type))
    throw Error(fmt::format("'{}' is too large to address", n.array)).help("use smaller images");
  const auto bytes = static_cast<std::size_t>(scalars * size_of(n.type));
  void* memory =
      memory_.of_device(bytes, fmt::format("'{}' needs {} bytes of the GPU's memory", n.array, bytes));
  addresses_[n.array] = memory;
  if (value(n.zeroed))
    call({FillCall{memory, bytes}, {}, {memory}, fmt::format("'{}' cannot be cleared", n.array)});
}

/// Kernels of a graph would have to wait for those whose memory they take.
void CudaRun::free(const host::Free& n) {
  if (!collects_) memory_.give_early(addresses_.at(n.array));
}

void CudaRun::call(CudaCall call) {
  if (collects_)
    calls_.push_back(std::move(call));
  else
    runtime::queue(call, device_->driver(), stream_);
}

std::vector<const void*> CudaRun::addresses_of(const std::set<host::Place>& places) const {
  std::vector<const void*> addresses;
  for (const host::Place& place : places) addresses.push_back(addresses_.at(place.array));
  return addresses;
}

/// Pixels between the host and the GPU go through pinned memory, laid out as the GPU's.
void CudaRun::copy(const host::Copy& n) {
  Buffer image = images_.at(n.array);
  if (image.pixels() == 0) return;
  const Array& a = host::array_named(module_, n.array);
  const host::Allocate& memory = *host::allocation_of(code_.plan, n.array, host::When::HostImage);
  auto bytes = static_cast<std::size_t>(value(memory.scalars) * size_of(memory.type));
  auto address = as_address(addresses_.at(n.array));
  const bool is_output = n.to == host::the_host;
  const auto kept = is_output ? kept_.find(outputs_.at(n.array)) : kept_.end();
  if (kept != kept_.end()) {
    const auto [first, last] = kept->second;
    if (first == last) return;
    const auto row = static_cast<std::size_t>(fields_.at(a.strides.back()).i * size_of(memory.type));
    address += static_cast<std::size_t>(first) * row, bytes = static_cast<std::size_t>(last - first) * row;
    image = rows_of(image, first, last);
  }
  const CudaDriver& driver = device_->driver();
  const std::vector<Piece> pieces = pieces_of(image, staging(a, image, bytes), bytes);
  for (const Piece& piece : pieces) {
    if (is_output) {
      check(driver->copy_to_host(piece.staged.data(), address + piece.offset, piece.bytes, stream_),
            fmt::format("output '{}' cannot be copied from the GPU", n.array));
      const bool is_last = &piece == &pieces.back();
      fetched_.push_back({piece.image, piece.staged,
                          is_last ? nullptr : std::make_unique<const CudaEvent>(device_, stream_)});
    } else {
      copies_.copy(piece.staged, piece.image);
      check(driver->copy_to_device(address + piece.offset, piece.staged.data(), piece.bytes, stream_),
            fmt::format("image '{}' cannot be copied to the GPU", n.array));
    }
  }
}

/// Pinned memory laid out as the array is on the GPU, with the extents of the image.
Buffer CudaRun::staging(const Array& a, const Buffer& image, std::size_t bytes) {
  void* memory =
      memory_.pinned(bytes, fmt::format("'{}' needs {} bytes of the host's pinned memory", a.name, bytes));
  std::vector<std::int64_t> strides;
  if (image.rank() > 0) strides.push_back(a.type.lanes);
  for (const kernel::Symbol& stride : a.strides) strides.push_back(fields_.at(stride).i);
  return {memory, image.type(), image.extents(), std::move(strides)};
}

// ---- steps ------------------------------------------------------------------------------------------------

void CudaRun::launch(const host::Launch& n, const host::Uses& uses) {
  KernelCall kernel{code_.kernels.at(n.function), {}, {}, {}};
  for (const host::Parameter& p : n.parameters) {
    std::byte* argument = kernel.arguments.emplace_back().data();
    if (p.is_array)
      ir::store(Scalar::I64, argument, {.i = static_cast<std::int64_t>(as_address(addresses_.at(p.name)))});
    else
      ir::store(p.type, argument, fields_.at(p.name));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    kernel.blocks[d] = blocks(value(n.work[d]), n.block[d], target::cuda().most_blocks[d]);
    kernel.threads[d] = static_cast<unsigned>(n.block[d]);
  }
  if (progress_) {
    if (std::exchange(launched_, true)) progress_->end();
    progress_->begin(1);
  }
  call({std::move(kernel), addresses_of(uses.reads), addresses_of(uses.writes),
        fmt::format("kernel '{}' cannot be launched", n.function)});
  if (one_by_one_)
    check(device_->driver()->synchronize_stream(stream_),
          fmt::format("kernel '{}' failed on the GPU", n.function));
}

void CudaRun::repeat(const host::Repeat& n) {
  for (const kernel::Rotation& arrays : n.rotations) {
    for (std::int64_t turn = value(host::turns_ahead(n, arrays)); turn > 0; --turn) rotate(arrays);
  }
  for (const host::Turns& part : n.parts) {
    const std::int64_t to = value(part.to);
    for (std::int64_t time = value(part.from); time < to; time += part.by) {
      fields_[n.counter] = {.i = time};
      for (int place = 0; place < part.places; ++place) {
        for (const kernel::Rotation& arrays : n.rotations) rotate(arrays);
      }
      if (time == 0)
        queue_first(part.nodes, n.first);
      else
        queue(part.nodes);
    }
  }
}

/// With others in place of some arrays.
void CudaRun::queue_first(const std::vector<host::Node>& nodes, const std::vector<kernel::StandIn>& others) {
  const auto addresses = addresses_;
  const auto fields = fields_;
  for (const kernel::StandIn& one : others) {
    const Array &array = host::array_named(module_, one.array),
                &other = host::array_named(module_, one.other);
    addresses_.at(array.name) = addresses_.at(other.name);
    for (std::size_t d = 0; d < array.strides.size(); ++d)
      fields_.at(array.strides[d]) = fields_.at(other.strides[d]);
  }
  queue(nodes);
  addresses_ = addresses, fields_ = fields;
}

/// Pointers and pitches move together.
void CudaRun::rotate(const kernel::Rotation& arrays) {
  for (std::size_t i = arrays.size() - 1; i > 0; --i) {
    const Array &to = host::array_named(module_, arrays[i]),
                &from = host::array_named(module_, arrays[i - 1]);
    std::swap(addresses_.at(to.name), addresses_.at(from.name));
    for (std::size_t d = 0; d < to.strides.size(); ++d)
      std::swap(fields_.at(to.strides[d]), fields_.at(from.strides[d]));
  }
}

void CudaRun::check(int status, const std::string& what) const { device_->driver().check(status, what); }

}  // namespace weft::runtime
