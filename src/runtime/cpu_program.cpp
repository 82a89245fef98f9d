#include "runtime/cpu_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "emit/cpp.h"
#include "ir/contents.h"
#include "kernel/visit.h"
#include "runtime/emitted_host.h"
#include "runtime/launch_progress.h"

namespace weft::runtime {
namespace {

struct Resources {
  ThreadPool& threads;
  MemoryPool& memory;
  LaunchProgress* progress;
};

void* allocate(void* context, std::size_t bytes, bool clear) {
  void* memory = nullptr;
  try {
    memory = static_cast<Resources*>(context)->memory.take(std::max<std::size_t>(bytes, 1));
  } catch (const Error&) {
    return nullptr;  // emitted code gives back what it has and returns 1
  }
  if (clear) std::memset(memory, 0, bytes);
  return memory;
}

void release(void* context, void* memory) { static_cast<Resources*>(context)->memory.give(memory); }

/// Runs each(first, last) for parts of [0, count).
void in_parts(ThreadPool& threads, std::int64_t count, Body each) {
  // A few parts per thread even out rows of different cost and threads that are interrupted.
  constexpr std::int64_t parts_per_thread = 8;
  const std::int64_t parts = threads.threads() * parts_per_thread;
  threads.parallel_for(0, count, std::max<std::int64_t>(1, (count + parts - 1) / parts), each);
}

void parallel_for(void* context, std::int64_t count, void (*body)(const void*, std::int64_t, std::int64_t),
                  const void* frame) {
  in_parts(static_cast<Resources*>(context)->threads, count, {body, frame});
}

/// Emitted code calls it once for each launch.
void watched_parallel_for(void* context, std::int64_t count,
                          void (*body)(const void*, std::int64_t, std::int64_t), const void* frame) {
  LaunchProgress& progress = *static_cast<Resources*>(context)->progress;
  progress.begin(count);
  const auto watched = [&](std::int64_t first, std::int64_t last) {
    body(frame, first, last);
    progress.advance(last - first);
  };
  in_parts(static_cast<Resources*>(context)->threads, count, watched);
  progress.end();
}

/// Whether some loop orders values in registers, as medians do.
bool orders_values(const kernel::Module& module) {
  bool found = false;
  for (const kernel::Function& function : module.functions) {
    kernel::visit_statements(
        function.body, [&](const kernel::Stmt& s) { found |= std::holds_alternative<kernel::Order>(s.op); });
  }
  return found;
}

}  // namespace

compile::CompileFlags flags_for(const kernel::Module& module, const CompileOptions& options) {
  compile::CompileFlags flags;
  flags.extra = emit::float_flags(module);
#if defined(__x86_64__)
  // Minima and maxima of full-width registers run on one port, of half-width ones on two; half-width rows are
  // also read across fewer cache lines.
  if (orders_values(module)) flags.extra.push_back("-mprefer-vector-width=256");
#endif
  flags.added = options.compiler_flags;
  return flags;
}

namespace {

/// All that decides what is emitted. The binding names every option, so that a new one is not forgotten here.
std::string description_of(const ir::Pipeline& pipeline, const CompileOptions& options) {
  const auto& [target, threads, compiler_flags, device, tile, fuse, cost, schedule] = options;
  std::string text = fmt::format("tile {}, fuse {}, cost {}, schedule '{}'\n", static_cast<int>(tile),
                                 static_cast<int>(fuse), static_cast<int>(cost), schedule);
  for (const std::string& flag : compiler_flags) text += compile::content_key({flag});
  return text + ir::contents_of(pipeline);
}

kernel::Module lowered(const ir::Pipeline& pipeline, const CompileOptions& options) {
  return compile::lowered(pipeline, target::Processor::Cpu, compile::scheduling_of(options));
}

compile::Emitted emitted(const kernel::Module& module, const CompileOptions& options) {
  return {emit::emit_for_loading(module), flags_for(module, options)};
}

compile::SharedObject compiled(const ir::Pipeline& pipeline, const CompileOptions& options) {
  return compile::compile_shared(
      description_of(pipeline, options), [&] { return emitted(lowered(pipeline, options), options); },
      compile::ContentCache());
}

/// Whoever watches needs the module, whether its code is in the cache or not.
compile::SharedObject compiled(const kernel::Module& module, const CompileOptions& options) {
  const auto [source, flags] = emitted(module, options);
  return compile::compile_shared(source, flags, compile::ContentCache());
}

}  // namespace

CpuProgram::CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CompileOptions& options)
    : CpuProgram(pipeline, std::make_shared<const compile::SharedObject>(compiled(*pipeline, options)),
                 "weft_entry", options.threads) {}

CpuProgram::CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, const CompileOptions& options,
                       RunProgress& progress)
    : CpuProgram(pipeline, lowered(*pipeline, options), options, progress) {}

CpuProgram::CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline, kernel::Module module,
                       const CompileOptions& options, RunProgress& progress)
    : CpuProgram(std::move(pipeline),
                 std::make_shared<const compile::SharedObject>(compiled(module, options)), "weft_entry",
                 options.threads) {
  module_ = std::move(module), progress_ = &progress;
}

CpuProgram::CpuProgram(std::shared_ptr<const ir::Pipeline> pipeline,
                       std::shared_ptr<const compile::SharedObject> object, const std::string& entry,
                       int threads)
    : pipeline_(std::move(pipeline)),
      object_(std::move(object)),
      entry_(object_->symbol(entry.c_str())),
      threads_(threads) {}

void CpuProgram::run(const ir::Bindings& bindings, const std::map<std::string, Buffer>& outputs) const {
  std::optional<LaunchProgress> progress;
  if (progress_) progress.emplace(module_, *pipeline_, bindings, *progress_);
  run(EntryArguments(*pipeline_, bindings, outputs), progress ? &*progress : nullptr);
}

std::function<void()> CpuProgram::again(const ir::Bindings& bindings,
                                        const std::map<std::string, Buffer>& outputs) const {
  if (progress_) return nullptr;
  return [this, arguments = std::make_shared<const EntryArguments>(*pipeline_, bindings, outputs)] {
    run(*arguments, nullptr);
  };
}

void CpuProgram::run(const EntryArguments& arguments, LaunchProgress* progress) const {
  Resources resources{threads_, memory_, progress};
  const EmittedHost host{&resources, allocate, release, progress ? watched_parallel_for : parallel_for,
                         threads_.least_portion()};
  const auto entry = reinterpret_cast<Entry>(entry_);
  if (entry(arguments.arrays(), arguments.integers(), arguments.params(), &host) != 0) {
    throw Error("not enough memory for the intermediate images of pipeline '" + pipeline_->name + "'");
  }
}

}  // namespace weft::runtime
