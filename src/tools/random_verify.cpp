#include "tools/random_verify.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "runtime/compile_together.h"
#include "runtime/cpu_program.h"
#include "tools/arguments.h"
#include "tools/compare.h"
#include "tools/random_bounds.h"
#include "tools/random_build.h"
#include "tools/random_crash.h"
#include "tools/random_generate.h"
#include "tools/random_images.h"
#include "tools/random_print.h"
#include "tools/random_shrink.h"

namespace weft::tools::recipe {
namespace {

/// Pipelines that are compiled together: those whose seeds have the same quotient.
constexpr std::uint64_t batch_size = 32;

/// Compiled code that nobody will need again.
class TemporaryCache {
 public:
  TemporaryCache() : folder_(made()), cache_(folder_) {}
  ~TemporaryCache() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryCache(const TemporaryCache&) = delete;
  TemporaryCache& operator=(const TemporaryCache&) = delete;
  const runtime::ContentCache& get() const { return cache_; }

 private:
  static std::filesystem::path made() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-random-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error("no folder for compiled code can be made at '" + name + "'");
    return name;
  }

  std::filesystem::path folder_;
  runtime::ContentCache cache_;
};

/// A recipe and what has become of it.
struct Trial {
  Recipe recipe;
  std::optional<Pipeline> pipeline;
  std::optional<Program> program;
  std::optional<Failure> failure;

  void fail(Failure::Kind kind, const std::string& message) {
    failure = Failure{kind, recipe.seed, message, ""};
  }
};

/// Whether the pipeline can be lowered. It takes no time beside the C++ compiler.
void lower(Trial& trial) {
  try {
    runtime::lowered(trial.pipeline->ir());
  } catch (const std::exception& e) {
    trial.fail(Failure::Kind::Lowering, e.what());
  }
}

void build(Trial& trial) {
  try {
    trial.pipeline = build(trial.recipe);
    if (bounds_of(trial.recipe))
      lower(trial);
    else
      trial.fail(Failure::Kind::Drawing, "rounding errors decide something");
  } catch (const std::exception& e) {
    trial.fail(Failure::Kind::Drawing, e.what());
  }
}

/// Compiles the trials together; halves them to find those that cannot be.
void compile(const std::vector<Trial*>& trials, const CompileOptions& options,
             const runtime::ContentCache& cache) {
  if (trials.empty()) return;
  std::vector<Pipeline> pipelines;
  for (const Trial* t : trials) pipelines.push_back(*t->pipeline);
  try {
    const std::vector<Program> programs = runtime::compile_together(pipelines, options, cache);
    for (std::size_t i = 0; i < trials.size(); ++i) trials[i]->program = programs[i];
  } catch (const std::exception& e) {
    if (trials.size() == 1) return trials[0]->fail(Failure::Kind::Compilation, e.what());
    const auto middle = trials.begin() + static_cast<std::ptrdiff_t>(trials.size() / 2);
    compile({trials.begin(), middle}, options, cache);
    compile({middle, trials.end()}, options, cache);
  }
}

std::int64_t evaluate(const Size& size, const Run& run) {
  if (size.image < 0) return size.offset;
  const std::int64_t sum = size.scale * run.extents[size.image][size.dim] + size.inner;
  const std::int64_t quotient = sum / size.divisor - (sum % size.divisor < 0 ? 1 : 0);
  return quotient + size.offset;
}

std::vector<std::int64_t> extents_of(const Recipe& recipe, int image, const Run& run) {
  if (recipe.images[image].extents.empty()) return run.extents[image];
  std::vector<std::int64_t> extents;
  for (const Size& size : recipe.images[image].extents) extents.push_back(evaluate(size, run));
  return extents;
}

Arguments arguments_of(const Trial& trial, const Run& run, Random& random) {
  const Recipe& recipe = trial.recipe;
  Arguments arguments;
  for (const ir::StagePtr& input : trial.pipeline->ir().inputs) {
    for (int i = 0; i < recipe.first_stage(); ++i) {
      if (input->name == image_name(i))
        arguments.images[input->name] = random_pixels(recipe.images[i], extents_of(recipe, i, run), random);
    }
  }
  for (const auto& param : trial.pipeline->ir().params) {
    const int least = is_signed(param->initial.type.scalar) ? least_parameter : 0;
    const auto values = static_cast<std::uint64_t>(most_parameter - least + 1);
    if (random.bits() % 2 == 0)
      arguments.params[param->name] = static_cast<double>(random.bits() % values) + least;
  }
  return arguments;
}

std::string sizes_text(const Recipe& recipe, const Run& run) {
  const std::vector<bool> needed = needed_sources(recipe);
  std::string text;
  for (int i = 0; i < recipe.first_stage(); ++i) {
    if (!needed[i]) continue;
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", image_name(i),
                        fmt::join(extents_of(recipe, i, run), "x"));
  }
  return text;
}

