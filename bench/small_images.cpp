// Times applications on small images beside the same written by hand (by_hand.h), in one process, taking
// turns:
//
//     small_images                           sobel, harris_corner and gaussian at three sizes
//     small_images --runs 2000
//     small_images --sizes 2048x2048,4096x4096
//
// Every pixel is compared first. By hand there are two ways: one thread; and two that never sleep, which is
// the least that waking could take. The faster one counts. Medians, and in a second line the least times, for
// machines that others use, too.
#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "bench/by_hand.h"
#include "runtime/thread_pool.h"
#include "tools/arguments.h"
#include "tools/sizes.h"
#include "tools/subject.h"
#include "tools/targets.h"

namespace weft {
namespace {

template <class T>
using Rows = void (*)(const by_hand::Picture<T>&, std::int64_t, std::int64_t);

void wait_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// A second thread that watches for work and does nothing else.
template <class T>
class Partner {
 public:
  Partner() : thread_([this] { watch(); }) {}
  ~Partner() {
    stops_ = true;
    given_.fetch_add(1);
    thread_.join();
  }
  /// The lower half of the picture is the partner's.
  void run(Rows<T> rows, const by_hand::Picture<T>& picture) {
    rows_ = rows, picture_ = picture;
    const int turn = given_.fetch_add(1, std::memory_order_release) + 1;
    rows(picture, 0, picture.height / 2);
    while (done_.load(std::memory_order_acquire) != turn) wait_briefly();
  }

 private:
  void watch() {
    for (int turn = 1;; ++turn) {
      while (given_.load(std::memory_order_acquire) != turn) wait_briefly();
      if (stops_) return;
      rows_(picture_, picture_.height / 2, picture_.height);
      done_.store(turn, std::memory_order_release);
    }
  }

  Rows<T> rows_ = nullptr;
  by_hand::Picture<T> picture_{};
  std::atomic<bool> stops_{false};
  alignas(64) std::atomic<int> given_{0};
  alignas(64) std::atomic<int> done_{0};
  std::thread thread_;
};

struct Way {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds{};

  double median_us() const { return tools::median(seconds) * 1e6; }
  double least_us() const { return *std::min_element(seconds.begin(), seconds.end()) * 1e6; }
};

template <class T>
void compare(const Buffer& expected, const std::vector<T>& got, const std::string& what) {
  const auto* pixels = static_cast<const T*>(expected.data());
  const auto value = [](T pixel) { return static_cast<double>(pixel); };
  double largest = 0;
  for (std::int64_t i = 0; i < expected.pixels(); ++i)
    largest = std::max(largest, std::abs(value(pixels[i])));
  const double allowed = std::is_integral_v<T> ? 0 : 1e-5 * largest;
  for (std::int64_t i = 0; i < expected.pixels(); ++i) {
    const T by_hand = got[static_cast<std::size_t>(i)];
    if (!(std::abs(value(pixels[i]) - value(by_hand)) <= allowed))
      throw Error(fmt::format("{}: pixel {} is {} by hand and {} by Weft", what, i, by_hand, pixels[i]));
  }
}

/// Time is given to each in blocks of some runs, as a program does that does the same again and again; the
/// partner sleeps in other's blocks.
template <class T>
void race(const std::string& name, Rows<T> rows, const tools::Size& size, std::int64_t runs) {
  auto [built, taken, arguments] = tools::subject_of(tools::find_application(name), size, {}, {});
  const Program program = tools::compile(built, tools::RunTarget::Cpu, 0);
  const Program alone = tools::compile(built, tools::RunTarget::Cpu, 1);
  arguments.outputs = program.run(arguments);
  const Buffer in = arguments.images.begin()->second, out = arguments.outputs.begin()->second;
  std::vector<T> own(static_cast<std::size_t>(in.pixels()));
  const by_hand::Picture<T> picture{static_cast<const T*>(in.data()), own.data(), size.extents[0],
                                    size.extents[1]};
  rows(picture, 0, picture.height);
  compare(out, own, name);

  std::optional<Partner<T>> partner;
  std::vector<Way> ways = {{"weft", [&] { program.run(arguments); }},
                           {"weft, 1 thread", [&] { alone.run(arguments); }},
                           {"by hand, 1 thread", [&] { rows(picture, 0, picture.height); }},
                           {"by hand, 2 threads", [&] { partner->run(rows, picture); }}};
  constexpr int block = 50;
  for (std::int64_t run = 0; run < runs; run += block) {
    for (std::size_t w = 0; w < ways.size(); ++w) {
      if (w == 3) partner.emplace();
      for (int i = -5; i < block; ++i) {
        const auto start = std::chrono::steady_clock::now();
        ways[w].run();
        if (i >= 0)
          ways[w].seconds.push_back(
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
      partner.reset();
    }
  }
  const auto print = [&](const std::string& what, double (Way::*time)() const) {
    fmt::print("{:<14} {:>9}", what, fmt::format("{}x{}", size.extents[0], size.extents[1]));
    for (const Way& way : ways) fmt::print(" {:>9.2f}", (way.*time)());
    fmt::print(" {:>7.2f}\n", (ways[0].*time)() / std::min((ways[2].*time)(), (ways[3].*time)()));
  };
  print(name, &Way::median_us);
  print("  least", &Way::least_us);
  std::fflush(stdout);
}

void run(int argc, char** argv) {
  std::int64_t runs = 1000;
  std::vector<tools::Size> sizes = {{{64, 64}}, {{256, 256}}, {{640, 480}}};
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if ((option != "--runs" && option != "--sizes") || i + 1 == argc)
      throw Error("the options are --runs N and --sizes WIDTHxHEIGHT,…");
    if (option == "--runs")
      runs = tools::parse_count("--runs", argv[i + 1]);
    else
      sizes = tools::parse_sizes(argv[i + 1]);
  }
  fmt::print("{:<14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}\n", "microseconds", "size", "weft", "1 thread",
             "by hand", "2 threads", "ratio");
  for (const tools::Size& size : sizes) race("sobel", Rows<float>(by_hand::sobel), size, runs);
  for (const tools::Size& size : sizes)
    race("harris_corner", Rows<float>(by_hand::harris_corner), size, runs);
  for (const tools::Size& size : sizes) race("gaussian", Rows<std::uint8_t>(by_hand::gaussian), size, runs);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  try {
    weft::run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "small_images: {}\n", error.what());
    return 2;
  }
}
