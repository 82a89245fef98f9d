#include "tools/simt_program.h"

#include <weft/error.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "compile/scheduling.h"
#include "emit/gpu.h"
#include "kernel/visit.h"

namespace weft::tools {
namespace {

/// A text, loaded on a device of its own. Runs of its pipelines take turns.
struct LoadedText {
  LoadedText(const simt::Compiled& compiled, const simt::Options& options)
      : device(options), module(device, compiled) {}

  std::mutex mutex;
  simt::Device device;
  simt::Module module;
};

/// Images on the device as callers may have them that allocate them themselves: with dense rows, and results with up to
/// seven scalars after each row, depending on their height, so that images and results are aligned in any combination.
/// (Emitted functions for host memory begin each row at a multiple of 128 bytes.)
class CallersMemory {
 public:
  explicit CallersMemory(simt::Device& device) : device_(device) {}
  ~CallersMemory() {
    for (void* memory : memory_) device_.release(memory);
  }
  CallersMemory(const CallersMemory&) = delete;
  CallersMemory& operator=(const CallersMemory&) = delete;

  Buffer copy_of(const Buffer& image) {
    const Buffer dense = image.packed();
    const Buffer copy{allocate(dense.bytes()), dense.type(), dense.extents(), dense.strides()};
    device_.copy_to_device(copy.data(), dense.data(), static_cast<std::size_t>(dense.bytes()));
    return copy;
  }
  Buffer result_like(const Buffer& output) {
    const std::vector<std::int64_t> strides = strides_of_result(output);
    return {allocate(bytes_of(output, strides)), output.type(), output.extents(), strides};
  }
  void copy_back(const Buffer& from, const Buffer& to) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(from, from.strides())));
    if (device_.copy_to_host(bytes.data(), from.data(), bytes.size()) == 0)
      to.copy_from({bytes.data(), from.type(), from.extents(), from.strides()});
  }

 private:
  void* allocate(std::int64_t bytes) {
    void* memory = device_.allocate(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
    if (!memory) throw Error("the SIMT checker has no memory for an image");
    memory_.push_back(memory);
    return memory;
  }

  static std::vector<std::int64_t> strides_of_result(const Buffer& output) {
    std::vector<std::int64_t> strides;
    std::int64_t stride = output.type().lanes;
    for (int d = 0; d < output.rank(); ++d) {
      strides.push_back(stride);
      stride *= output.extent(d);
      if (d == 0 && output.rank() > 1) stride += (output.extent(1) + 7) % 8;
    }
    return strides;
  }
  /// Whole words, as every device allocates them: updates of bytes exchange the words around them.
  static std::int64_t bytes_of(const Buffer& image, const std::vector<std::int64_t>& strides) {
    const std::int64_t scalars =
        strides.empty() ? image.type().lanes : strides.back() * image.extent(image.rank() - 1);
    return (scalars * size_of(image.type().scalar) + 3) / 4 * 4;
  }

  simt::Device& device_;
  std::vector<void*> memory_;
};

/// Runs the emitted function for host memory; in the build that finds misaligned accesses, and indices outside of buffers,
/// that for device memory.
class SimtProgram : public runtime::Executable {
 public:
  using Entry = int(void* const* arrays, const std::int64_t* integers, const void* const* params);

  SimtProgram(const Pipeline& pipeline, std::shared_ptr<LoadedText> text, const std::string& entry,
              simt::Build build)
      : pipeline_(std::make_shared<const ir::Pipeline>(pipeline.ir())),
        text_(std::move(text)),
        is_on_device_(build == simt::Build::address),
        entry_(text_->module.function<Entry>(is_on_device_ ? entry + "_on_device" : entry)) {}

  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const override {
    const std::lock_guard lock(text_->mutex);
    text_->device.forget();
    const int status = is_on_device_ ? run_on_device(bindings, outputs) : call(bindings, outputs);
    const std::vector<simt::Report> reports = text_->device.reports();
    if (!reports.empty())
      throw Error("the SIMT checker found a fault in '" + pipeline_->name + "'\n" + to_string(reports[0]));
    if (status != 0)
      throw Error("the emitted CUDA of '" + pipeline_->name + "' returned error " + std::to_string(status));
  }

  /// Of the last run.
  std::vector<simt::KernelCounts> counts() const { return text_->device.counts(); }

