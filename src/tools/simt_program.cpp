#include "tools/simt_program.h"

#include <weft/error.h>

#include <mutex>

#include "compile/scheduling.h"
#include "emit/gpu.h"

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

class SimtProgram : public runtime::Executable {
 public:
  using Entry = int(void* const* arrays, const std::int64_t* integers, const void* const* params);

  SimtProgram(const Pipeline& pipeline, std::shared_ptr<LoadedText> text, const std::string& entry)
      : pipeline_(std::make_shared<const ir::Pipeline>(pipeline.ir())),
        text_(std::move(text)),
        entry_(text_->module.function<Entry>(entry)) {}

  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const override {
    const runtime::EntryArguments arguments(*pipeline_, bindings, outputs);
    const std::lock_guard lock(text_->mutex);
    simt::Device& device = text_->device;
    device.forget();
    const int status = entry_(arguments.arrays(), arguments.integers(), arguments.params());
    device.synchronize();
    const std::vector<simt::Report> reports = device.reports();
    if (!reports.empty())
      throw Error("the SIMT checker found a fault in '" + pipeline_->name + "'\n" + to_string(reports[0]));
    if (status != 0)
      throw Error("the emitted CUDA of '" + pipeline_->name + "' returned error " + std::to_string(status));
  }

  /// Of the last run.
  std::vector<simt::KernelCounts> counts() const { return text_->device.counts(); }

 private:
  std::shared_ptr<const ir::Pipeline> pipeline_;
  std::shared_ptr<LoadedText> text_;
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

std::unique_ptr<const SimtProgram> compiled(const Pipeline& pipeline, const SimtOptions& how,
                                            const simt::Options& device) {
  const kernel::Module module = cuda_module(pipeline, how.scheduling);
  return std::make_unique<SimtProgram>(
      pipeline, loaded(emit::emit_gpu_for_loading(module), module.name, how, device), "weft_entry");
}

/// One program for each pipeline and its module.
std::vector<Program> together(const std::vector<Pipeline>& pipelines,
                              const std::vector<kernel::Module>& modules, const SimtOptions& how) {
  std::vector<const kernel::Module*> pointers;
  for (const kernel::Module& module : modules) pointers.push_back(&module);
  const auto text = loaded(emit::emit_gpu_for_loading_together(pointers), "together", how, {});
  std::vector<Program> programs;
  for (std::size_t p = 0; p < pipelines.size(); ++p) {
    programs.push_back(runtime::program_of(
        pipelines[p], std::make_unique<SimtProgram>(pipelines[p], text, emit::entry_name(p))));
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
