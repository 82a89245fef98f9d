// Times the mean and the maximum of boxes of many radii, in turns. JSON on stdout.
//
//     windows --radii 3,30 --rounds 20 --size 1024x1024
#include <fmt/format.h>
#include <weft/error.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "runtime/thread_pool.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/subject.h"
#include "tools/terminal.h"
#include "tools/workers.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::int64_t> radii;
  tools::Size size{{1024, 1024}};
  std::int64_t rounds = 20;
  int threads = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int radius = 1; radius <= 100; ++radius) options.radii.push_back(radius);
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw Error(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--radii") {
      options.radii.clear();
      for (const std::string& radius : tools::split(value, ','))
        options.radii.push_back(tools::parse_count(name, radius));
    } else if (name == "--size") {
      options.size = tools::parse_size(value);
    } else if (name == "--rounds") {
      options.rounds = tools::parse_count(name, value);
    } else if (name == "--threads") {
      options.threads = static_cast<int>(tools::parse_count(name, value));
    } else {
      throw Error("there is no option '" + name + "'");
    }
  }
  return options;
}

struct Subject {
  std::string operation, pixels;
  std::int64_t radius;
  std::optional<Program> program;
  Arguments arguments;
  std::vector<double> seconds;
};

Pipeline window(const std::string& operation, Type type, std::int64_t radius) {
  const AnyImage in("in", {type.scalar}, {1});
  const int taps = static_cast<int>(2 * radius + 1);
  const auto src = in.border(Border::clamp());
  return Pipeline(operation, operation == "mean" ? local("out", src, Domain(taps, taps), Local::Mean,
                                                         [&](Expr e) { return saturate(type, e); })
                                                 : local("out", src, Domain(taps, taps), Local::Max));
}

Buffer noise(Type type, const std::vector<std::int64_t>& extents) {
  Buffer image = Buffer::allocate(type, extents);
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < image.pixels(); ++i) {
    if (type.scalar == Scalar::U8)
      static_cast<std::uint8_t*>(image.data())[i] = static_cast<std::uint8_t>(random());
    else
      static_cast<float*>(image.data())[i] = static_cast<float>(random() % 256);
  }
  return image;
}

double at(const Buffer& image, std::int64_t x, std::int64_t y) {
  const std::int64_t width = image.extents()[0], height = image.extents()[1];
  const std::int64_t i =
      std::clamp<std::int64_t>(y, 0, height - 1) * width + std::clamp<std::int64_t>(x, 0, width - 1);
  return image.type().scalar == Scalar::U8 ? static_cast<const std::uint8_t*>(image.data())[i]
                                           : static_cast<const float*>(image.data())[i];
}

/// Compares some pixels with what the definition says, in doubles.
void check(const Subject& subject) {
  constexpr int pixels = 60;
  const Buffer& in = subject.arguments.images.at("in");
  const Buffer& out = subject.arguments.outputs.at("out");
  std::mt19937 random(2);
  for (int i = 0; i < pixels; ++i) {
    const std::int64_t x = i == 0 ? 0 : random() % in.extents()[0],
                       y = i == 0 ? 0 : random() % in.extents()[1];
    double sum = 0, most = 0;
    for (std::int64_t dy = -subject.radius; dy <= subject.radius; ++dy) {
      for (std::int64_t dx = -subject.radius; dx <= subject.radius; ++dx) {
        sum += at(in, x + dx, y + dy);
        most = std::max(most, at(in, x + dx, y + dy));
      }
    }
    const double side = 2. * static_cast<double>(subject.radius) + 1, mean = sum / (side * side);
    const bool is_integer = in.type().scalar == Scalar::U8;
    const double expected = subject.operation == "maximum" ? most : is_integer ? std::nearbyint(mean) : mean;
    const double allowed = subject.operation == "maximum" || is_integer ? 0 : 1e-5 * mean;
    if (std::abs(at(out, x, y) - expected) <= allowed) continue;
    throw Error(fmt::format("the {} of radius {} at ({}, {}) is {}, not {}", subject.operation,
                            subject.radius, x, y, at(out, x, y), expected));
  }
}

Json windows(const Options& options) {
  std::vector<Subject> subjects;
  for (const Scalar scalar : {Scalar::F32, Scalar::U8}) {
    const Type type{scalar, 1};
    const Buffer image = noise(type, options.size.extents);
    for (const char* operation : {"mean", "maximum"}) {
      for (const std::int64_t radius : options.radii) {
        subjects.push_back({operation, name_of(type), radius, {}, {}, {}});
        subjects.back().arguments.images.emplace("in", image);
      }
    }
  }
  tools::Progress progress;
  std::size_t done = 0;
  std::mutex mutex;
  tools::share_out(0, subjects.size(), 0, [&](std::uint64_t s) {
    Subject& subject = subjects[s];
    const Type type{subject.pixels == "u8" ? Scalar::U8 : Scalar::F32, 1};
    CompileOptions compile;
    compile.threads = options.threads;
    Program program = window(subject.operation, type, subject.radius).compile(compile);
    const std::lock_guard lock(mutex);
    subject.program = std::move(program);
    progress.show(fmt::format("compiled {} of {}", ++done, subjects.size()));
  });
  for (Subject& subject : subjects) {
    subject.arguments.outputs = subject.program->run(subject.arguments);
    check(subject);
  }
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    progress.show(fmt::format("round {} of {}", round + 1, options.rounds));
    for (Subject& subject : subjects) {
      subject.program->run(subject.arguments);  // the caches are its own
      const auto start = std::chrono::steady_clock::now();
      subject.program->run(subject.arguments);
      subject.seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
  }
  progress.clear();
  Json json = {{"size", options.size.extents},
               {"threads", runtime::ThreadPool(options.threads).threads()},
               {"rounds", options.rounds},
               {"results", Json::array()}};
  for (const Subject& s : subjects) {
    json["results"].push_back({{"operation", s.operation},
                               {"pixels", s.pixels},
                               {"radius", s.radius},
                               {"median_ms", tools::median(s.seconds) * 1e3},
                               {"min_ms", *std::min_element(s.seconds.begin(), s.seconds.end()) * 1e3}});
  }
  return json;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  try {
    fmt::print("{}\n", weft::windows(weft::parse(argc, argv)).dump(2));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "windows: {}\n", error.what());
    return 2;
  }
}