 private:
  int call(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const {
    const runtime::EntryArguments arguments(*pipeline_, bindings, outputs);
    const int status = entry_(arguments.arrays(), arguments.integers(), arguments.params());
    text_->device.synchronize();
    return status;
  }

  int run_on_device(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const {
    CallersMemory memory(text_->device);
    ir::Bindings there = bindings;
    std::map<std::string, Buffer> results;
    for (auto& [name, image] : there.images) image = memory.copy_of(image);
    for (const auto& [name, output] : outputs) results[name] = memory.result_like(output);
    const int status = call(there, results);
    for (const auto& [name, output] : outputs) memory.copy_back(results.at(name), output);
    return status;
  }

  std::shared_ptr<const ir::Pipeline> pipeline_;
  std::shared_ptr<LoadedText> text_;
  bool is_on_device_;
  Entry* entry_;
};

std::shared_ptr<LoadedText> loaded(const std::string& text, const std::string& name, const SimtOptions& how,
                                   const simt::Options& device) {
  simt::CompileOptions options;
  options.build = how.build;
  options.name = name + ".cu";
  options.flags = how.compiler_flags;
  try {
    return std::make_shared<LoadedText>(simt::compile(text, options), device);
  } catch (const simt::Failure& failure) {
    throw Error("the SIMT checker cannot run '" + name + "': " + failure.what());
  }
}

/// `device`, with the registers that plans expect of kernels whose grids depend on them.
simt::Options with_registers(simt::Options device, const std::vector<const kernel::Module*>& modules) {
  for (const kernel::Module* module : modules) {
    for (const kernel::Launch* launch : kernel::launches_with_room(*module))
      device.limits.registers[launch->function.spelling()] =
          static_cast<unsigned>(launch->grid->room->registers);
  }
  return device;
}

std::unique_ptr<const SimtProgram> compiled(const Pipeline& pipeline, const SimtOptions& how,
                                            const simt::Options& device) {
  const kernel::Module module = cuda_module(pipeline, how.scheduling);
  return std::make_unique<SimtProgram>(
      pipeline,
      loaded(emit::emit_gpu_for_loading(module), module.name, how, with_registers(device, {&module})),
      "weft_entry", how.build);
}

/// One program for each pipeline and its module.
std::vector<Program> together(const std::vector<Pipeline>& pipelines,
                              const std::vector<kernel::Module>& modules, const SimtOptions& how) {
  std::vector<const kernel::Module*> pointers;
  for (const kernel::Module& module : modules) pointers.push_back(&module);
  const auto text =
      loaded(emit::emit_gpu_for_loading_together(pointers), "together", how, with_registers({}, pointers));
  std::vector<Program> programs;
  for (std::size_t p = 0; p < pipelines.size(); ++p) {
    programs.push_back(runtime::program_of(
        pipelines[p], std::make_unique<SimtProgram>(pipelines[p], text, emit::entry_name(p), how.build)));
  }
  return programs;
}

}  // namespace

simt::Build build_of(RunTarget target) {
  return target == RunTarget::SimtRace      ? simt::Build::race
         : target == RunTarget::SimtAddress ? simt::Build::address
                                            : simt::Build::fast;
}

kernel::Module cuda_module(const Pipeline& pipeline, const compile::Scheduling& scheduling) {
  // The limits of a device that nobody described.
  const machine::Architecture& architecture = machine::closest_architecture(simt::Limits().architecture);
  return compile::lowered(pipeline.ir(), {target::Processor::Gpu, architecture}, scheduling);
}

Program simt_program(const Pipeline& pipeline, const SimtOptions& options) {
  return runtime::program_of(pipeline, compiled(pipeline, options, {}));
}

std::vector<Program> simt_programs(const std::vector<Pipeline>& pipelines, const SimtOptions& options,
                                   const std::vector<std::string>& schedules) {
  std::vector<kernel::Module> modules;
  for (std::size_t p = 0; p < pipelines.size(); ++p) {
    compile::Scheduling scheduling = options.scheduling;
    if (!schedules.empty()) scheduling.groups = schedules[p];
    modules.push_back(cuda_module(pipelines[p], scheduling));
  }
  return together(pipelines, modules, options);
}

std::vector<Program> simt_programs(const Pipeline& pipeline, const std::vector<kernel::Module>& modules,
                                   const SimtOptions& options) {
  return together(std::vector<Pipeline>(modules.size(), pipeline), modules, options);
}

std::vector<simt::KernelCounts> counts_on_simt(const Pipeline& pipeline, const Arguments& arguments,
                                               const compile::Scheduling& scheduling) {
  simt::Options device;
  device.count = true;
  std::unique_ptr<const SimtProgram> executable =
      compiled(pipeline, {simt::Build::race, {}, scheduling}, device);
  const SimtProgram& running = *executable;
  const Program program = runtime::program_of(pipeline, std::move(executable));
  program.run(arguments);
  return running.counts();
}

}  // namespace weft::tools