/// The tolerance of each output: strict pipelines and integers are exact.
ToleranceOf tolerances(const Recipe& recipe) {
  std::map<std::string, double> errors;
  const auto bounds = bounds_of(recipe);
  for (std::size_t s = 0; s < bounds->size(); ++s) {
    // Twice, since the analysis counts each operation as if it were rounded once.
    const double error = (*bounds)[s].error;
    errors[stage_name(static_cast<int>(s))] = error > 0 ? 2 * error + 0x1p-120 : recipe.strict ? 0 : 0x1p-120;
  }
  return [errors](const std::string& output) {
    return Tolerance{.relative = 0, .absolute = errors.at(output), .rounded_share = 0};
  };
}

/// "// Found by: weft verify --random 1 --seed 7", which repeats a failure.
std::string comment_on(std::uint64_t seed) {
  return fmt::format("// Found by: weft verify --random 1 --seed {}\n", seed);
}

std::string crash_text(const Recipe& recipe, const Run& run) {
  const std::string sizes = fmt::format("// The process ended with {}\n", sizes_text(recipe, run));
  return fmt::format("\nCRASHED seed {}\n\n{}", recipe.seed, to_cpp(recipe, comment_on(recipe.seed) + sizes));
}

void run(Trial& trial, RandomTotals& totals) {
  if (!trial.program || trial.failure) return;
  try {
    const ToleranceOf tolerance = tolerances(trial.recipe);
    Random random(trial.recipe.seed);
    for (const Run& r : trial.recipe.runs) {
      const Arguments arguments = arguments_of(trial, r, random);
      const CrashNote note(crash_text(trial.recipe, r));
      const auto comparisons = verify(trial.pipeline->ir(), *trial.program, arguments, tolerance);
      ++totals.runs;
      totals.refused += comparisons.empty() ? 1 : 0;
      for (const Comparison& c : comparisons) {
        totals.pixels += c.pixels;
        if (c.equal) continue;
        return trial.fail(Failure::Kind::Difference,
                          fmt::format("with {}: {}", sizes_text(trial.recipe, r), c.text()));
      }
    }
  } catch (const std::exception& e) {
    trial.fail(Failure::Kind::Difference, e.what());
  }
}

/// Makes the recipe of a failure small and prints it.
Failure explained(const Trial& trial, CompileOptions options, std::chrono::seconds time,
                  const runtime::ContentCache& cache) {
  Failure failure = *trial.failure;
  const auto deadline = std::chrono::steady_clock::now() + time;
  const auto fails = [&](Recipe& candidate) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    const auto again = failure_of(candidate, options, cache, failure.kind);
    if (!again || again->kind != failure.kind) return false;
    failure.message = again->message;
    return true;
  };
  Recipe recipe = trial.recipe;
  if (failure.kind != Failure::Kind::Drawing) {
    options.compiler_flags.push_back("-O0");  // if it fails like that, it is small much sooner
    if (!fails(recipe)) options.compiler_flags.pop_back();
    recipe = shrink(recipe, fails);
  }
  std::string comment = comment_on(failure.seed);
  for (const std::string& line : split(failure.message, '\n')) comment += "// " + line + "\n";
  failure.reproducer = to_cpp(recipe, comment);
  return failure;
}

