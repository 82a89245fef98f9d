#include "tools/random_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "compile/scheduling.h"
#include "compile/scratch_folder.h"
#include "fuzz/bounds.h"
#include "fuzz/build.h"
#include "fuzz/crash.h"
#include "fuzz/generate.h"
#include "fuzz/groups.h"
#include "fuzz/images.h"
#include "fuzz/print.h"
#include "fuzz/shrink.h"
#include "lower/lower.h"
#include "rewrite/prepare.h"
#include "runtime/compile_together.h"
#include "schedule/groups.h"
#include "tools/arguments.h"
#include "tools/compare.h"
#include "tools/simt_program.h"
#include "tools/workers.h"

namespace weft::tools::recipe {

using fuzz::CrashNote;
using fuzz::image_name;
using fuzz::least_parameter;
using fuzz::legal_groups;
using fuzz::most_parameter;
using fuzz::Random;
using fuzz::random_groups;
using fuzz::random_recipe;
using fuzz::Recipe;
using fuzz::Run;
using fuzz::Size;
using fuzz::stage_name;

namespace {

/// Pipelines that are compiled together: those whose seeds have the same quotient.
constexpr std::uint64_t batch_size = 32;

/// What the pipelines of a batch are compiled for, and how.
struct Way {
  RunTarget target;
  bool random_groups;  ///< Each recipe's, drawn from its seed, instead of those that the compiler chooses.
  CompileOptions options;  ///< On the SIMT checker threads and target do not count.
};

/// A recipe and what has become of it.
struct Trial {
  Recipe recipe;
  std::optional<Pipeline> pipeline;
  std::optional<Program> program;
  std::optional<Failure> failure;

