// weft bench: how long applications take, beside a plain copy of the same bytes in the same run, and beside
// the time in which memory can move what their kernels read and write: the roof.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "compile/scheduling.h"
#include "ir/stage_ir.h"
#include "machine/architecture.h"
#include "runtime/thread_pool.h"
#include "tools/arguments.h"
#include "tools/arithmetic.h"
#include "tools/bandwidth.h"
#include "tools/commands.h"
#include "tools/json_text.h"
#include "tools/kernel_counts.h"
#include "tools/sass_counts.h"
#include "tools/schedule_flags.h"
#include "tools/subject.h"
#include "tools/targets.h"
#include "tools/terminal.h"
#include "tools/traffic.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

struct BenchOptions {
  std::string application, size, runs = "20", seconds = "0", pause = "0", target = "cpu",
                                 architecture = "sm_90", threads;
  ScheduleFlags schedule;
  std::vector<std::string> params, types;
  bool json = false, quiet = false;
};

template <class Work>
double seconds_of(Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Result {
  std::string application, target, in, out;
  Size size;
  std::size_t runs = 0;
  double median = 0, least = 0, copy = 0, reading = 0;  ///< Seconds; reading is 0 without inputs.
  std::int64_t read = 0, written = 0;                   ///< Bytes of inputs and outputs.
  std::int64_t traffic = 0;                             ///< Bytes that the kernels cannot avoid.

  std::int64_t bytes() const { return read + written; }
  double ratio() const { return median / copy; }
  /// Seconds that memory takes for the traffic, at the speed of the copy.
  double roof() const { return static_cast<double>(traffic) * copy / static_cast<double>(bytes()); }
  /// Bytes per second; 0 without inputs.
  double read_bandwidth() const { return reading > 0 ? static_cast<double>(read) / reading : 0; }
  /// The share of the read bandwidth that is reached where next to nothing is written.
  std::optional<double> read_share() const {
    if (reading == 0 || written > read / 16) return {};
    return reading / median;
  }
};

std::string types_text(const std::vector<ir::StagePtr>& stages) {
  std::vector<std::string> names;
  for (const auto& stage : stages) names.push_back(weft::name_of(stage->type));
  return joined(names, "+");
}

/// The memory of images without gaps.
std::vector<Bytes> bytes_of(const std::map<std::string, Buffer>& images) {
  std::vector<Bytes> memory;
  for (const auto& entry : images) {
    const Buffer& image = entry.second;
    memory.emplace_back(static_cast<const unsigned char*>(image.data()), image.bytes());
  }
  return memory;
}

/// What the command line asks for, understood.
struct Plan {
  std::optional<Size> size;  ///< Else the application's own, or that of bench_size.
  std::int64_t runs;         ///< The least number of runs, and below the least time that they take.
  double seconds;
  double pause;  ///< Milliseconds before each run.
  RunTarget target;
  compile::Scheduling scheduling;
  int threads;
  std::vector<std::string> params;
  std::map<std::string, Type> types;
};

/// Fills in the times of the result.
template <class Run>
void time(Run run, const Arguments& arguments, const Plan& plan, runtime::ThreadPool& pool,
          Progress& progress, Result& result) {
  PlainCopy copy(result.read, result.written, pool);
  PlainRead read(bytes_of(arguments.images), pool);
  run(), copy(), read();  // warms up
  std::vector<double> own, copies, reads;
  double spent = 0;
  while (static_cast<std::int64_t>(own.size()) < plan.runs || spent < plan.seconds) {
    progress.show(fmt::format("{}: run {} of {}", result.application, own.size() + 1, plan.runs));
    if (plan.pause > 0) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(plan.pause));
    own.push_back(seconds_of(run));  // taking turns, so that drift meets all
    copies.push_back(seconds_of(copy));
    reads.push_back(seconds_of(read));
    spent += own.back();
  }
  result.runs = own.size();
  result.median = median(own);
  result.least = *std::min_element(own.begin(), own.end());
  result.copy = median(copies);
  if (result.read > 0) result.reading = median(reads);
}

