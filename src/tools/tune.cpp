// weft tune: measures the schedules that the model expects to be fastest, and keeps the one that is.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "runtime/thread_pool.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/schedule_times.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

struct TuneOptions {
  std::string application, size, runs = "20", best = "4", threads, output;
  std::vector<std::string> params, types;
  bool quiet = false;
};

void print(const Contenders& contenders) {
  const Contender& fastest = contenders.fastest();
  std::vector<const Contender*> by_time;
  for (const Contender& c : contenders.all()) by_time.push_back(&c);
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const Contender* a, const Contender* b) { return a->measured() < b->measured(); });
  Table table({"schedule", "kernels", "expected ms", "measured ms", "to the best"});
  for (const Contender* c : by_time) {
    table.add({joined(c->names), std::to_string(c->kernels.size()),
               fmt::format("{:.3f}", c->expected() * 1e3), fmt::format("{:.3f}", c->measured() * 1e3),
               fmt::format("{:.2f}", c->measured() / fastest.measured())});
  }
  fmt::print("{}", table.text());
}

void tune(const TuneOptions& options) {
  const Application& application = find_application(options.application);
  const int threads = parse_threads(options.threads);
  const std::int64_t runs = parse_count("--runs", options.runs);
  const auto best = static_cast<int>(std::min<std::int64_t>(parse_count("--best", options.best), 1000));
  std::optional<Size> size;
  if (!options.size.empty()) size = parse_size(options.size);
  const std::string file = options.output.empty() ? application.name + ".schedule.json" : options.output;
  check_writable(file);

  Progress progress(options.quiet);
  std::optional<Activity> drawing(std::in_place, progress, "drawing the input");
  const Subject subject = subject_of(application, size, options.params, parse_types(options.types));
  drawing.reset();
  Contenders contenders(subject);
  {
    const Activity searching(progress, "searching for schedules of " + application.name);
    contenders.add("auto", Fuse::Auto);
    contenders.add("largest groups", Fuse::Auto, Tile::March);
    contenders.add("none", Fuse::None);
    contenders.add_cheapest(best);
  }
  contenders.compile(threads, progress);
  contenders.time(runs, progress);
  contenders.add_in_strips();
  contenders.compile(threads, progress);
  contenders.time(runs, progress);
  progress.clear();

  write_text(file, schedule::to_json(contenders.fastest().grouping) + "\n");
  fmt::print("{}, {}, {} threads, medians of {} runs\n\n", application.name, subject.size.text(),
             runtime::ThreadPool(threads).threads(), runs);
  print(contenders);
  fmt::print("\n{}: the schedule '{}'; --schedule {} takes it\n", file, joined(contenders.fastest().names),
             file);
}

}  // namespace

void add_tune(Parser& weft) {
  auto options = std::make_shared<TuneOptions>();
  Command command =
      weft.add_command("tune", "finds the fastest schedule for an application on this machine's CPU");
  command.add_option("APP", options->application, "the application").required();
  command.add_option("-o,--output", options->output,
                     "the file for the fastest schedule; APP.schedule.json unless said");
  command.add_option(
      "--size", options->size,
      "WIDTHxHEIGHT of the images; unless said, that of the application's\nsource, as of bench");
  command
      .add_option("--best", options->best,
                  "the number of schedules that are measured: those that should take\nleast time, besides "
                  "those of --tile block and --fuse none")
      .capture_default_str();
  command.add_option("--runs", options->runs, "how often each is timed; the median counts")
      .capture_default_str();
  command.add_option("--threads", options->threads, "all cores unless said");
  command.add_repeatable("--param", options->params,
                         "NAME=VALUE: an option or a parameter of the application");
  add_types(command, options->types);
  add_quiet(command, options->quiet);
  command.footer(
      "All schedules are compared on every pixel, and take turns; then the fastest runs in strips of other\n"
      "widths. The file has the groups of stages that are one kernel each, and the strips; run, bench, emit "
      "and others take it as --schedule FILE.\n"
      "Examples:\n  weft tune harris\n"
      "  weft tune unsharp_mask --size 1920x1080 -o sharp.json && weft bench unsharp_mask --schedule "
      "sharp.json");
  command.callback([options] { tune(*options); });
}

}  // namespace weft::tools
