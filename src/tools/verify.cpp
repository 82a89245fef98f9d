// weft verify: applications on random images, against the interpreter, on every pixel.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "ir/stage_ir.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/compare.h"
#include "tools/random_verify.h"
#include "tools/scene.h"
#include "tools/targets.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

struct Options {
  std::string application, sizes, targets = "cpu", borders = "all", seed, tolerance, random;
  std::vector<std::string> params;
  bool quick = false, json = false;
};

struct Totals {
  std::int64_t passed = 0, failed = 0, off_by_one = 0;
  double worst = 0;

  Totals& operator+=(const Totals& o) {
    passed += o.passed, failed += o.failed, off_by_one += o.off_by_one;
    worst = std::max(worst, o.worst);
    return *this;
  }
};

/// One way to build an application.
struct Variant {
  std::vector<std::string> params;
  std::map<std::string, Type> types;

  std::string text() const {
    std::string all = joined(params, " ");
    for (const auto& [name, type] : types) all += (all.empty() ? "" : " ") + name + ":" + weft::name_of(type);
    return all;
  }
};

/// What the command line asks for, understood.
struct Plan {
  std::vector<Size> sizes;  ///< Empty: those of default_sizes.
  std::vector<RunTarget> targets;
  std::vector<std::string> borders;  ///< Empty: all.
  std::vector<std::string> params;
  std::uint64_t seed;
  Tolerance tolerance;
  bool quick;  ///< Each application as it comes.
  bool json;
};

std::uint64_t seed_of(const Options& options) {
  return options.seed.empty() ? std::random_device{}()
                              : static_cast<std::uint64_t>(parse_count("the seed", options.seed, 0));
}

Plan plan_of(const Options& options) {
  Plan plan{{}, {}, {}, options.params, seed_of(options), {}, options.quick, options.json};
  if (!options.sizes.empty()) plan.sizes = parse_sizes(options.sizes);
  plan.targets = parse_targets(options.targets);
  if (options.borders != "all") plan.borders = split(options.borders, ',');
  if (!options.tolerance.empty()) plan.tolerance.relative = parse_number("the tolerance", options.tolerance);
  return plan;
}

// ---- variants ---------------------------------------------------------------------------------------------

/// All pixel types of the first image that accepts several; further images follow it where they can.
std::vector<std::map<std::string, Type>> type_choices(const std::vector<DeclaredImage>& images) {
  const auto several = [](const DeclaredImage& i) { return i.scalars.size() * i.lanes.size() > 1; };
  const auto leader = std::find_if(images.begin(), images.end(), several);
  if (leader == images.end()) return {{}};
  const auto pick = [](const auto& items, auto wanted) {
    return std::find(items.begin(), items.end(), wanted) == items.end() ? items[0] : wanted;
  };
  std::vector<std::map<std::string, Type>> choices;
  for (Scalar scalar : leader->scalars) {
    for (int lanes : leader->lanes) {
      auto& types = choices.emplace_back();
      for (const DeclaredImage& image : images) {
        if (several(image)) types[image.name] = {pick(image.scalars, scalar), pick(image.lanes, lanes)};
      }
    }
  }
  return choices;
}

bool is_given(const std::vector<std::string>& params, const std::string& name) {
  return std::any_of(params.begin(), params.end(), [&](const auto& p) { return p.starts_with(name + "="); });
}

/// The borders to try; one empty list of parameters if the application does not choose.
std::vector<std::vector<std::string>> border_choices(const Built& built, const Plan& plan) {
  const auto option = std::find_if(built.options.begin(), built.options.end(),
                                   [](const DeclaredOption& o) { return o.name == "border"; });
  if (option == built.options.end() || is_given(plan.params, "border")) return {{}};
  std::vector<std::vector<std::string>> choices;
  for (const std::string& border : plan.borders.empty() ? option->choices : plan.borders) {
    choices.push_back({"border=" + border});
    const bool has_value = std::any_of(built.options.begin(), built.options.end(),
                                       [](const DeclaredOption& o) { return o.name == "border_value"; });
    if (border == "constant" && has_value && !is_given(plan.params, "border_value"))
      choices.back().push_back("border_value=7");
  }
  return choices;
}

/// Every border with every pixel type; and every other choice of every option, one at a time.
std::vector<Variant> variants_of(const Application& application, const Plan& plan) {
  const Built built = prepare(application, plan.params).built;
  std::vector<Variant> variants;
  const auto add = [&](const std::vector<std::string>& extra, const std::map<std::string, Type>& types) {
    Variant variant{plan.params, types};
    variant.params.insert(variant.params.end(), extra.begin(), extra.end());
    variants.push_back(std::move(variant));
  };
  if (plan.quick) {
    add({}, {});
    return variants;
  }
  for (const auto& types : type_choices(built.images)) {
    for (const auto& border : border_choices(built, plan)) add(border, types);
    for (const DeclaredOption& option : built.options) {
      if (option.name == "border" || is_given(plan.params, option.name)) continue;
      for (const std::string& choice : option.choices) {
        if (choice != option.initial) add({option.name + "=" + choice}, types);
      }
    }
  }
  return variants;
}

