#include "runtime/cuda_program.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "analysis/row_reach.h"
#include "base/environment.h"
#include "base/round_up.h"
#include "emit/gpu.h"
#include "kernel/symbol_format.h"
#include "kernel/visit.h"

namespace weft::runtime {
namespace {

/// A GPU runs what was compiled for its major number and a minor one that is not newer than its own.
std::string architecture_for(const CudaDevice& device, const compile::Nvrtc& nvrtc) {
  const int capability = device.capability();
  int best = 0;
  for (const int known : nvrtc.architectures()) {
    if (known / 10 == capability / 10 && known <= capability) best = std::max(best, known);
  }
  if (best > 0) return fmt::format("sm_{}", best);
  throw Error(fmt::format("CUDA {} does not compile for GPU {}, {} (sm_{}); install a version that does",
                          nvrtc.version(), device.ordinal(), device.name(), capability));
}

/// The first that can be loaded, or one after it if that is newer than what the driver loads. If all are, the first:
/// the driver may have been made compatible.
compile::Nvrtc nvrtc_for(const CudaDriver& driver, const std::vector<std::filesystem::path>& libraries) {
  const int newest = driver.version() / 1000;
  compile::Nvrtc first(libraries);
  if (first.major_version() <= newest) return first;
  for (const std::filesystem::path& library : libraries) {
    try {
      compile::Nvrtc other({library});
      if (other.major_version() <= newest) return other;
    } catch (const Error&) {
      continue;  // it is not there
    }
  }
  return first;
}

/// What was wrong if kernels cannot be loaded.
std::string loading(const CudaDriver& driver, const compile::Nvrtc& nvrtc) {
  const int version = driver.version();
  if (nvrtc.major_version() <= version / 1000) return "its compiled kernels cannot be loaded";
  return fmt::format(
      "its kernels, which CUDA {} compiled, cannot be loaded by a driver for CUDA {}.{} (install a newer "
      "driver, or "
      "libnvrtc.so.{})",
      nvrtc.version(), version / 1000, version % 1000 / 10, version / 1000);
}

/// Calls the work, and puts the pipeline's name before what it throws.
template <class Work>
auto naming(const ir::Pipeline& pipeline, Work work) {
  try {
    return work();
  } catch (const GpuRefusal& refusal) {
    throw GpuRefusal(refusal.within("pipeline '" + pipeline.name + "'", {}));
  } catch (const Error& error) {
    throw error.within("pipeline '" + pipeline.name + "'", {});
  }
}

/// For a run that is captured: the host's pixels would have to be copied whenever the graph runs, and the graph's user
/// could not tell when an output that Weft allocates is no longer needed.
void check_lie_on_gpu(const std::map<std::string, Buffer>& images,
                      const std::map<std::string, Buffer>& outputs) {
  const auto refuse = [](const std::string& what) {
    throw Error(what + ", and the stream is being captured into a CUDA graph")
        .help("give images and outputs that lie in the GPU's memory: Buffer::on_gpu(…)");
  };
  for (const auto& [name, image] : images) {
    if (image.memory().is_host()) refuse("image '" + name + "' lies in the host's memory");
  }
  for (const auto& [name, output] : outputs) {
    if (output.memory().is_host()) refuse("output '" + name + "' lies in the host's memory");
    if (output.empty() && output.pixels() != 0) refuse("output '" + name + "' has no memory yet");
  }
}

CudaToolchain toolchain_of(const std::shared_ptr<const CudaDevice>& gpu,
                           const std::vector<std::filesystem::path>& compilers) {
  compile::DeviceCompiler compiler{nvrtc_for(gpu->driver(), compilers)};
  std::string architecture = architecture_for(*gpu, compiler.nvrtc());
  return {gpu, std::move(compiler), std::move(architecture)};
}

}  // namespace

CudaToolchain cuda_toolchain(int device, const std::vector<std::filesystem::path>& drivers,
                             const std::vector<std::filesystem::path>& compilers) {
  return toolchain_of(std::make_shared<const CudaDevice>(CudaDriver(drivers), device), compilers);
}

std::optional<CudaToolchain> cuda_toolchain_if_present(int device) {
  std::shared_ptr<const CudaDevice> gpu;
  try {
    gpu = std::make_shared<const CudaDevice>(CudaDriver(), device);
  } catch (const NoGpu&) {
    return std::nullopt;
  }
  return toolchain_of(gpu, compile::Nvrtc::candidates());
}

CudaProgram::CudaProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CudaToolchain& toolchain,
                         const compile::Scheduling& scheduling, const compile::ContentCache& cache,
                         RunProgress* progress)
    : pipeline_(std::move(pipeline)),
      device_(toolchain.device),
      code_(compile::lowered(*pipeline_,
                             {target::Processor::Gpu, machine::closest_architecture(toolchain.architecture)},
                             scheduling),
            analysis::row_reach(*pipeline_)),
      device_pool_(device_, CudaPool::Kind::Device),
      pinned_pool_(device_, CudaPool::Kind::Pinned),
      graphs_(device_),
      progress_(progress) {
  naming(*pipeline_, [&] {
    const compile::DeviceFlags flags{toolchain.architecture, code_.module.strict, {}};
    load(toolchain.compiler.compile(emit::emit_cuda_kernels(code_.module), flags, cache).cubin,
         loading(device_->driver(), toolchain.compiler.nvrtc()));
  });
}

