// Programs: a compiled pipeline behind the public interface.
#include <weft/pipeline.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "emit/cpp.h"
#include "ir/interpret.h"
#include "runtime/compile_together.h"
#include "runtime/cpu_program.h"
#include "runtime/cuda_program.h"
#include "runtime/known_extents.h"
#include "runtime/last_run.h"
#include "runtime/overlap.h"
#include "runtime/thread_pool.h"

namespace weft {
class Program::Implementation {
 public:
  Implementation(std::shared_ptr<const ir::Pipeline> pipeline, const CompileOptions& options,
                 RunProgress* progress = nullptr, runtime::OnFallback on_fallback = {})
      : pipeline_(std::move(pipeline)), progress_(progress), on_fallback_(std::move(on_fallback)) {
    runtime::check_threads(options.threads);
    if (options.target == Target::Reference) return;
    std::optional<runtime::CudaToolchain> toolchain;
    if (options.target == Target::Cuda) toolchain = runtime::cuda_toolchain(options.device);
    if (options.target == Target::Auto) without_gpu_ = options;
    try {
      if (without_gpu_) toolchain = runtime::cuda_toolchain_if_present(options.device);
      if (toolchain)
        take_gpu(std::make_unique<runtime::CudaProgram>(
            pipeline_, *toolchain, compile::scheduling_of(options), compile::ContentCache(), progress));
    } catch (const Error& error) {
      if (!without_gpu_) throw;
      tell_fallback(error);
    }
    if (!executable_) executable_ = on_cpu(options);
  }
  Implementation(std::shared_ptr<const ir::Pipeline> pipeline,
                 std::unique_ptr<const runtime::Executable> executable)
      : pipeline_(std::move(pipeline)), executable_(std::move(executable)) {}

  const ir::Pipeline& pipeline() const { return *pipeline_; }

  Target target() const {
    if (gpu_ && !refused_) return Target::Cuda;
    return executable_ ? Target::Cpu : Target::Reference;
  }

  std::map<std::string, Buffer> run_on(void* stream, const Arguments& arguments) const {
    if (!gpu_) {
      throw Error("pipeline '" + pipeline_->name + "' runs on the CPU, which has no streams")
          .help("compile it with Target::Cuda, or call run()");
    }
    return run(arguments, stream);
  }

  /// On the caller's stream, if there is one.
  std::map<std::string, Buffer> run(const Arguments& arguments, std::optional<void*> stream = {}) const {
    if (const auto again = last_run_.of(arguments); again && !stream) {
      (*again)();
      return arguments.outputs;
    }
    ir::Bindings bindings = ir::bound(arguments.images, arguments.params);
    const auto known = known_.of(bindings.images);
    known ? ir::check_kinds(*pipeline_, bindings) : ir::check_bindings(*pipeline_, bindings);
    for (const auto& [name, image] : bindings.images) check_memory("image", name, image);
    for (const auto& [name, output] : arguments.outputs) check_memory("the buffer for output", name, output);
    std::map<std::string, Buffer> results =
        result_buffers(arguments, bindings, known ? *known : extents_of_outputs(bindings));
    if (!executable_) {
      for (const auto& [name, computed] : ir::interpret(*pipeline_, bindings, progress_))
        results.at(name).copy_from(computed);
      return results;
    }
    // Emitted code wants dense rows and outputs that alias nothing; anything else goes through a copy.
    std::map<std::string, Buffer> targets;
    for (const auto& [name, result] : results) {
      const bool aliases =
          std::any_of(bindings.images.begin(), bindings.images.end(),
                      [&](const auto& image) { return runtime::are_intertwined(image.second, result); }) ||
          std::any_of(results.begin(), results.end(), [&](const auto& other) {
            return &other.second != &result && runtime::are_intertwined(other.second, result);
          });
      if (!result.memory().is_host()) {
        if (aliases) throw overlapping(name, result);
        continue;
      }
      if (aliases || !result.rows_are_dense())
        targets[name] = Buffer::allocate(result.type(), result.extents());
    }
    bool is_packed = false;
    for (auto& [name, image] : bindings.images) {
      if (image.rows_are_dense()) continue;
      image = image.packed();
      is_packed = true;
    }
    if (!gpu_ && targets.empty()) {
      executable_->run(bindings, results);
      if (!is_packed && arguments.outputs.size() == results.size()) {
        if (auto again = executable_->again(bindings, results))
          last_run_.remember(arguments, std::move(again));
      }
      return results;
    }
    targets.insert(results.begin(), results.end());
    if (gpu_)
      run_on_gpu(stream, bindings, targets);
    else
      executable_->run(bindings, targets);
    for (const auto& [name, target] : targets) {
      if (!target.memory().is_host())
        results.at(name) = target;
      else if (target.data() != results.at(name).data())
        results.at(name).copy_from(target);
    }
    return results;
  }

