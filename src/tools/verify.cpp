// weft verify: applications on random images, against the interpreter, on every pixel.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/json_text.h"
#include "tools/mutants.h"
#include "tools/random_verify.h"
#include "tools/schedule_flags.h"
#include "tools/targets.h"
#include "tools/terminal.h"
#include "tools/verify_applications.h"

namespace weft::tools {
namespace {

struct VerifyOptions {
  std::string application, sizes, targets = "cpu", borders = "all", seed, tolerance, random, mutants;
  ScheduleFlags schedule;
  std::vector<std::string> params;
  bool quick = false, json = false, quiet = false;
};

std::uint64_t seed_of(const VerifyOptions& options) {
  return options.seed.empty() ? std::random_device{}()
                              : static_cast<std::uint64_t>(parse_count("the seed", options.seed, 0));
}

VerifyPlan plan_of(const VerifyOptions& options) {
  VerifyPlan plan;
  plan.seed = seed_of(options);
  plan.params = options.params;
  plan.quick = options.quick;
  if (!options.sizes.empty()) plan.sizes = parse_sizes(options.sizes);
  plan.targets = parse_targets(options.targets);
  plan.scheduling = parse(options.schedule);
  if (options.borders != "all") plan.borders = split(options.borders, ',');
  if (!options.tolerance.empty()) plan.tolerance.relative = parse_number("the tolerance", options.tolerance);
  return plan;
}

std::string summary(const VerifyTotals& totals) {
  std::string text = fmt::format("{} passed, {} failed", totals.passed, totals.failed);
  if (totals.worst > 0) text += fmt::format("; floats within {:.2g}", totals.worst);
  if (totals.off_by_one > 0) text += fmt::format("; {} pixels rounded the other way", totals.off_by_one);
  return text;
}

void verify_all(const VerifyOptions& options, int& exit_code) {
  const VerifyPlan plan = plan_of(options);
  Progress progress(options.quiet);
  VerifyTotals all;
  nlohmann::ordered_json json = {{"seed", plan.seed}, {"applications", nlohmann::ordered_json::array()}};
  if (!options.json) fmt::print("seed {}\n", plan.seed);
  const auto finished = [&](const Application& application, const VerifyTotals& totals) {
    progress.clear();
    if (!options.json) fmt::print("{:<18} {}\n", application.name, summary(totals));
    std::fflush(stdout);
    json["applications"].push_back({{"name", application.name},
                                    {"passed", totals.passed},
                                    {"failed", totals.failed},
                                    {"worst", totals.worst},
                                    {"off_by_one", totals.off_by_one}});
    all += totals;
  };
  const auto failed = [&](const std::string& what) {
    progress.clear();
    fmt::print(stderr, "FAILED {}\n", what);
  };
  verify_applications(select_applications(options.application), plan,
                      {finished, failed, [&](const std::string& state) { progress.show(state); }});
  progress.clear();
  json["passed"] = all.passed;
  json["failed"] = all.failed;
  fmt::print("{}\n",
             options.json ? json_text(json) : fmt::format("{} passed, {} failed", all.passed, all.failed));
  if (all.failed > 0) exit_code = 1;
}

// ---- random pipelines -------------------------------------------------------------------------------------

/// Prints those that are new, at once: what comes later may end the process.
class FailurePrinter {
 public:
  void print(const recipe::RandomTotals& totals, Progress& progress) {
    for (; printed_ < totals.failures.size(); ++printed_) {
      const recipe::Failure& failure = totals.failures[printed_];
      progress.clear();
      fmt::print("FAILED seed {}: {}\n\n{}\n", failure.seed, failure.message, failure.reproducer);
    }
    std::fflush(stdout);
  }