void CudaProgram::load(const std::string& cubin, const std::string& otherwise) {
  const CudaDriver& driver = device_->driver();
  const CudaDevice::Current current(*device_);
  void* module = nullptr;
  driver.check(driver->load_module(&module, cubin.data()), otherwise);
  loaded_ = std::shared_ptr<void>(module, [device = device_](void* loaded) {
    const CudaDevice::Current as_before(*device);
    device->driver()->unload_module(loaded);
  });
  for (const kernel::Function& function : code_.module.functions) {
    const std::string& name = function.name.spelling();
    driver.check(driver->module_function(&code_.kernels[function.name], module, name.c_str()),
                 fmt::format("kernel '{}' is not in the compiled code", name));
  }
  for (const kernel::Launch* launch : kernel::launches_with_room(code_.module)) {
    const kernel::Grid& grid = *launch->grid;
    int blocks = 0;
    driver.check(
        driver->blocks_at_a_time(&blocks, code_.kernels.at(launch->function),
                                 grid.block[0] * grid.block[1] * grid.block[2], 0),
        fmt::format("the GPU does not say how many blocks of kernel '{}' it has room for", launch->function));
    code_.rooms[grid.room->field] = {.i = std::int64_t{blocks} * device_->multiprocessors()};
  }
}

void CudaProgram::run_on(std::optional<void*> callers, const ir::Bindings& bindings,
                         std::map<std::string, Buffer>& outputs) const {
  naming(*pipeline_, [&] {
    const CudaDevice::Current current(*device_);
    if (callers) return run_whole(callers, bindings, outputs);
    constexpr std::int64_t most_parts = 1'000'000;
    const auto wanted = number_of_environment("WEFT_CUDA_PARTS", "parts", most_parts);
    std::vector<host::Part> parts = parts_of(bindings, outputs, wanted.value_or(0));
    for (;;) {
      try {
        return parts.size() > 1 ? run_in_parts(parts, bindings, outputs)
                                : run_whole(std::nullopt, bindings, outputs);
      } catch (const NoMemoryForGpu&) {
        constexpr std::size_t fewest = 4;  // three are under way
        std::vector<host::Part> more =
            parts_of(bindings, outputs, static_cast<std::int64_t>(std::max(2 * parts.size(), fewest)));
        if (wanted || more.size() <= std::max(parts.size(), fewest - 1)) throw;
        parts = std::move(more);
      }
    }
  });
}

/// Not in parts.
void CudaProgram::run_whole(std::optional<void*> callers, const ir::Bindings& bindings,
                            std::map<std::string, Buffer>& outputs) const {
  std::shared_ptr<const CudaStream> own = callers ? nullptr : take_stream();
  void* stream = own ? own->handle() : *callers;
  const bool into_graph = callers && is_captured(stream);
  if (into_graph) check_lie_on_gpu(bindings.images, outputs);
  if (!into_graph) allocate(outputs, stream, own);
  const auto run_with = [&](CudaGraphs* graphs) {
    CudaRun run(code_, device_, device_pool_, pinned_pool_, copies_, stream, into_graph);
    run.bind(*pipeline_, bindings, outputs);
    std::optional<LaunchProgress> progress;
    if (progress_) run.watch(progress.emplace(code_.module, *pipeline_, bindings, *progress_));
    graphs ? run.queue_by(*graphs) : run.queue();
    run.finish_copies();
    if (own) run.wait();
  };
  CudaGraphs* const graphs = !into_graph && may_be_graph(bindings, outputs) ? &graphs_ : nullptr;
  try {
    run_with(graphs);
  } catch (const NoMemoryForGpu&) {
    if (!graphs) throw;
    run_with(nullptr);  // takes less
  }
  if (own) give(std::move(own));
}