  void fail(Failure::Kind kind, RunTarget target, const std::string& message) {
    failure = Failure{kind, target, recipe.seed, message, ""};
  }
};

void build(Trial& trial) {
  const auto fail = [&](const std::string& message) {
    trial.fail(Failure::Kind::Drawing, RunTarget::Reference, message);
  };
  try {
    trial.pipeline = build(trial.recipe);
    if (!bounds_of(trial.recipe)) fail("rounding errors decide something");
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

target::Target target_of(const Way& way) {
  return is_simt(way.target) ? target::Processor::Gpu : target::Processor::Cpu;
}

compile::Scheduling scheduling_of(const Trial& trial, const Way& way) {
  compile::Scheduling scheduling = compile::scheduling_of(way.options);
  if (const auto& grouping = trial.recipe.grouping) scheduling.groups = schedule::to_json(*grouping);
  return scheduling;
}

/// Whether the pipeline can be lowered. It takes no time beside the C++ compiler.
void lower(Trial& trial, const Way& way) {
  try {
    const compile::Scheduling scheduling = scheduling_of(trial, way);
    is_simt(way.target) ? cuda_module(*trial.pipeline, scheduling)
                        : compile::lowered(trial.pipeline->ir(), target::Processor::Cpu, scheduling);
  } catch (const std::exception& e) {
    trial.fail(Failure::Kind::Lowering, way.target, e.what());
  }
}

std::vector<Program> compiled(const std::vector<Trial*>& trials, const Way& way,
                              const compile::ContentCache& cache) {
  std::vector<Pipeline> pipelines;
  std::vector<std::string> schedules;
  for (const Trial* t : trials) {
    pipelines.push_back(*t->pipeline);
    schedules.push_back(scheduling_of(*t, way).groups);
  }
  if (!is_simt(way.target)) return runtime::compile_together(pipelines, way.options, cache, schedules);
  return simt_programs(
      pipelines, {build_of(way.target), way.options.compiler_flags, compile::scheduling_of(way.options)},
      schedules);
}

/// Compiles the trials together; halves them to find those that cannot be.
void compile(const std::vector<Trial*>& trials, const Way& way, const compile::ContentCache& cache) {
  if (trials.empty()) return;
  try {
    const std::vector<Program> programs = compiled(trials, way, cache);
    for (std::size_t i = 0; i < trials.size(); ++i) trials[i]->program = programs[i];
  } catch (const std::exception& e) {
    if (trials.size() == 1) return trials[0]->fail(Failure::Kind::Compilation, way.target, e.what());
    const auto middle = trials.begin() + static_cast<std::ptrdiff_t>(trials.size() / 2);
    compile({trials.begin(), middle}, way, cache);
    compile({middle, trials.end()}, way, cache);
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
std::string comment_on(std::uint64_t seed, RunTarget target) {
  const std::string targets = is_simt(target) ? " --targets " + name_of(target) : "";
  return fmt::format("// Found by: weft verify --random 1 --seed {}{}\n", seed, targets);
}

std::string crash_text(const Recipe& recipe, const Run& run, RunTarget target) {
  const std::string sizes = fmt::format("// The process ended with {}\n", sizes_text(recipe, run));
  return fmt::format("\nCRASHED seed {}\n\n{}", recipe.seed,
                     to_cpp(recipe, comment_on(recipe.seed, target) + sizes));
}

void run(Trial& trial, RunTarget target, RandomTotals& totals) {
  if (!trial.program || trial.failure) return;
  try {
    const ToleranceOf tolerance = tolerances(trial.recipe);
    Random random(trial.recipe.seed);
    for (const Run& r : trial.recipe.runs) {
      const Arguments arguments = arguments_of(trial, r, random);
      const CrashNote note(crash_text(trial.recipe, r, target));
      const auto comparisons = verify(trial.pipeline->ir(), *trial.program, arguments, tolerance);
      ++totals.runs;
      totals.refused += comparisons.empty() ? 1 : 0;
      for (const Comparison& c : comparisons) {
        totals.pixels += c.pixels;
        if (c.equal) continue;
        return trial.fail(Failure::Kind::Difference, target,
                          fmt::format("with {}: {}", sizes_text(trial.recipe, r), c.text()));
      }
    }
  } catch (const std::exception& e) {
    trial.fail(Failure::Kind::Difference, target, e.what());
  }
}

/// Runs a recipe both ways, compiled into `cache`; the first failure, if any. Goes no further than a failure
/// of the kind `last` takes.
std::optional<Failure> failure_of(Recipe& recipe, const Way& way, const compile::ContentCache& cache,
                                  Failure::Kind last) {
  Trial trial{recipe, {}, {}, {}};
  build(trial);
  if (auto& grouping = trial.recipe.grouping; grouping && trial.pipeline) {
    const target::Target target = target_of(way);
    grouping = legal_groups(compile::prepared(trial.pipeline->ir(), target, grouping->preparation), *grouping,
                            compile::memory_of(target));
  }
  recipe = trial.recipe;  // with types, and groups that it has
  if (!trial.failure) lower(trial, way);
  if (last == Failure::Kind::Lowering) return trial.failure;
  if (!trial.failure) compile({&trial}, way, cache);
  RandomTotals totals;
  run(trial, way.target, totals);
  return trial.failure;
}

/// Makes the recipe of a failure small and prints it.
Failure explained(const Trial& trial, Way way, std::chrono::seconds time,
                  const compile::ContentCache& cache) {
  Failure failure = *trial.failure;
  const auto deadline = std::chrono::steady_clock::now() + time;
  const auto fails = [&](Recipe& candidate) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    const auto again = failure_of(candidate, way, cache, failure.kind);
    if (!again || again->kind != failure.kind) return false;
    failure.message = again->message;
    return true;
  };
  Recipe recipe = trial.recipe;
  if (failure.kind != Failure::Kind::Drawing) {
    way.options.compiler_flags.push_back("-O0");  // if it fails like that, it is small much sooner
    if (!fails(recipe)) way.options.compiler_flags.pop_back();
    recipe = shrink(recipe, fails);
  }
  std::string comment = comment_on(failure.seed, failure.target);
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

/// Belongs to the seed's batch, so that a pipeline fails alone as it did among others.
std::vector<Way> ways_for(const RandomPlan& plan, std::uint64_t seed) {
  const std::uint64_t batch = seed / batch_size;
  std::vector<RunTarget> targets, builds;
  for (const RunTarget target : plan.targets) (is_simt(target) ? builds : targets).push_back(target);
  if (!builds.empty()) targets.push_back(builds[batch % builds.size()]);
  std::vector<Way> ways;
  for (const RunTarget target : targets) {
    Way way{target, false, {}};
    way.options.threads = batch % 3 == 0 ? 3 : 1, way.options.compiler_flags = plan.compiler_flags;
    const bool varies = plan.scheduling.tile == Tile::Auto;
    way.options.tile = varies && batch / 4 % 4 == 3 ? Tile::None : plan.scheduling.tile;
    way.options.fuse = plan.scheduling.fuse;
    // The CPU's vectoriser needs Weft's own flags; the optimizer of single pixels has a quarter of the CPU's batches, too.
    std::vector<std::string>& flags = way.options.compiler_flags;
    if (is_simt(target))
      for (std::string& flag : simt::quick_flags(build_of(target))) flags.push_back(std::move(flag));
    else if (batch % 2 == 1)
      flags.push_back("-Og");
    else if (batch % 4 == 2)
      flags.push_back("-O1");
    // Caches of no bytes keep nothing: even small results are stored past them.
    if (!is_simt(target) && batch % 2 == 0) way.options.compiler_flags.push_back("-DWEFT_CACHE_BYTES=0");
    if (!is_simt(target) && batch % 3 == 0) way.options.compiler_flags.push_back("-DWEFT_LEAST_PORTION=1");
    ways.push_back(way);
    if (!varies || plan.scheduling.fuse != Fuse::Auto) continue;
    way.random_groups = true, way.options.tile = Tile::Auto;
    ways.push_back(way);
  }
  return ways;
}

/// Draws groups other than those that the compiler chooses; leaves out pipelines for which none come, and
/// groups that the target has no room for.
void draw_groups(std::vector<Trial*>& trials, const Way& way, RandomTotals& totals) {
  constexpr std::uint64_t attempts = 8;
  const target::Target target = target_of(way);
  const schedule::Memory memory = compile::memory_of(target);
  std::erase_if(trials, [&](Trial* t) {
    const compile::Scheduled chosen = compile::scheduled(t->pipeline->ir(), target);
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
      schedule::Grouping all = random_groups(chosen.pipeline, t->recipe.seed * attempts + attempt);
      all.preparation = chosen.schedule.preparation;
      const schedule::Grouping& legal =
          t->recipe.grouping.emplace(legal_groups(chosen.pipeline, all, memory));
      totals.too_large += static_cast<std::int64_t>(all.groups.size() - legal.groups.size());
      if (!legal.tiles.empty() || !legal.kernels.empty()) return false;
      const auto drawn =
          schedule::schedule_of_groups(chosen.pipeline, legal, schedule::Tiling::March, memory);
      if (schedule::groups_of(drawn.schedule.value()) != schedule::groups_of(chosen.schedule)) return false;
    }
    return true;
  });
}

/// Compiles and runs the trials that have not failed.
void check(std::vector<Trial>& trials, const RandomPlan& plan, const Way& way,
           const compile::ContentCache& cache, RandomTotals& totals) {
  std::vector<Trial*> tried, lowered;
  for (Trial& t : trials) {
    t.recipe.grouping.reset();  // of another way
    if (!t.failure) tried.push_back(&t);
  }
  if (way.random_groups) draw_groups(tried, way, totals);
  for (Trial* t : tried) {
    t->program.reset();  // of another way
    lower(*t, way);
    if (!t->failure) lowered.push_back(t);
  }
  compile(lowered, way, cache);
  for (Trial* t : tried) {
    run(*t, way.target, totals);
    if (t->failure) totals.failures.push_back(explained(*t, way, plan.shrinking, cache));
  }
}

/// The pipelines of some seeds, one after the other, then together.
RandomTotals verify_batch(const RandomPlan& plan, std::uint64_t first, std::uint64_t end,
                          const compile::ContentCache& cache) {
  RandomTotals totals;
  const std::vector<Way> ways = ways_for(plan, first);
  std::vector<Trial> trials;
  for (std::uint64_t seed = first; seed < end; ++seed) {
    Trial& trial = trials.emplace_back(Trial{random_recipe(seed), {}, {}, {}});
    trial.recipe.runs = runs_of(trial.recipe, plan.sizes);
    build(trial);
    if (trial.failure) totals.failures.push_back(explained(trial, ways[0], plan.shrinking, cache));
    ++totals.pipelines;
  }
  for (const Way& way : ways) check(trials, plan, way, cache, totals);
  return totals;
}

void add(RandomTotals& to, const RandomTotals& more) {
  to.pipelines += more.pipelines, to.runs += more.runs, to.refused += more.refused, to.pixels += more.pixels,
      to.too_large += more.too_large;
  to.failures.insert(to.failures.end(), more.failures.begin(), more.failures.end());
}

}  // namespace

RandomTotals verify_random(const RandomPlan& plan, const std::function<void(const RandomTotals&)>& progress) {
  const compile::ScratchFolder folder(compile::folder_of_temporary_files(), "weft-random-");
  const compile::ContentCache cache(folder.path());  // of code that nobody will need again
  const std::uint64_t end = plan.seed + static_cast<std::uint64_t>(plan.count);
  std::mutex mutex;
  RandomTotals totals;
  share_out(plan.seed / batch_size, (end + batch_size - 1) / batch_size, plan.workers,
            [&](std::uint64_t batch) {
              const std::uint64_t first = std::max(plan.seed, batch * batch_size),
                                  last = std::min(end, (batch + 1) * batch_size);
              const RandomTotals more = verify_batch(plan, first, last, cache);
              const std::lock_guard lock(mutex);
              add(totals, more);
              progress(totals);
            });
  std::sort(totals.failures.begin(), totals.failures.end(),
            [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  return totals;
}

}  // namespace weft::tools::recipe