 private:
  std::unique_ptr<const runtime::Executable> on_cpu(const CompileOptions& options) const {
    if (progress_) return std::make_unique<runtime::CpuProgram>(pipeline_, options, *progress_);
    return std::make_unique<runtime::CpuProgram>(pipeline_, options);
  }

  void tell_fallback(const Error& error) const {
    if (on_fallback_) on_fallback_(error.message());
  }

  /// Target::Auto takes the CPU for what the GPU refuses, if that reaches all images and nobody waits for a stream.
  void run_on_gpu(std::optional<void*> stream, const ir::Bindings& bindings,
                  std::map<std::string, Buffer>& targets) const {
    const auto lies_on_host = [](const auto& image) { return image.second.memory().is_host(); };
    const bool may_fall_back = without_gpu_ && !stream &&
                               std::all_of(bindings.images.begin(), bindings.images.end(), lies_on_host) &&
                               std::all_of(targets.begin(), targets.end(), lies_on_host);
    try {
      gpu_->run_on(stream, bindings, targets);
      refused_ = false;
      return;
    } catch (const runtime::GpuRefusal& refusal) {
      if (!may_fall_back) throw;
      refused_ = true;
      tell_fallback(refusal);
    }
    std::call_once(instead_made_, [&] { instead_ = on_cpu(*without_gpu_); });
    instead_->run(bindings, targets);
  }

  void take_gpu(std::unique_ptr<const runtime::GpuExecutable> gpu) {
    gpu_ = gpu.get();
    executable_ = std::move(gpu);
  }

  /// Throws unless the program can reach the buffer's memory, and needs no copy of it there.
  void check_memory(const std::string& what, const std::string& name, const Buffer& buffer) const {
    if (buffer.memory().is_host()) return;
    const std::string lies = what + " '" + name + "' lies in " + name_of(buffer.memory());
    if (!gpu_) {
      throw Error(lies + ", but pipeline '" + pipeline_->name + "' runs on the CPU")
          .help("compile it with Target::Cuda");
    }
    if (buffer.memory() != gpu_->memory()) {
      throw Error(lies + ", but pipeline '" + pipeline_->name + "' runs on GPU " +
                  std::to_string(gpu_->memory().device));
    }
    if (!buffer.rows_are_dense()) {
      throw Error(lies + ", and its pixels are not adjacent")
          .help("only rows may have gaps between them in the memory of a GPU");
    }
  }
  /// Throws unless every pixel has memory of its own.
  static void check_overlaps(const std::map<std::string, Buffer>& outputs) {
    for (auto one = outputs.begin(); one != outputs.end(); ++one) {
      const auto& [name, buffer] = *one;
      if (runtime::overlaps_itself(buffer)) {
        throw Error("the buffer for output '" + name + "' has pixels that share memory")
            .note("size", spell(buffer.extents()))
            .note("strides", spell(buffer.strides(), ", "))
            .help("strides count scalars; without gaps they would be " +
                  spell(dense_strides(buffer.extents(), buffer.type().lanes), ", "));
      }
      for (auto other = std::next(one); other != outputs.end(); ++other) {
        if (runtime::overlap(buffer, other->second))
          throw Error("the buffers for outputs '" + name + "' and '" + other->first + "' share memory")
              .help("give each memory of its own");
      }
    }
  }
  static Error overlapping(const std::string& name, const Buffer& output) {
    return Error("the buffer for output '" + name + "' overlaps another image in " + name_of(output.memory()))
        .help("give it memory of its own");
  }

  /// In their order. Throws for impossible sizes.
  runtime::KnownExtents::Outputs extents_of_outputs(const ir::Bindings& bindings) const {
    ir::Sizes sizes = ir::sizes_of(bindings);
    for (const ir::StagePtr& stage : pipeline_->stages) ir::evaluate(*stage, sizes);
    runtime::KnownExtents::Outputs outputs;
    for (const ir::StagePtr& output : pipeline_->outputs)
      outputs.push_back(ir::evaluate(*output, sizes).extent);
    known_.remember(std::move(sizes), outputs);
    return outputs;
  }

  /// Those of the GPU that are not given have no memory yet.
  std::map<std::string, Buffer> result_buffers(const Arguments& arguments, const ir::Bindings& bindings,
                                               const runtime::KnownExtents::Outputs& all_extents) const {
    const bool on_gpu = std::any_of(bindings.images.begin(), bindings.images.end(),
                                    [](const auto& image) { return !image.second.memory().is_host(); });
    std::map<std::string, Buffer> results;
    for (std::size_t i = 0; i < pipeline_->outputs.size(); ++i) {
      const ir::StagePtr& output = pipeline_->outputs[i];
      const std::vector<std::int64_t>& extents = all_extents[i];
      const auto given = arguments.outputs.find(output->name);
      if (given == arguments.outputs.end()) {
        results[output->name] = on_gpu ? Buffer::on_gpu(nullptr, output->type, extents, gpu_->memory().device)
                                       : Buffer::allocate(output->type, extents);
      } else if (given->second.empty() && given->second.pixels() != 0) {
        throw Error("the buffer for output '" + output->name + "' is null: it points to no memory");
      } else if (given->second.type() != output->type || given->second.extents() != extents) {
        throw Error("the buffer for output '" + output->name + "' has another type or size than the output")
            .note("needs", name_of(output->type) + " " + spell(extents))
            .note("given", name_of(given->second.type()) + " " + spell(given->second.extents()));
      } else {
        results[output->name] = given->second;
      }
    }
    for (const auto& [name, buffer] : arguments.outputs) {
      if (!results.count(name))
        throw Error("pipeline '" + pipeline_->name + "' has no output '" + name + "'");
    }
    check_overlaps(arguments.outputs);
    return results;
  }