std::vector<Run> runs_of(const Recipe& recipe, const std::vector<tools::Size>& sizes) {
  std::vector<Run> runs;
  for (const tools::Size& size : sizes) {
    Run run = recipe.runs[0];
    for (auto& extents : run.extents) {
      if (extents.size() == size.extents.size()) extents = size.extents;
    }
    runs.push_back(run);
  }
  return sizes.empty() ? recipe.runs : runs;
}

/// The pipelines of some seeds, one after the other, then together.
RandomTotals verify_batch(const RandomPlan& plan, std::uint64_t first, std::uint64_t end,
                          const runtime::ContentCache& cache) {
  RandomTotals totals;
  std::vector<Trial> trials;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    Trial& trial = trials.emplace_back(Trial{random_recipe(seed), {}, {}, {}});
    trial.recipe.runs = runs_of(trial.recipe, plan.sizes);
    build(trial);
  }
  std::vector<Trial*> built;
  for (Trial& t : trials) {
    if (!t.failure) built.push_back(&t);
  }
  const CompileOptions options = options_for(plan, first);
  compile(built, options, cache);
  for (Trial& t : trials) {
    run(t, totals);
    ++totals.pipelines;
    if (t.failure) totals.failures.push_back(explained(t, options, plan.shrinking, cache));
  }
  return totals;
}

void add(RandomTotals& to, const RandomTotals& more) {
  to.pipelines += more.pipelines, to.runs += more.runs, to.refused += more.refused, to.pixels += more.pixels;
  to.failures.insert(to.failures.end(), more.failures.begin(), more.failures.end());
}

}  // namespace

CompileOptions options_for(const RandomPlan& plan, std::uint64_t seed) {
  CompileOptions options = plan.compile;
  const std::uint64_t batch = seed / batch_size;
  options.threads = batch % 3 == 0 ? 3 : 1;
  // Compiling is what takes the time. The vectoriser needs Weft's own flags.
  if (batch % 4 != 0) options.compiler_flags.push_back("-O1");
  return options;
}

std::optional<Failure> failure_of(Recipe& recipe, const CompileOptions& options,
                                  const runtime::ContentCache& cache, Failure::Kind last) {
  Trial trial{recipe, {}, {}, {}};
  build(trial);
  recipe = trial.recipe;  // with types
  if (last == Failure::Kind::Lowering) return trial.failure;
  if (!trial.failure) compile({&trial}, options, cache);
  RandomTotals totals;
  run(trial, totals);
  return trial.failure;
}

RandomTotals verify_random(const RandomPlan& plan, const std::function<void(const RandomTotals&)>& progress) {
  const TemporaryCache cache;
  const std::uint64_t end = plan.seed + static_cast<std::uint64_t>(plan.count);
  std::atomic<std::uint64_t> next_batch = plan.seed / batch_size;
  std::mutex mutex;
  RandomTotals totals;
  std::exception_ptr trouble;  // of ours, such as a full disk
  const auto verify_batches = [&] {
    while (true) {
      const std::uint64_t batch = next_batch++;
      const std::uint64_t first = std::max(plan.seed, batch * batch_size),
                          last = std::min(end, (batch + 1) * batch_size);
      if (batch * batch_size >= end) return;
      const RandomTotals more = verify_batch(plan, first, last, cache.get());
      const std::lock_guard lock(mutex);
      add(totals, more);
      progress(totals);
    }
  };
  const auto work = [&] {
    try {
      verify_batches();
    } catch (...) {
      const std::lock_guard lock(mutex);
      trouble = std::current_exception();
    }
  };
  std::vector<std::jthread> workers;
  const int count =
      plan.workers > 0 ? plan.workers : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int w = 0; w < count; ++w) workers.emplace_back(work);
  workers.clear();  // waits for them
  if (trouble) std::rethrow_exception(trouble);
  std::sort(totals.failures.begin(), totals.failures.end(),
            [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  return totals;
}

}  // namespace weft::tools::recipe
