// Times `heat2d` beside the same written by hand (steps_by_hand.h), in one process, taking turns:
//
//     steps                                          100 steps of 8192x8192 pixels
//     steps --size 4096x4096 --steps 20 --runs 3
//
// Every pixel is compared first. Prints milliseconds per step, medians and least times, and how many plain copies of
// the image that is: copies that store past the caches, which no step can do without if nothing stays in them.
#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "bench/steps_by_hand.h"
#include "runtime/thread_pool.h"
#include "tools/arguments.h"
#include "tools/bandwidth.h"
#include "tools/subject.h"
#include "tools/targets.h"

namespace weft {
namespace {

struct Options {
  tools::Size size{{8192, 8192}};
  int steps = 100;
  std::int64_t runs = 5;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw Error(name + " needs a value");
    if (name == "--size")
      options.size = tools::parse_size(argv[i + 1]);
    else if (name == "--steps")
      options.steps = static_cast<int>(tools::parse_count(name, argv[i + 1]));
    else if (name == "--runs")
      options.runs = tools::parse_count(name, argv[i + 1]);
    else
      throw Error("there is no option '" + name + "': --size, --steps and --runs are all");
  }
  if (options.size.extents.size() != 2 || options.size.extents[0] < 3 || options.size.extents[1] < 3)
    throw Error("heat2d by hand needs an image of at least 3x3 pixels");
  return options;
}

struct Way {
  std::string name;
  std::function<void()> run;
  int steps = 1;  ///< That a run takes.
  std::vector<double> milliseconds{};

  double median() const { return tools::median(milliseconds); }
  double least() const { return *std::min_element(milliseconds.begin(), milliseconds.end()); }
};

/// Two grids, both with the pixels of the image.
class Grids {
 public:
  explicit Grids(const Buffer& image)
      : grids_{Buffer::allocate(image.type(), image.extents()),
               Buffer::allocate(image.type(), image.extents())},
        image_(image) {
    start();
  }
  void start() {
    for (Buffer& grid : grids_) grid.copy_from(image_);
  }
  by_hand::TwoGrids get() {
    return {{static_cast<float*>(grids_[0].data()), static_cast<float*>(grids_[1].data())},
            image_.extents()[0],
            image_.extents()[1]};
  }
  const Buffer& after(int steps) const { return grids_[steps % 2]; }

 private:
  Buffer grids_[2];
  Buffer image_;
};

void compare(const Buffer& expected, const Buffer& got, const std::string& what) {
  const auto *a = static_cast<const float*>(expected.data()), *b = static_cast<const float*>(got.data());
  float largest = 0;
  for (std::int64_t i = 0; i < expected.pixels(); ++i) largest = std::max(largest, std::abs(a[i]));
  for (std::int64_t i = 0; i < expected.pixels(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= 1e-5f * largest))
      throw Error(fmt::format("pixel {} is {} {} and {} by Weft", i, b[i], what, a[i]));
  }
}

void run(const Options& options) {
  const std::string steps_of_run = "steps=" + std::to_string(options.steps);
  auto [built, size, arguments] =
      tools::subject_of(tools::find_application("heat2d"), options.size, {steps_of_run}, {});
  compile::Scheduling a_step_at_a_time;
  a_step_at_a_time.tile = Tile::None;
  const Program program = tools::compile(built, tools::RunTarget::Cpu);
  const Program sweeps = tools::compile(built, tools::RunTarget::Cpu, 0, a_step_at_a_time);
  arguments.outputs = program.run(arguments);
  const Buffer result = arguments.outputs.begin()->second;

  runtime::ThreadPool pool;
  const int threads = pool.threads();
  Grids grids(arguments.images.begin()->second);
  const auto plain = [&] { by_hand::heat2d(grids.get(), options.steps, threads); };
  const auto tiles = [&] { by_hand::heat2d_in_tiles(grids.get(), options.steps, threads, 16, 256); };
  plain();
  compare(result, grids.after(options.steps), "by plain loops");
  grids.start();
  tiles();
  compare(result, grids.after(options.steps), "by tiles by hand");

  tools::PlainCopy copy(result.bytes(), result.bytes(), pool, tools::PlainCopy::Stores::PastCaches);
  std::vector<Way> ways = {{"copy", std::ref(copy)},
                           {"weft", [&] { program.run(arguments); }, options.steps},
                           {"weft, a step at a time", [&] { sweeps.run(arguments); }, options.steps},
                           {"tiles by hand", tiles, options.steps},
                           {"plain loops by hand", plain, options.steps}};
  for (std::int64_t turn = 0; turn < options.runs; ++turn) {
    for (Way& way : ways) {
      const auto start = std::chrono::steady_clock::now();
      way.run();
      const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
      way.milliseconds.push_back(spent.count() / way.steps);
    }
  }
  fmt::print("heat2d, {}x{}, {} steps, {} threads, {} runs: milliseconds per step\n\n", size.extents[0],
             size.extents[1], options.steps, threads, options.runs);
  fmt::print("{:<24} {:>8} {:>8} {:>8}\n", "", "median", "least", "copies");
  for (const Way& way : ways)
    fmt::print("{:<24} {:>8.2f} {:>8.2f} {:>8.3f}\n", way.name, way.median(), way.least(),
               way.median() / ways[0].median());
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  try {
    weft::run(weft::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "steps: {}\n", error.what());
    return 2;
  }
}