/// Copies between the host and the GPU take many times as long as what a graph saves.
bool CudaProgram::may_be_graph(const ir::Bindings& bindings,
                               const std::map<std::string, Buffer>& outputs) const {
  const auto lies_on_gpu = [](const auto& named) { return !named.second.memory().is_host(); };
  return !progress_ && !kernels_run_one_by_one() && environment_says("WEFT_CUDA_GRAPHS", true) &&
         std::all_of(bindings.images.begin(), bindings.images.end(), lies_on_gpu) &&
         std::all_of(outputs.begin(), outputs.end(), lies_on_gpu);
}

std::vector<host::Part> CudaProgram::parts_of(const ir::Bindings& bindings,
                                              const std::map<std::string, Buffer>& outputs,
                                              std::int64_t wanted) const {
  if (!code_.plan.rows.reach) return {};  // else all have rows
  const std::int64_t rows = bindings.images.begin()->second.extents().back();
  std::int64_t bytes = 0;
  for (const auto* images : {&bindings.images, &outputs}) {
    for (const auto& [name, image] : *images) {
      const std::int64_t own = image.extents().back();
      if (!image.memory().is_host() || image.pixels() == 0 || (images == &bindings.images && own != rows))
        return {};
      bytes += image.bytes() / own;
    }
  }
  return host::parts_of(code_.plan, rows, bytes, wanted);
}

/// Three at a time: one is copied to the GPU, one is computed, one is copied back.
void CudaProgram::run_in_parts(const std::vector<host::Part>& parts, const ir::Bindings& bindings,
                               const std::map<std::string, Buffer>& outputs) const {
  constexpr std::size_t at_a_time = 3;
  struct Running {
    std::shared_ptr<const CudaStream> stream;
    std::unique_ptr<CudaRun> run;
  };
  std::deque<Running> running;
  std::size_t finished = 0;
  const auto finish_first = [&] {
    running.front().run->finish_copies();
    running.front().run.reset();
    give(std::move(running.front().stream));
    running.pop_front();
    ++finished;
    if (progress_) progress_->done = static_cast<double>(finished) / static_cast<double>(parts.size());
  };
  if (progress_) progress_->done = 0, progress_->step = 0, progress_->steps = 0;
  for (const host::Part& part : parts) {
    if (running.size() == at_a_time) finish_first();
    Running& next = running.emplace_back(Running{take_stream(), nullptr});
    next.run = std::make_unique<CudaRun>(code_, device_, device_pool_, pinned_pool_, copies_,
                                         next.stream->handle(), false);
    ir::Bindings images = bindings;
    for (auto& [name, image] : images.images) image = rows_of(image, part.from, part.to);
    const ir::Sizes sizes = ir::sizes_of(images);
    std::map<std::string, Buffer> results;
    for (const ir::StagePtr& output : pipeline_->outputs) {
      const std::int64_t rows = ir::evaluate(*output, sizes).extent.back();
      results[output->name] = rows_of(outputs.at(output->name), part.from, part.from + rows);
      next.run->keep_rows(output->name, host::kept_rows(part, parts, rows));
    }
    next.run->bind(*pipeline_, images, results);
    next.run->queue();
  }
  while (!running.empty()) finish_first();
}

/// Whether what is queued on the stream becomes part of a CUDA graph, which runs later, and again and again.
bool CudaProgram::is_captured(void* stream) const {
  int status = 0;
  device_->driver().check(device_->driver()->stream_is_capturing(stream, &status),
                          "the stream does not tell whether it is being captured");
  return status != 0;
}

void CudaProgram::give(std::shared_ptr<const CudaStream> stream) const {
  const std::lock_guard lock(mutex_);
  idle_streams_.push_back(std::move(stream));
}

std::shared_ptr<const CudaStream> CudaProgram::take_stream() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_streams_.empty()) {
      const std::shared_ptr<const CudaStream> stream = std::move(idle_streams_.back());
      idle_streams_.pop_back();
      return stream;
    }
  }
  return std::make_shared<const CudaStream>(device_);
}

void CudaProgram::allocate(std::map<std::string, Buffer>& outputs, void* stream,
                           const std::shared_ptr<const CudaStream>& owner) const {
  for (auto& [name, output] : outputs) {
    if (output.memory().is_host() || !output.empty()) continue;
    constexpr std::size_t word = 4;  // updates of smaller pixels exchange those around them
    const std::size_t bytes = round_up(std::max<std::size_t>(output.bytes(), 1), word);
    void* memory =
        device_pool_
            .take_for_good(bytes, stream,
                           fmt::format("output '{}' needs {} bytes of the GPU's memory", name, bytes))
            .address;
    const auto release = [device = device_, stream, owner](void* released) {
      const CudaDevice::Current current(*device);
      device->driver()->release(as_address(released), stream);
    };
    output = Buffer(memory, output.type(), output.extents(), output.strides())
                 .in(this->memory())
                 .owned_by(std::shared_ptr<void>(memory, release));
  }
}

}  // namespace weft::runtime