// ---- checks -----------------------------------------------------------------------------------------------

/// Without --sizes: a pixel, lines, less than a window, and more, by number of dimensions.
std::vector<Size> default_sizes(int rank) {
  const char* sizes[] = {"1,2,7,64,1031", "1x1,1x7,7x1,3x3,64x48,131x67",
                         "1x1x1,1x7x2,7x1x3,3x3x3,33x17x9,20x16x12", "1x1x1x1,5x4x3x2,9x7x5x4"};
  return parse_sizes(sizes[std::clamp(rank, 1, 4) - 1]);
}

std::vector<Size> sizes_for(const Built& built, const Plan& plan) {
  const int rank = rank_of(built);
  if (rank == 0) return {Size{}};  // nothing has a size: there is one way to run it
  if (plan.sizes.empty()) return default_sizes(rank);
  std::vector<Size> sizes;
  for (const Size& size : plan.sizes) {
    if (const Size fit = fitted(size, rank); std::find(sizes.begin(), sizes.end(), fit) == sizes.end())
      sizes.push_back(fit);
  }
  return sizes;
}

Arguments random_arguments(const ir::Pipeline& pipeline, const Prepared& prepared, const Size& size,
                           double range, Random& random) {
  Arguments arguments;
  arguments.params = prepared.params;
  if (pipeline.inputs.empty()) return arguments;
  const ir::Sizes sizes = input_sizes(pipeline, size);
  for (const ir::StagePtr& input : pipeline.inputs) {
    const Size own{sizes.at(input->name)};
    arguments.images[input->name] = random_image(input->type, own, range, random);
  }
  return arguments;
}

/// A pipeline that is checked.
struct Subject {
  const Application& application;
  const Variant& variant;
  RunTarget target;
  Prepared prepared;
  Program program;
};

Subject compiled(const Application& application, const Variant& variant, RunTarget target,
                 Prepared prepared) {
  Program program = compile(prepared.built.pipeline, target);
  return {application, variant, target, std::move(prepared), std::move(program)};
}

void check(const Subject& subject, const Size& size, const Plan& plan, Random& random, Progress& progress,
           Totals& totals) {
  const ir::Pipeline& pipeline = subject.prepared.built.pipeline.ir();
  const std::string name =
      fmt::format("{} {} {}", subject.application.name, subject.variant.text(), size.text());
  progress.show(fmt::format("{} ({} passed)", name, totals.passed));
  const Arguments arguments =
      random_arguments(pipeline, subject.prepared, size, subject.application.about.range, random);
  bool equal = true;
  for (const Comparison& c : verify(pipeline, subject.program, arguments, plan.tolerance)) {
    totals.off_by_one += c.off_by_one;
    totals.worst = std::max(totals.worst, c.worst);
    equal = equal && c.equal;
    if (c.equal) continue;
    progress.clear();
    fmt::print(stderr, "FAILED {} on {}: {}\n", name, name_of(subject.target), c.text());
  }
  (equal ? totals.passed : totals.failed) += 1;
}

void check(const Application& application, const Variant& variant, RunTarget target, const Plan& plan,
           Random& random, Progress& progress, Totals& totals) {
  Prepared prepared = prepare(application, variant.params, variant.types);
  progress.show(fmt::format("{} {} compiling", application.name, variant.text()));
  const std::vector<Size> sizes = sizes_for(prepared.built, plan);
  if (prepared.built.images.empty()) {  // then the size is part of the pipeline
    for (const Size& size : sizes) {
      prepared = prepare(application, with_size(prepared.built, variant.params, size), variant.types);
      check(compiled(application, variant, target, prepared), size, plan, random, progress, totals);
    }
    return;
  }
  const Subject subject = compiled(application, variant, target, std::move(prepared));
  for (const Size& size : sizes) check(subject, size, plan, random, progress, totals);
}

Totals check_application(const Application& application, const Plan& plan, Progress& progress) {
  Totals totals;
  Random random(plan.seed);  // each application alone repeats what it saw among all
  for (const Variant& variant : variants_of(application, plan)) {
    for (RunTarget target : plan.targets) check(application, variant, target, plan, random, progress, totals);
  }
  return totals;
}

std::string summary(const Totals& totals) {
  std::string text = fmt::format("{} passed, {} failed", totals.passed, totals.failed);
  if (totals.worst > 0) text += fmt::format("; floats within {:.2g}", totals.worst);
  if (totals.off_by_one > 0) text += fmt::format("; {} pixels rounded the other way", totals.off_by_one);
  return text;
}