 private:
  std::size_t printed_ = 0;
};

nlohmann::ordered_json json_of(const recipe::RandomPlan& plan, const recipe::RandomTotals& totals) {
  nlohmann::ordered_json json = {{"seed", plan.seed},
                                 {"pipelines", totals.pipelines},
                                 {"runs", totals.runs},
                                 {"refused", totals.refused},
                                 {"pixels", totals.pixels},
                                 {"groups_too_large", totals.too_large},
                                 {"failed", totals.failures.size()},
                                 {"failures", nlohmann::ordered_json::array()}};
  for (const recipe::Failure& failure : totals.failures) {
    json["failures"].push_back(
        {{"seed", failure.seed}, {"message", failure.message}, {"reproducer", failure.reproducer}});
  }
  return json;
}

void verify_random(const VerifyOptions& options, int& exit_code) {
  recipe::RandomPlan plan;
  plan.count = parse_count("the number of pipelines", options.random);
  plan.seed = seed_of(options);
  if (!options.sizes.empty()) plan.sizes = parse_sizes(options.sizes);
  plan.targets = parse_targets(options.targets);
  plan.scheduling = parse(options.schedule);
  if (!plan.scheduling.groups.empty())
    throw Error("random pipelines differ in their stages, so no schedule fits them all");
  if (std::count(plan.targets.begin(), plan.targets.end(), RunTarget::Reference))
    throw Error("random pipelines are compared with the reference; their targets are cpu and simt");
  if (!options.json) fmt::print("seed {}\n", plan.seed);
  std::fflush(stdout);
  Progress progress(options.quiet);
  FailurePrinter failures;
  const recipe::RandomTotals totals = recipe::verify_random(plan, [&](const recipe::RandomTotals& now) {
    if (!options.json) failures.print(now, progress);
    progress.show(
        fmt::format("{} of {} pipelines, {} failed", now.pipelines, plan.count, now.failures.size()));
  });
  progress.clear();
  if (options.json) {
    fmt::print("{}\n", json_text(json_of(plan, totals)));
  } else {
    fmt::print("{} pipelines, {} runs ({} refused on both sides), {} pixels, {} failed\n", totals.pipelines,
               totals.runs, totals.refused, totals.pixels, totals.failures.size());
    if (totals.too_large > 0)
      fmt::print("{} random groups left out: their rows do not fit the shared memory of a block\n",
                 totals.too_large);
  }
  if (!totals.failures.empty()) exit_code = 1;
}

// ---- mutants ----------------------------------------------------------------------------------------------

MutantPlan mutant_plan_of(const VerifyOptions& options) {
  MutantPlan plan;
  if (options.mutants != "all")
    plan.most = static_cast<std::size_t>(parse_count("the number of mutants", options.mutants));
  plan.seed = seed_of(options);
  if (!options.sizes.empty()) plan.sizes = parse_sizes(options.sizes);
  plan.targets = parse_targets(options.targets == "cpu" ? "simt-race,simt-address" : options.targets);
  if (!std::all_of(plan.targets.begin(), plan.targets.end(), is_simt))
    throw Error("mutants run on the SIMT checker; their targets are simt-fast, simt-race and simt-address");
  plan.scheduling = parse(options.schedule);
  plan.params = options.params;
  if (options.borders != "all") plan.params.push_back("border=" + options.borders);
  if (!options.tolerance.empty()) plan.tolerance.relative = parse_number("the tolerance", options.tolerance);
  return plan;
}

void print(const MutantScore& score) {
  for (const MutantResult& r : score.results) {
    if (r.is_found()) continue;
    fmt::print("SURVIVED {} in line {} of {}{}\n  - {}\n  + {}\n", kernel::name_of(r.fault), r.line, r.kernel,
               r.finder == Finder::Tolerance ? ", within the tolerance" : "", r.before, r.after);
  }
  std::map<std::string, int> by_finder;
  for (const MutantResult& r : score.results) ++by_finder[name_of(r.finder)];
  std::string finders;
  for (const auto& [finder, count] : by_finder)
    finders += fmt::format("{}{} {}", finders.empty() ? "" : ", ", finder, count);
  fmt::print("{} of {} mutants found, of {} that there are ({})\n", score.found(), score.results.size(),
             score.places, finders);
}

nlohmann::ordered_json json_of(const MutantPlan& plan, const MutantScore& score) {
  nlohmann::ordered_json json = {{"seed", plan.seed},
                                 {"places", score.places},
                                 {"mutants", score.results.size()},
                                 {"found", score.found()},
                                 {"results", nlohmann::ordered_json::array()}};
  for (const MutantResult& r : score.results) {
    json["results"].push_back({{"fault", kernel::name_of(r.fault)},
                               {"kernel", r.kernel},
                               {"line", r.line},
                               {"before", r.before},
                               {"after", r.after},
                               {"finder", name_of(r.finder)},
                               {"how", r.how}});
  }
  return json;
}

void verify_mutants(const VerifyOptions& options) {
  const std::vector<const Application*> chosen = select_applications(options.application);
  if (chosen.size() != 1) throw Error("--mutants takes one application at a time");
  const MutantPlan plan = mutant_plan_of(options);
  if (!options.json) fmt::print("seed {}\n", plan.seed);
  std::fflush(stdout);
  Progress progress(options.quiet);
  const MutantScore score = score_mutants(*chosen[0], plan, [&](std::size_t done, std::size_t all) {
    progress.show(fmt::format("{} of {} mutants", done, all));
  });
  progress.clear();
  options.json ? fmt::print("{}\n", json_text(json_of(plan, score))) : print(score);
}

void verify(const VerifyOptions& options, int& exit_code) {
  if (!options.mutants.empty() && !options.random.empty())
    throw Error("mutants are those of an application: verify takes --mutants or --random, not both");
  if (options.application.empty() == options.random.empty()) {
    throw Error(options.random.empty() ? "verify needs an application, all, or --random N"
                                       : "verify takes an application or --random N, not both")
        .help("weft list names the applications");
  }
  if (!options.mutants.empty()) return verify_mutants(options);
  options.random.empty() ? verify_all(options, exit_code) : verify_random(options, exit_code);
}

}  // namespace

void add_verify(Parser& weft, int& exit_code) {
  auto options = std::make_shared<VerifyOptions>();
  Command command = weft.add_command("verify", "compares a target with the interpreter, on every pixel");
  command.add_option("APP", options->application, "the application, several after commas, or all");
  command.add_option("--random", options->random,
                     "this number of random pipelines instead, with seeds from --seed on");
  command.add_option("--mutants", options->mutants,
                     "this number of mutants of the application's CUDA instead, or all: kernels with\n"
                     "one fault each, which the checker or the comparison should find");
  command.add_option("--sizes", options->sizes,
                     "WIDTHxHEIGHT, and more after commas; cut or extended for\n"
                     "applications of other dimensions");
  command
      .add_option("--targets", options->targets,
                  "cpu, reference, cuda, simt (all its builds: simt-fast, simt-race and\n"
                  "simt-address, which take turns with --random); several after commas")
      .capture_default_str();
  add_schedule_flags(command, options->schedule);
  command.add_option("--borders", options->borders, "all, or names separated by commas")
      .capture_default_str();
  command.add_flag("--quick", options->quick,
                   "each application as it comes, without its other options and pixel types, and\n"
                   "without other borders than --borders names");
  command.add_repeatable("--param", options->params,
                         "NAME=VALUE: an option or a parameter of the application");
  command.add_option("--seed", options->seed, "repeats the random images, or pipelines, of another run");
  command.add_option("--tolerance", options->tolerance,
                     "floats may differ by this much (1e-4) times 1 + |value| + largest / 100");
  command.add_flag("--json", options->json, "one JSON object");
  add_quiet(command, options->quiet);
  command.footer(
      "Integers have to be equal; those that come from floats may differ by 1 in about 0.1 % of the pixels.\n"
      "Random pipelines have bounds of their own: integers and strict pipelines are exact. Each runs with "
      "the\n"
      "schedule that is chosen, and on the CPU with random groups of its stages as kernels. One that fails "
      "is "
      "made\n"
      "small and printed as C++.\n"
      "A mutant that is not found computes the same at these sizes, or shows what the checks miss: it is "
      "printed\n"
      "with the line that differs. simt-race and simt-address look for it, unless --targets says which "
      "builds.\n"
      "The exit code is 1 if anything differs; of mutants nothing is.\n"
      "Examples:\n  weft verify all\n  weft verify harris --sizes 640x427 --borders clamp,repeat --seed 7\n"
      "  weft verify --random 2000 --seed 1 --targets cpu,simt\n"
      "  weft verify sobel --mutants 50 --borders clamp --seed 1");
  command.callback([options, &exit_code] { verify(*options, exit_code); });
}

}  // namespace weft::tools
