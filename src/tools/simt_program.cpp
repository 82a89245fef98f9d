#include "tools/simt_program.h"

#include <weft/error.h>

#include <mutex>

#include "emit/cuda.h"
#include "runtime/cpu_program.h"

namespace weft::tools {
namespace {

class SimtProgram : public runtime::Executable {
 public:
  SimtProgram(std::shared_ptr<const ir::Pipeline> pipeline, const simt::Compiled& compiled,
              const simt::Options& options)
      : pipeline_(std::move(pipeline)), device_(options), module_(device_, compiled) {}

  void run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const override {
    using Entry = int(void* const* arrays, const std::int64_t* integers, const void* const* params);
    const runtime::EntryArguments arguments(*pipeline_, bindings, outputs);
    const std::lock_guard lock(mutex_);
    device_.forget();
    const int status =
        module_.function<Entry>("weft_entry")(arguments.arrays(), arguments.integers(), arguments.params());
    device_.synchronize();
    const std::vector<simt::Report> reports = device_.reports();
    if (!reports.empty())
      throw Error("the SIMT checker found a fault in '" + pipeline_->name + "'\n" + to_string(reports[0]));
    if (status != 0)
      throw Error("the emitted CUDA of '" + pipeline_->name + "' returned error " + std::to_string(status));
  }

  /// Of the last run.
  std::vector<simt::KernelCounts> counts() const { return device_.counts(); }

 private:
  std::shared_ptr<const ir::Pipeline> pipeline_;
  mutable std::mutex mutex_;
  mutable simt::Device device_;
  simt::Module module_;
};

std::unique_ptr<const SimtProgram> compiled(const Pipeline& pipeline, simt::Build build,
                                            const simt::Options& device) {
  const kernel::Module module = cuda_module(pipeline);
  simt::CompileOptions options;
  options.build = build;
  options.name = module.name + ".cu";
  if (module.strict) options.flags = {"-ffp-contract=off"};
  try {
    return std::make_unique<SimtProgram>(std::make_shared<const ir::Pipeline>(pipeline.ir()),
                                         simt::compile(emit::emit_cuda_for_loading(module), options), device);
  } catch (const simt::Failure& failure) {
    throw Error("the SIMT checker cannot run '" + pipeline.ir().name + "': " + failure.what());
  }
}

}  // namespace

kernel::Module cuda_module(const Pipeline& pipeline) {
  return runtime::lowered(pipeline.ir(), lower::Processor::Gpu);
}

std::unique_ptr<const runtime::Executable> simt_program(const Pipeline& pipeline, simt::Build build) {
  return compiled(pipeline, build, {});
}

std::vector<simt::KernelCounts> counts_on_simt(const Pipeline& pipeline, const Arguments& arguments) {
  simt::Options device;
  device.count = true;
  std::unique_ptr<const SimtProgram> executable = compiled(pipeline, simt::Build::race, device);
  const SimtProgram& running = *executable;
  const Program program = runtime::program_of(pipeline, std::move(executable));
  program.run(arguments);
  return running.counts();
}

}  // namespace weft::tools