void verify_all(const Options& options, int& exit_code) {
  const Plan plan = plan_of(options);
  Progress progress;
  Totals all;
  nlohmann::ordered_json json = {{"seed", plan.seed}, {"applications", nlohmann::ordered_json::array()}};
  if (!plan.json) fmt::print("seed {}\n", plan.seed);
  for (const Application* application : select_applications(options.application)) {
    const Totals totals = check_application(*application, plan, progress);
    progress.clear();
    if (!plan.json) fmt::print("{:<18} {}\n", application->name, summary(totals));
    std::fflush(stdout);
    json["applications"].push_back({{"name", application->name},
                                    {"passed", totals.passed},
                                    {"failed", totals.failed},
                                    {"worst", totals.worst},
                                    {"off_by_one", totals.off_by_one}});
    all += totals;
  }
  json["passed"] = all.passed;
  json["failed"] = all.failed;
  fmt::print("{}\n", plan.json ? json.dump(2) : fmt::format("{} passed, {} failed", all.passed, all.failed));
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
                                 {"failed", totals.failures.size()},
                                 {"failures", nlohmann::ordered_json::array()}};
  for (const recipe::Failure& failure : totals.failures) {
    json["failures"].push_back(
        {{"seed", failure.seed}, {"message", failure.message}, {"reproducer", failure.reproducer}});
  }
  return json;
}

void verify_random(const Options& options, int& exit_code) {
  recipe::RandomPlan plan;
  plan.count = parse_count("the number of pipelines", options.random);
  plan.seed = seed_of(options);
  if (!options.sizes.empty()) plan.sizes = parse_sizes(options.sizes);
  if (!options.json) fmt::print("seed {}\n", plan.seed);
  std::fflush(stdout);
  Progress progress;
  FailurePrinter failures;
  const recipe::RandomTotals totals = recipe::verify_random(plan, [&](const recipe::RandomTotals& now) {
    if (!options.json) failures.print(now, progress);
    progress.show(
        fmt::format("{} of {} pipelines, {} failed", now.pipelines, plan.count, now.failures.size()));
  });
  progress.clear();
  if (options.json) {
    fmt::print("{}\n", json_of(plan, totals).dump(2));
  } else {
    fmt::print("{} pipelines, {} runs ({} refused on both sides), {} pixels, {} failed\n", totals.pipelines,
               totals.runs, totals.refused, totals.pixels, totals.failures.size());
  }
  if (!totals.failures.empty()) exit_code = 1;
}

void verify(const Options& options, int& exit_code) {
  if (options.application.empty() == options.random.empty()) {
    throw Error(options.random.empty() ? "verify needs an application, all, or --random N"
                                       : "verify takes an application or --random N, not both")
        .help("weft list names the applications");
  }
  options.random.empty() ? verify_all(options, exit_code) : verify_random(options, exit_code);
}

}  // namespace

void add_verify(CLI::App& weft, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = weft.add_subcommand("verify", "compares a target with the interpreter, on every pixel");
  command->add_option("APP", options->application, "the application, or all");
  command->add_option("--random", options->random,
                      "so many random pipelines instead, of seeds from --seed on");
  command->add_option("--sizes", options->sizes,
                      "WIDTHxHEIGHT, and more after commas; cut or extended for\n"
                      "applications of other dimensions");
  command
      ->add_option("--targets", options->targets,
                   "cpu, reference, cuda, simt (all its builds), or simt-race, say; several after commas")
      ->capture_default_str();
  command->add_option("--borders", options->borders, "all, or names separated by commas")
      ->capture_default_str();
  command->add_flag("--quick", options->quick,
                    "each application as it comes, without its other options and pixel types");
  add_repeatable(*command, "--param", options->params,
                 "NAME=VALUE: an option or a parameter of the application");
  command->add_option("--seed", options->seed, "repeats the random images, or pipelines, of another run");
  command->add_option("--tolerance", options->tolerance,
                      "floats may differ by this much (1e-4) times 1 + |value| + largest / 100");
  command->add_flag("--json", options->json, "one JSON object");
  command->footer(
      "Integers have to be equal; those that come from floats may differ by 1 in 0.1 % of the pixels.\n"
      "Random pipelines have bounds of their own: integers and strict pipelines are exact. One that fails is "
      "made\n"
      "small and printed as C++.\n"
      "The exit code is 1 if anything differs.\n"
      "Examples:\n  weft verify all\n  weft verify harris --sizes 640x427 --borders clamp,repeat --seed 7\n"
      "  weft verify --random 2000 --seed 1");
  command->callback([options, &exit_code] { verify(*options, exit_code); });
}

}  // namespace weft::tools