Result measure(const Application& application, const Plan& plan, runtime::ThreadPool& pool,
               Progress& progress) {
  auto [built, size, arguments] = subject_of(application, plan.size, plan.params, plan.types);
  std::optional<Activity> activity(std::in_place, progress, application.name + ": compiling");
  const Program program = compile(built, plan.target, plan.threads, plan.scheduling);
  activity.emplace(progress, application.name + ": warming up");
  arguments.outputs = program.run(arguments);  // later runs write into the same memory
  activity.reset();

  const ir::Pipeline& pipeline = built.ir();
  Result result{application.name, name_of(plan.target, program), types_text(pipeline.inputs),
                types_text(pipeline.outputs), size};
  for (const auto& entry : arguments.images) result.read += entry.second.bytes();
  for (const auto& entry : arguments.outputs) result.written += entry.second.bytes();
  result.traffic =
      traffic_of(pipeline, ir::bound(arguments.images, arguments.params), plan.scheduling).total();
  time([&] { program.run(arguments); }, arguments, plan, pool, progress, result);
  return result;
}

// ---- on the checker --------------------------------------------------------------------------------------

/// What is counted there does not depend on the machine, so nothing is timed.
struct Counted {
  std::string application;
  Size size;
  std::vector<KernelMeasure> kernels;
};

Counted count(const Application& application, const Plan& plan, Progress& progress) {
  const Subject subject = subject_of(application, plan.size, plan.params, plan.types);
  progress.show(application.name + ": counting");
  return {application.name, subject.size,
          count_kernels(subject.pipeline, subject.arguments, plan.scheduling)};
}

void print(const std::vector<Counted>& results) {
  std::vector<std::string> header = columns();
  header.insert(header.begin(), {"application", "size"});
  Table table(header);
  for (const Counted& r : results) {
    for (std::vector<std::string>& row : to_rows(r.kernels, r.size.pixels())) {
      row.insert(row.begin(), {r.application, r.size.text()});
      table.add(std::move(row));
    }
  }
  fmt::print("sectors of 32 bytes, counted by the SIMT checker\n\n{}", table.text());
}

void print_json(const std::vector<Counted>& results) {
  Json json = {{"target", "simt"}, {"sector_bytes", 32}, {"results", Json::array()}};
  for (const Counted& r : results) {
    json["results"].push_back({{"application", r.application},
                               {"size", r.size.extents},
                               {"kernels", to_json(r.kernels, r.size.pixels())}});
  }
  fmt::print("{}\n", json_text(json));
}

// ---- in compiled code --------------------------------------------------------------------------------------

struct Instructions {
  std::string application;
  std::vector<SassCount> kernels;
};

/// All the rows of all applications, each with its application's name first.
std::string table_of(const std::vector<Instructions>& results, std::vector<std::string> header,
                     std::vector<std::vector<std::string>> (*rows)(const std::vector<SassCount>&)) {
  header.insert(header.begin(), "application");
  Table table(header);
  for (const Instructions& each : results) {
    for (std::vector<std::string>& row : rows(each.kernels)) {
      row.insert(row.begin(), each.application);
      table.add(std::move(row));
    }
  }
  return table.text();
}

void bench_sass(const std::vector<const Application*>& applications, const BenchOptions& options) {
  const machine::Architecture& architecture = machine::closest_architecture(options.architecture);
  const compile::Scheduling scheduling = parse(options.schedule);
  const compile::DeviceCompiler compiler;
  std::vector<Instructions> results;
  Progress progress(options.quiet);
  for (const Application* application : applications) {
    const Activity activity(progress, application->name + ": compiling");
    const Pipeline pipeline =
        prepare(*application, options.params, parse_types(options.types)).built.pipeline;
    const target::Target target(target::Processor::Gpu, architecture);
    const kernel::Module module = compile::lowered(pipeline.ir(), target, scheduling);
    results.push_back(
        {application->name, sass_counts(module, compiled_kernels(module, architecture, compiler))});
  }
  if (options.json) {
    Json json = {{"target", "sass"},
                 {"architecture", architecture.name()},
                 {"compiler", "NVRTC " + compiler.nvrtc().version()},
                 {"results", Json::array()}};
    for (const Instructions& each : results)
      json["results"].push_back({{"application", each.application}, {"kernels", to_json(each.kernels)}});
    fmt::print("{}\n", json_text(json));
    return;
  }
  fmt::print("instructions for {} by NVRTC {}, per pixel of each kernel's result, inside an image\n\n{}\n{}",
             architecture.name(), compiler.nvrtc().version(), table_of(results, sass_columns(), to_rows),
             table_of(results, sass_loop_columns(), to_loop_rows));
}

