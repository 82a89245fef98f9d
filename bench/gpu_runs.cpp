// Times programs on a GPU whose images lie there, with and without Weft's CUDA graphs, and compares every pixel with the CPU's:
//
//     gpu_runs [--size WxH] [--runs 50] APP ...
//
// Of each application: `one`, from the call until the results are there, the median of the runs; and `each` of as many runs
// that are queued one after another. Both in microseconds, on a stream and as a graph. The exit code is 1 if a pixel differs.
#include <fmt/format.h>
#include <weft/error.h>
#include <weft/pipeline.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/stage_ir.h"
#include "runtime/cuda_device.h"
#include "tools/arguments.h"
#include "tools/compare.h"
#include "tools/subject.h"
#include "tools/targets.h"

namespace weft {
namespace {

struct Options {
  std::vector<std::string> applications;
  std::optional<tools::Size> size;
  std::int64_t runs = 50;
};

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--size" && i + 1 < count) {
      options.size = tools::parse_size(words[++i]);
    } else if (word == "--runs" && i + 1 < count) {
      options.runs = tools::parse_count(word, words[++i]);
    } else if (word.starts_with("-")) {
      throw Error("what is '" + word + "'? bench/gpu_runs.cpp says what there is");
    } else {
      options.applications.push_back(word);
    }
  }
  if (options.applications.empty()) throw Error("gpu_runs needs an application");
  return options;
}

/// A stream of the first GPU, and images that lie there.
class Gpu {
 public:
  void* stream() const { return stream_.handle(); }
  void wait() const { driver_.check(driver_->synchronize_stream(stream()), "the runs fail"); }

  /// A dense image there, for the rest of the process.
  Buffer like(const Buffer& host) const {
    runtime::CudaFunctions::Address address = 0;
    driver_.check(driver_->allocate(&address, static_cast<std::size_t>(host.bytes()) + 4, stream()),
                  "no memory");
    return Buffer::on_gpu(reinterpret_cast<void*>(address), host.type(), host.extents());
  }
  void copy(const Buffer& from, const Buffer& to) const {
    const auto bytes = static_cast<std::size_t>(from.bytes());
    driver_.check(from.memory().is_host()
                      ? driver_->copy_to_device(runtime::as_address(to.data()), from.data(), bytes, stream())
                      : driver_->copy_to_host(to.data(), runtime::as_address(from.data()), bytes, stream()),
                  "an image cannot be copied");
    wait();
  }

 private:
  const std::shared_ptr<const runtime::CudaDevice> device_ =
      std::make_shared<const runtime::CudaDevice>(runtime::CudaDriver(), 0);
  const runtime::CudaDriver& driver_ = device_->driver();
  const runtime::CudaDevice::Current current_{*device_};
  const runtime::CudaStream stream_{device_};
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Times {
  double one = 0, each = 0;  ///< Seconds.
};

Times time(const Program& program, const Arguments& arguments, const Gpu& gpu, std::int64_t runs) {
  for (int i = 0; i < 5; ++i) program.run_on(gpu.stream(), arguments);
  gpu.wait();
  std::vector<double> single;
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    program.run_on(gpu.stream(), arguments);
    gpu.wait();
    single.push_back(seconds_since(start));
  }
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < runs; ++i) program.run_on(gpu.stream(), arguments);
  gpu.wait();
  return {tools::median(single), seconds_since(start) / static_cast<double>(runs)};
}

/// "" where all pixels are right.
std::string difference(const ir::Pipeline& pipeline, const Gpu& gpu,
                       const std::map<std::string, Buffer>& expected,
                       const std::map<std::string, Buffer>& found) {
  const bool rounded = !pipeline.strict && tools::rounds_floats(pipeline);
  for (const ir::StagePtr& output : pipeline.outputs) {
    const Buffer& right = expected.at(output->name);
    Buffer host = Buffer::allocate(right.type(), right.extents());
    gpu.copy(found.at(output->name), host);
    const tools::Comparison compared = tools::compare(output->name, right, host, {}, rounded);
    if (!tools::agree_but_for_jumps(compared, right.type())) return compared.text();
  }
  return "";
}

/// Whether all pixels were right.
bool measure(const std::string& name, const Options& options, const Gpu& gpu) {
  auto [pipeline, size, arguments] = tools::subject_of(tools::find_application(name), options.size, {}, {});
  const std::map<std::string, Buffer> expected =
      tools::compile(pipeline, tools::RunTarget::Cpu).run(arguments);
  for (auto& entry : arguments.images) {
    const Buffer there = gpu.like(entry.second);
    gpu.copy(entry.second, there);
    entry.second = there;
  }
  for (const auto& entry : expected) arguments.outputs[entry.first] = gpu.like(entry.second);

  const Program program = tools::compile(pipeline, tools::RunTarget::Cuda);
  std::map<std::string, Times> times;
  std::string wrong;
  for (const char* graphs : {"0", "1"}) {
    setenv("WEFT_CUDA_GRAPHS", graphs, 1);
    times[graphs] = time(program, arguments, gpu, options.runs);
    if (wrong.empty()) wrong = difference(pipeline.ir(), gpu, expected, arguments.outputs);
  }
  fmt::print("{:20} {:12} {:8} {:8.1f} {:8.1f} {:8.1f} {:8.1f}\n", name, size.text(),
             wrong.empty() ? "equal" : "DIFFERS", 1e6 * times["0"].one, 1e6 * times["0"].each,
             1e6 * times["1"].one, 1e6 * times["1"].each);
  if (!wrong.empty()) fmt::print("    {}\n", wrong);
  std::fflush(stdout);
  return wrong.empty();
}

int main_of(int count, char** words) {
  const Options options = parse(count, words);
  const Gpu gpu;
  fmt::print("{:20} {:12} {:8} {:>8} {:>8} {:>8} {:>8}\n", "us", "size", "pixels", "one", "each", "graph one",
             "each");
  bool all_right = true;
  for (const std::string& name : options.applications) {
    try {
      all_right = measure(name, options, gpu) && all_right;
    } catch (const std::exception& failure) {
      fmt::print("{:20} FAILED: {}\n", name, failure.what());
      all_right = false;
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace weft

int main(int count, char** words) {
  try {
    return weft::main_of(count, words);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "gpu_runs: {}\n", failure.what());
    return 2;
  }
}
