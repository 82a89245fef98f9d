// Times schedules of one application in turns: those of every way to fuse, and others drawn from all that are
// legal: groups with the plans that Weft gives them, and whole plans. JSON on stdout, with what the model expects of each.
//
//     schedules harris --rounds 20 --draw 8
#include <fmt/format.h>
#include <weft/error.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "fuzz/groups.h"
#include "runtime/thread_pool.h"
#include "tools/arguments.h"
#include "tools/schedule_times.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string application;
  std::optional<tools::Size> size;
  std::vector<std::string> params;
  std::int64_t rounds = 20, draw = 8, seed = 1;
  int threads = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  if (argc < 2) throw Error("schedules needs an application; what it does stands in bench/schedules.cpp");
  options.application = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw Error(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--size") {
      options.size = tools::parse_size(value);
    } else if (name == "--param") {
      options.params.push_back(value);
    } else if (name == "--rounds") {
      options.rounds = tools::parse_count(name, value);
    } else if (name == "--draw") {
      options.draw = tools::parse_count(name, value, 0);
    } else if (name == "--seed") {
      options.seed = tools::parse_count(name, value, 0);
    } else if (name == "--threads") {
      options.threads = static_cast<int>(tools::parse_count(name, value));
    } else {
      throw Error("there is no option '" + name + "'");
    }
  }
  return options;
}

/// Adds `options.draw` schedules of other groups, whose plans Weft chooses, and `options.draw` of other plans, which differ in
/// width, height or rows of a pass, for example. Fewer if chance finds no more.
void draw(tools::Contenders& contenders, const Options& options) {
  constexpr std::int64_t tries = 16;  // for each; most pipelines have more legal groups, some have not
  const ir::Pipeline& prepared = contenders.prepared();
  std::int64_t groups = 0, plans = 0;
  const auto is_done = [&] { return groups == options.draw && plans == options.draw; };
  for (std::int64_t t = 0; t < tries * options.draw && !is_done(); ++t) {
    const auto grouping = fuzz::random_groups(prepared, static_cast<std::uint64_t>(options.seed + t));
    if (groups < options.draw)
      groups += contenders.add(fmt::format("random {}", groups + 1), {grouping.groups, {}}) ? 1 : 0;
    if (plans < options.draw)
      plans +=
          contenders.add(fmt::format("plan {}", plans + 1), fuzz::legal_groups(prepared, grouping)) ? 1 : 0;
  }
}

Json to_json(const plan::KernelCost& kernel) {
  const plan::CoreWork& work = kernel.work;
  return {{"result", kernel.result},       {"expected_ms", kernel.cost.total * 1e3},
          {"bytes_read", work.read},       {"bytes_written", work.written},
          {"operations", work.operations}, {"divisions", work.divisions},
          {"accesses", work.accesses},     {"rows", work.rows}};
}

Json schedules(const Options& options) {
  const tools::Subject subject =
      tools::subject_of(tools::find_application(options.application), options.size, options.params, {});
  tools::Contenders contenders(subject);
  contenders.add("none", Fuse::None);
  contenders.add("basic", Fuse::Basic);
  contenders.add("mincut", Fuse::MinCut);
  contenders.add("dp", Fuse::Dp);
  contenders.add("largest", Fuse::Auto, Tile::March);
  draw(contenders, options);
  tools::Progress progress;
  contenders.compile(options.threads, progress);
  contenders.time(options.rounds, progress);
  progress.clear();

  Json json = {{"application", options.application},
               {"size", subject.size.extents},
               {"threads", runtime::ThreadPool(options.threads).threads()},
               {"rounds", options.rounds},
               {"schedules", Json::array()}};
  for (const tools::Contender& c : contenders.all()) {
    Json kernels = Json::array();
    for (const plan::KernelCost& kernel : c.kernels) kernels.push_back(to_json(kernel));
    json["schedules"].push_back({{"names", c.names},
                                 {"expected_ms", c.expected() * 1e3},
                                 {"median_ms", c.measured() * 1e3},
                                 {"busy_ms", tools::median(c.busy) * 1e3},
                                 {"min_ms", *std::min_element(c.seconds.begin(), c.seconds.end()) * 1e3},
                                 {"groups", c.grouping.groups},
                                 {"kernels", kernels}});
  }
  return json;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  try {
    fmt::print("{}\n", weft::schedules(weft::parse(argc, argv)).dump(2));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "schedules: {}\n", error.what());
    return 2;
  }
}