// ---- reports ----------------------------------------------------------------------------------------------

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

void print(const std::vector<Result>& results, const Plan& plan, int threads) {
  fmt::print("{}, {} threads, medians of {} runs, target {}\n\n", cpu_model(), threads, plan.runs,
             results.front().target);
  Table table({"application", "pixels", "size", "ms", "MB moved", "GB/s", "copy GB/s", "time / copy",
               "roof MB", "roof ms", "time / roof", "read GB/s", "of reading"});
  for (const Result& r : results) {
    const auto bytes = static_cast<double>(r.bytes());
    table.add({r.application, r.in + " -> " + r.out, r.size.text(), fmt::format("{:.3f}", r.median * 1e3),
               fmt::format("{:.1f}", bytes * 1e-6), fmt::format("{:.2f}", bytes / r.median * 1e-9),
               fmt::format("{:.2f}", bytes / r.copy * 1e-9), fmt::format("{:.2f}", r.ratio()),
               fmt::format("{:.1f}", static_cast<double>(r.traffic) * 1e-6),
               fmt::format("{:.3f}", r.roof() * 1e3), fmt::format("{:.2f}", r.median / r.roof()),
               fmt::format("{:.2f}", r.read_bandwidth() * 1e-9),
               r.read_share() ? fmt::format("{:.0f} %", *r.read_share() * 100) : "-"});
  }
  fmt::print("{}", table.text());
}

void print_json(const std::vector<Result>& results, const Plan& plan, const ArithmeticSpeed& speed,
                int threads) {
  const Size size = fitted(plan.size.value_or(default_size(2)), 2);  // of pictures; results have their own
  Json json = {{"date", date()},
               {"cpu", cpu_model()},
               {"threads", threads},
               {"target", results.front().target},
               {"width", size.extents[0]},
               {"height", size.extents[1]},
               {"runs", plan.runs},
               {"pause_ms", plan.pause},
               {"additions_g_per_s", speed.additions * 1e-9},
               {"divisions_g_per_s", speed.divisions * 1e-9},
               {"results", Json::array()}};
  for (const Result& r : results) {
    const auto bytes = static_cast<double>(r.bytes());
    json["results"].push_back({{"application", r.application},
                               {"inputs", r.in},
                               {"outputs", r.out},
                               {"size", r.size.extents},
                               {"median_ms", r.median * 1e3},
                               {"min_ms", r.least * 1e3},
                               {"bytes_read", r.read},
                               {"bytes_written", r.written},
                               {"gb_per_s", bytes / r.median * 1e-9},
                               {"copy_ms", r.copy * 1e3},
                               {"copy_gb_per_s", bytes / r.copy * 1e-9},
                               {"ratio_to_copy", r.ratio()},
                               {"runs", r.runs},
                               {"roof_bytes", r.traffic},
                               {"roof_ms", r.roof() * 1e3},
                               {"ratio_to_roof", r.median / r.roof()},
                               {"read_gb_per_s", r.read_bandwidth() * 1e-9},
                               {"share_of_reading", r.read_share() ? Json(*r.read_share()) : Json(nullptr)}});
  }
  fmt::print("{}\n", json_text(json));
}

/// What `work` gives for each of the applications.
template <class Work>
auto for_each(const std::vector<const Application*>& applications, bool quiet, Work work) {
  Progress progress(quiet);
  std::vector<decltype(work(*applications[0], progress))> results;
  for (const Application* application : applications) results.push_back(work(*application, progress));
  return results;
}