  static std::string spell(const std::vector<std::int64_t>& numbers, const char* between = "x") {
    std::string text;
    for (auto n : numbers) text += (text.empty() ? "" : between) + std::to_string(n);
    return text;
  }

  std::shared_ptr<const ir::Pipeline> pipeline_;
  std::unique_ptr<const runtime::Executable> executable_;  // null: the interpreter
  const runtime::GpuExecutable* gpu_ = nullptr;            // executable_, if it runs on a GPU
  RunProgress* progress_ = nullptr;                        // for the interpreter, and what comes after a GPU
  std::optional<CompileOptions> without_gpu_;              // if the CPU may take a GPU's place
  runtime::OnFallback on_fallback_;
  mutable std::atomic<bool> refused_{false};  // by the GPU: the latest run
  mutable std::once_flag instead_made_;
  mutable std::unique_ptr<const runtime::Executable> instead_;  // on the CPU, once a GPU has refused a run
  mutable runtime::KnownExtents known_;
  mutable runtime::LastRun last_run_;
};

std::map<std::string, Buffer> Program::run(const Arguments& arguments) const { return impl_->run(arguments); }

std::map<std::string, Buffer> Program::run_on(void* stream, const Arguments& arguments) const {
  return impl_->run_on(stream, arguments);
}

Target Program::target() const { return impl_->target(); }

Buffer Program::operator()(const Buffer& image) const {
  const ir::Pipeline& pipeline = impl_->pipeline();
  if (pipeline.inputs.size() != 1 || pipeline.outputs.size() != 1) {
    throw Error("pipeline '" + pipeline.name + "' has " + std::to_string(pipeline.inputs.size()) +
                " inputs and " + std::to_string(pipeline.outputs.size()) + " outputs")
        .help("use run() with names");
  }
  return impl_->run({{{pipeline.inputs[0]->name, image}}, {}, {}}).begin()->second;
}

Program Pipeline::compile(const CompileOptions& options) const {
  return Program(std::make_shared<const Program::Implementation>(ir_, options));
}

Program runtime::compile_watched(const Pipeline& pipeline, const CompileOptions& options,
                                 RunProgress* progress, OnFallback on_fallback) {
  const auto ir = std::make_shared<const ir::Pipeline>(pipeline.ir());
  return Program(
      std::make_shared<const Program::Implementation>(ir, options, progress, std::move(on_fallback)));
}

Program runtime::program_of(const Pipeline& pipeline, std::unique_ptr<const Executable> executable) {
  const auto ir = std::make_shared<const ir::Pipeline>(pipeline.ir());
  return Program(std::make_shared<const Program::Implementation>(ir, std::move(executable)));
}

std::vector<Program> runtime::compile_together(const std::vector<Pipeline>& pipelines,
                                               const CompileOptions& options,
                                               const compile::ContentCache& cache,
                                               const std::vector<std::string>& schedules) {
  compile::Scheduling scheduling = compile::scheduling_of(options);
  std::vector<kernel::Module> modules;
  std::map<std::vector<std::string>, std::vector<std::size_t>> by_flags;
  for (const Pipeline& pipeline : pipelines) {
    if (!schedules.empty()) scheduling.groups = schedules.at(modules.size());
    modules.push_back(compile::lowered(pipeline.ir(), target::Processor::Cpu, scheduling));
    by_flags[flags_for(modules.back(), options).extra].push_back(modules.size() - 1);
  }
  std::vector<std::shared_ptr<const Program::Implementation>> programs(pipelines.size());
  for (const auto& [flags, members] : by_flags) {
    std::vector<const kernel::Module*> batch;
    for (std::size_t m : members) batch.push_back(&modules[m]);
    const auto object = std::make_shared<const compile::SharedObject>(compile::compile_shared(
        emit::emit_for_loading_together(batch), {flags, longest_compilation, options.compiler_flags}, cache));
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto ir = std::make_shared<const ir::Pipeline>(pipelines[members[i]].ir());
      programs[members[i]] = std::make_shared<const Program::Implementation>(
          ir, std::make_unique<CpuProgram>(ir, object, emit::entry_name(i), options.threads));
    }
  }
  return {programs.begin(), programs.end()};
}

}  // namespace weft
