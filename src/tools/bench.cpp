// weft bench: how long applications take, beside a plain copy of the same bytes in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "ir/stage_ir.h"
#include "runtime/thread_pool.h"
#include "tools/commands.h"
#include "tools/scene.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string application, size = "2048x2048", runs = "20", target = "cpu", threads;
  std::vector<std::string> params;
  bool json = false;
};

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Reads as many bytes as the inputs have and writes as many as the outputs have, on all threads: what no
/// implementation can do without. Where one side has more bytes, the rest is only read, or only written.
class PlainCopy {
 public:
  PlainCopy(std::int64_t read, std::int64_t written, runtime::ThreadPool& pool)
      : from_(read, 1), to_(written, 2), pool_(pool) {}

  void operator()() {
    const std::int64_t parts = pool_.threads();
    pool_.parallel_for(0, parts, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t part = first; part < last; ++part) copy_part(part, parts);
    });
  }

 private:
  void copy_part(std::int64_t part, std::int64_t parts) {
    const auto share = [&](std::size_t bytes, std::int64_t p) { return bytes * p / parts; };
    const std::size_t both = std::min(from_.size(), to_.size());
    const std::size_t begin = share(both, part), end = share(both, part + 1);
    std::memcpy(to_.data() + begin, from_.data() + begin, end - begin);
    const std::size_t more_to = to_.size() - both, more_from = from_.size() - both;
    std::memset(to_.data() + both + share(more_to, part), 3, share(more_to, part + 1) - share(more_to, part));
    unsigned char seen = 0;
    for (std::size_t i = both + share(more_from, part); i < both + share(more_from, part + 1); ++i)
      seen ^= from_[i];
    unread_[part % 64] = seen;  // so that the reading is not optimised away
  }

  std::vector<unsigned char> from_, to_;
  volatile unsigned char unread_[64] = {};
  runtime::ThreadPool& pool_;
};

struct Result {
  std::string application, in, out;
  double median = 0, least = 0, copy = 0;  ///< Seconds.
  std::int64_t read = 0, written = 0;      ///< Bytes.

  std::int64_t bytes() const { return read + written; }
  double ratio() const { return median / copy; }
};

std::string types_text(const std::vector<ir::StagePtr>& stages) {
  std::vector<std::string> names;
  for (const auto& stage : stages) names.push_back(weft::name_of(stage->type));
  return joined(names, "+");
}

Arguments arguments_of(const ir::Pipeline& pipeline, const Prepared& prepared, const PictureSize& size,
                       double range) {
  Arguments arguments;
  arguments.params = prepared.params;
  Random random(1);
  for (const ir::StagePtr& input : pipeline.inputs) {
    if (input->rank() != 2)
      throw Error(fmt::format("'{}' has {} dimensions; only 2 can be timed", input->name, input->rank()));
    check_memory(size, size_of(input->type), static_cast<std::int64_t>(4 * pipeline.inputs.size()));
    arguments.images[input->name] = random_image(input->type, size, range, random);
  }
  return arguments;
}

/// What the command line asks for, understood.
struct Plan {
  PictureSize size;
  std::int64_t runs;
  Target target;
  int threads;
  std::vector<std::string> params;
};