void bench(const BenchOptions& options) {
  if (options.target == "sass") return bench_sass(select_applications(options.application), options);
  const int threads = parse_threads(options.threads);
  std::optional<Size> size;
  if (!options.size.empty()) size = parse_size(options.size);
  const Plan plan{size,
                  parse_count("--runs", options.runs),
                  parse_number("--seconds", options.seconds),
                  parse_number("--pause", options.pause),
                  parse_target(options.target),
                  parse(options.schedule),
                  threads,
                  options.params,
                  parse_types(options.types)};
  const auto selected = select_applications(options.application);
  if (is_simt(plan.target)) {
    const std::vector<Counted> results =
        for_each(selected, options.quiet, [&](const Application& application, Progress& progress) {
          return count(application, plan, progress);
        });
    return options.json ? print_json(results) : print(results);
  }
  runtime::ThreadPool pool(plan.threads);
  const std::vector<Result> results =
      for_each(selected, options.quiet, [&](const Application& application, Progress& progress) {
        return measure(application, plan, pool, progress);
      });
  if (options.json)
    print_json(results, plan, arithmetic_speed(pool), pool.threads());
  else
    print(results, plan, pool.threads());
}

}  // namespace

void add_bench(Parser& weft) {
  auto options = std::make_shared<BenchOptions>();
  Command command = weft.add_command("bench", "times an application beside a plain copy of the same bytes");
  command.add_option("APP", options->application, "the application, or all").required();
  command.add_option("--size", options->size,
                     "WIDTHxHEIGHT of the images, cut or extended for other\n"
                     "dimensions; unless said, that of the application's source\n"
                     "(`weft list --json`), else 2048x2048, 4194304 or 256x256x64");
  command.add_option("--runs", options->runs, "how often each is timed; the median counts")
      .capture_default_str();
  command.add_option("--seconds", options->seconds, "more runs, until they took so long")
      .capture_default_str();
  command
      .add_option("--pause", options->pause,
                  "milliseconds before each run: threads and caches go to sleep,\n"
                  "as between the pictures of a camera")
      .capture_default_str();
  command
      .add_option("--target", options->target,
                  "cpu; reference; cuda, with the copies to the GPU and back;\n"
                  "auto; or simt, which times nothing, but counts what each\n"
                  "kernel of the CUDA does to memory; or sass, which counts\n"
                  "the instructions of compiled kernels, without a GPU")
      .capture_default_str();
  command
      .add_option("--arch", options->architecture, "for --target sass: the GPU that kernels are compiled for")
      .capture_default_str();
  add_schedule_flags(command, options->schedule);
  command.add_option("--threads", options->threads, "all cores unless said");
  command.add_repeatable("--param", options->params,
                         "NAME=VALUE: an option or a parameter of the application");
  add_types(command, options->types);
  command.add_flag("--json", options->json, "one JSON object");
  add_quiet(command, options->quiet);
  command.footer(
      "MB moved: every input read once, every output written once. The copy does just that, on the same "
      "threads,\n"
      "taking turns with the application.\n"
      "Roof: the time in which memory could move what the kernels read and write, at the speed of that copy. "
      "Each\n"
      "array counts once if a kernel reads it and once if one writes it, so a stored stage counts twice; the "
      "arrays\n"
      "of an iterated stencil count at every step. An application far above its roof is busy computing.\n"
      "Read: all threads sum up the inputs, in vectors. Where next to nothing is written, the last column "
      "says\n"
      "which share of that speed the application reaches.\n"
      "sass: per pixel, the instructions of each loop times how often a tile away from the borders goes "
      "through "
      "it;\n"
      "where a loop forks, the way that stores most, then loads most, then the shortest. 'x4' moves 4 "
      "bytes.\n"
      "'~': how far the compiler unrolled a loop that stores nothing is estimated.\n"
      "Examples:\n  weft bench sobel --size 1920x1080 --runs 50\n"
      "  weft bench gaussian --param size=5 --type in=f32\n"
      "  weft bench harris --target simt --size 512x512\n"
      "  weft bench harris --target sass --arch sm_80");
  command.callback([options] { bench(*options); });
}

}  // namespace weft::tools