Result measure(const Application& application, const Plan& plan, runtime::ThreadPool& pool,
               Progress& progress) {
  const Prepared prepared = prepare(application, plan.params);
  const ir::Pipeline& pipeline = prepared.built.pipeline.ir();
  Arguments arguments = arguments_of(pipeline, prepared, plan.size, application.about.range);
  progress.show(application.name + ": compiling");
  const Program program = prepared.built.pipeline.compile({plan.target, plan.threads, {}});
  progress.show(application.name + ": warming up");
  arguments.outputs = program.run(arguments);  // later runs write into the same memory

  Result result{application.name, types_text(pipeline.inputs), types_text(pipeline.outputs)};
  for (const auto& entry : arguments.images) result.read += entry.second.bytes();
  for (const auto& entry : arguments.outputs) result.written += entry.second.bytes();
  PlainCopy copy(result.read, result.written, pool);
  std::vector<double> own, copies;
  for (std::int64_t i = -1; i < plan.runs; ++i) {  // taking turns, so that drift meets both; -1 warms up
    progress.show(
        fmt::format("{}: run {} of {}", application.name, std::max<std::int64_t>(i + 1, 1), plan.runs));
    const double own_seconds = seconds_of([&] { program.run(arguments); }), copy_seconds = seconds_of(copy);
    if (i < 0) continue;
    own.push_back(own_seconds);
    copies.push_back(copy_seconds);
  }
  result.median = median(own);
  result.least = *std::min_element(own.begin(), own.end());
  result.copy = median(copies);
  return result;
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
  fmt::print("{}, {} threads, {}, medians of {} runs, target {}\n\n", cpu_model(), threads, plan.size.text(),
             plan.runs, name_of(plan.target));
  Table table({"application", "pixels", "ms", "MB moved", "GB/s", "copy GB/s", "time / copy"});
  for (const Result& r : results) {
    const auto bytes = static_cast<double>(r.bytes());
    table.add({r.application, r.in + " -> " + r.out, fmt::format("{:.3f}", r.median * 1e3),
               fmt::format("{:.1f}", bytes * 1e-6), fmt::format("{:.2f}", bytes / r.median * 1e-9),
               fmt::format("{:.2f}", bytes / r.copy * 1e-9), fmt::format("{:.2f}", r.ratio())});
  }
  fmt::print("{}", table.text());
}

void print_json(const std::vector<Result>& results, const Plan& plan, int threads) {
  Json json = {{"date", date()},           {"cpu", cpu_model()},
               {"threads", threads},       {"target", name_of(plan.target)},
               {"width", plan.size.width}, {"height", plan.size.height},
               {"runs", plan.runs},        {"results", Json::array()}};
  for (const Result& r : results) {
    const auto bytes = static_cast<double>(r.bytes());
    json["results"].push_back({{"application", r.application},
                               {"inputs", r.in},
                               {"outputs", r.out},
                               {"median_ms", r.median * 1e3},
                               {"min_ms", r.least * 1e3},
                               {"bytes_read", r.read},
                               {"bytes_written", r.written},
                               {"gb_per_s", bytes / r.median * 1e-9},
                               {"copy_ms", r.copy * 1e3},
                               {"copy_gb_per_s", bytes / r.copy * 1e-9},
                               {"ratio_to_copy", r.ratio()}});
  }
  fmt::print("{}\n", json.dump(2));
}

void bench(const Options& options) {
  const Plan plan{parse_size(options.size), parse_count("--runs", options.runs), parse_target(options.target),
                  options.threads.empty() ? 0 : static_cast<int>(parse_count("--threads", options.threads)),
                  options.params};
  const auto selected = select_applications(options.application);
  runtime::ThreadPool pool(plan.threads);
  std::vector<Result> results;
  {
    Progress progress;
    for (const Application* application : selected)
      results.push_back(measure(*application, plan, pool, progress));
  }
  (options.json ? print_json : print)(results, plan, pool.threads());
}

}  // namespace

void add_bench(CLI::App& weft) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      weft.add_subcommand("bench", "times an application beside a plain copy of the same bytes");
  command->add_option("APP", options->application, "the application, or all")->required();
  command->add_option("--size", options->size, "WIDTHxHEIGHT of the images")->capture_default_str();
  command->add_option("--runs", options->runs, "how often each is timed; the median counts")
      ->capture_default_str();
  command->add_option("--target", options->target, "cpu or reference")->capture_default_str();
  command->add_option("--threads", options->threads, "all cores unless said");
  add_repeatable(*command, "--param", options->params,
                 "NAME=VALUE: an option or a parameter of the application");
  command->add_flag("--json", options->json, "one JSON object");
  command->footer(
      "MB moved: every input read once, every output written once. The copy does just that, on the same "
      "threads,\n"
      "taking turns with the application.\n"
      "Example:\n  weft bench sobel --size 1920x1080 --runs 50");
  command->callback([options] { bench(*options); });
}

}  // namespace weft::tools
