// What every program shares that checks a pipeline's CUDA against its C++ and times it: images on both sides,
// clocks, and the speed of the board's memory. `weft emit --target bench`
// writes it beside such a program; nothing of Weft is needed to compile either.
#pragma once

#include <cuda_runtime.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench_pixels.h"

namespace kit {

inline void check(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(status));
}

// ---- images ----------------------------------------------------------------------------------------------

/// An image in host memory without gaps, and on the GPU, where rows begin at whole 128 bytes.
class AnyImage {
 public:
  AnyImage(std::string name, std::vector<int64_t> extents, int lanes)
      : name(std::move(name)), extents(std::move(extents)), lanes(lanes) {}
  virtual ~AnyImage() {}
  virtual void fill(Random& random, double range, bool smooth) = 0;
  virtual void copy_to_device() = 0;
  virtual void spoil_device() = 0;  ///< So that pixels which nobody writes are found.
  virtual Comparison compare(bool rounded) = 0;
  virtual int64_t bytes() const = 0;  ///< Of the pixels.

  const std::string name;
  const std::vector<int64_t> extents;  ///< In pixels, x first.
  const int lanes;

 protected:
  int64_t row() const { return (extents.empty() ? 1 : extents[0]) * lanes; }  ///< In scalars.
  int64_t rows() const {
    int64_t product = 1;
    for (size_t d = 1; d < extents.size(); ++d) product *= extents[d];
    return product;
  }
};

template <class T>
struct View {
  T* pixels = nullptr;
  int64_t stride[4] = {};  ///< Scalars from row to row, from slice to slice …
};

template <class T>
class Image : public AnyImage {
 public:
  Image(const std::string& name, const std::vector<int64_t>& extents, int lanes)
      : AnyImage(name, extents, lanes), memory_(new T[(size_t)(row() * rows())]) {
    const int64_t line = (int64_t)(128 / sizeof(T));
    host.pixels = memory_.get();
    host.stride[0] = row();
    device.stride[0] = (row() + line - 1) / line * line;
    for (size_t d = 1; d < 4; ++d) {
      const int64_t extent = d < extents.size() ? extents[d] : 1;
      host.stride[d] = host.stride[d - 1] * extent;
      device.stride[d] = device.stride[d - 1] * extent;
    }
    std::memset(host.pixels, 0, (size_t)bytes());
    check(cudaMalloc((void**)&device.pixels, std::max<size_t>(1, device_bytes())),
          "memory for '" + name + "'");
  }
  ~Image() override { cudaFree(device.pixels); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  View<T> host, device;

  int64_t bytes() const override { return row() * rows() * (int64_t)sizeof(T); }
  void fill(Random& random, double range, bool smooth) override {
    for (int64_t i = 0; i < row() * rows(); ++i)
      host.pixels[i] = smooth ? smooth_value<T>(random, range, i % row() / lanes, i / row())
                              : random_value<T>(random, range);
  }
  void copy_to_device() override {
    copy(device.pixels, device.stride[0], host.pixels, host.stride[0], cudaMemcpyHostToDevice);
  }
  void spoil_device() override {
    check(cudaMemset(device.pixels, 0x5a, device_bytes()), "clearing '" + name + "'");
  }
  Comparison compare(bool rounded) override {
    const std::unique_ptr<T[]> found(new T[(size_t)(row() * rows())]);
    copy(found.get(), row(), device.pixels, device.stride[0], cudaMemcpyDeviceToHost);
    const Judge<T> judge(host.pixels, row() * rows(), rounded);
    Comparison result;
    result.pixels = row() * rows() / lanes;
    for (int64_t p = 0; p < result.pixels; ++p) {
      const T *e = host.pixels + p * lanes, *f = found.get() + p * lanes;
      if (!judge.accepts(e, f, lanes, result) && result.wrong++ == 0) {
        result.first =
            place_text(extents, p) + ": expected " + pixel_text(e, lanes) + ", found " + pixel_text(f, lanes);
      }
    }
    return result;
  }

 private:
  size_t device_bytes() const { return (size_t)(device.stride[0] * rows()) * sizeof(T); }
  void copy(T* to, int64_t to_pitch, const T* from, int64_t from_pitch, cudaMemcpyKind kind) const {
    if (bytes() == 0) return;
    check(cudaMemcpy2D(to, (size_t)to_pitch * sizeof(T), from, (size_t)from_pitch * sizeof(T),
                       (size_t)row() * sizeof(T), (size_t)rows(), kind),
          "copying '" + name + "'");
  }

  std::unique_ptr<T[]> memory_;
};

// ---- clocks ----------------------------------------------------------------------------------------------

/// Milliseconds.
struct Times {
  double median = 0, least = 0;
};

/// Times what is queued on a stream by events. The host runs ahead of the GPU, so `before`, which is not
/// timed, hides what queueing costs.
class Clock {
 public:
  Clock() { check(cudaStreamCreate(&stream), "a stream"); }
  ~Clock() { cudaStreamDestroy(stream); }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  template <class Before, class Work>
  Times time(int runs, Before before, Work work) const {
    std::vector<cudaEvent_t> starts((size_t)runs), ends((size_t)runs);
    for (size_t i = 0; i < starts.size(); ++i) {
      check(cudaEventCreate(&starts[i]), "an event");
      check(cudaEventCreate(&ends[i]), "an event");
      before();
      check(cudaEventRecord(starts[i], stream), "an event");
      work();
      check(cudaEventRecord(ends[i], stream), "an event");
    }
    check(cudaStreamSynchronize(stream), "the timed runs");
    std::vector<float> spent(starts.size());
    for (size_t i = 0; i < starts.size(); ++i) {
      check(cudaEventElapsedTime(&spent[i], starts[i], ends[i]), "an event");
      cudaEventDestroy(starts[i]);
      cudaEventDestroy(ends[i]);
    }
    std::sort(spent.begin(), spent.end());
    return {((double)spent[(spent.size() - 1) / 2] + spent[spent.size() / 2]) / 2, spent[0]};
  }

  cudaStream_t stream = nullptr;
};

/// The board for one program alone, while others that name the same file prepare their images.
class Turn {
 public:
  explicit Turn(const std::string& file) {
    if (file.empty()) return;
    file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int taken = -1;
    while (file_ >= 0 && (taken = flock(file_, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (taken != 0) throw std::runtime_error("waiting for '" + file + "': " + std::strerror(errno));
  }
  ~Turn() {
    if (file_ >= 0) close(file_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_ = -1;
};

// ---- the board's memory ----------------------------------------------------------------------------------

constexpr int threads = 256;

template <int per_thread>
__global__ void __launch_bounds__(threads)
    copy_memory(const float4* __restrict__ from, float4* __restrict__ to) {
  const int64_t first = (int64_t)blockIdx.x * threads * per_thread + threadIdx.x;
  float4 part[per_thread];
#pragma unroll
  for (int i = 0; i < per_thread; ++i) part[i] = from[first + i * threads];
#pragma unroll
  for (int i = 0; i < per_thread; ++i) to[first + i * threads] = part[i];
}

template <int per_thread>
__global__ void __launch_bounds__(threads)
    read_memory(const float4* __restrict__ from, float4* __restrict__ to) {
  const int64_t first = (int64_t)blockIdx.x * threads * per_thread + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const float4 part = from[first + i * threads];
    sum += part.x + part.y + part.z + part.w;
  }
  if (sum == -1) to[threadIdx.x] = make_float4(sum, sum, sum, sum);  // never, which the compiler cannot know
}

/// Two buffers larger than the L2 cache: their copy is what an application is measured with, and they drive
/// its images out of the cache.
class Memory {
 public:
  Memory(const Clock& clock, int64_t megabytes) : clock_(clock) {
    constexpr int64_t portion = (int64_t)threads * per_thread * (int64_t)sizeof(float4);
    int cache = 0;
    check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0), "the size of the L2 cache");
    bytes_ = std::max<int64_t>(portion, megabytes * 1000000 / portion * portion);
    flushed_ = std::min(bytes_, (4 * (int64_t)cache + portion - 1) / portion * portion);
    for (float4** buffer : {&a_, &b_}) {
      check(cudaMalloc((void**)buffer, (size_t)bytes_), "memory to copy");
      check(cudaMemset(*buffer, 0x3c, (size_t)bytes_), "memory to copy");
    }
  }
  ~Memory() {
    cudaFree(a_);
    cudaFree(b_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Leaves the L2 cache with neither an application's images nor anything that has to be written back.
  void flush() const {
    check(cudaMemsetAsync(b_, 0x3c, (size_t)flushed_, clock_.stream), "flushing the cache");
    launch(read_memory<per_thread>, flushed_);
  }

  /// GB/s, read and written bytes together; by a kernel or by CUDA's own copy, whichever is faster.
  double copy_bandwidth(int runs) const {
    const double kernel = rate(2, runs, [&] { launch(copy_memory<per_thread>, bytes_); });
    const double own = rate(2, runs, [&] {
      check(cudaMemcpyAsync(b_, a_, (size_t)bytes_, cudaMemcpyDeviceToDevice, clock_.stream),
            "copying memory");
    });
    return std::max(kernel, own);
  }
  double read_bandwidth(int runs) const {
    return rate(1, runs, [&] { launch(read_memory<per_thread>, bytes_); });
  }

 private:
  static constexpr int per_thread = 4;

  void launch(void (*kernel)(const float4*, float4*), int64_t bytes) const {
    const unsigned blocks = (unsigned)(bytes / (int64_t)sizeof(float4) / (threads * per_thread));
    void* arguments[] = {(void*)&a_, (void*)&b_};
    check(cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, clock_.stream),
          "reading memory");
  }
  template <class Work>
  double rate(int passes, int runs, Work work) const {
    for (int i = 0; i < 3; ++i) work();
    const Times times = clock_.time(
        runs, [] {}, work);
    return times.median > 0 ? (double)(passes * bytes_) / times.median * 1e-6 : 0;
  }

  const Clock& clock_;
  int64_t bytes_ = 0, flushed_ = 0;
  float4 *a_ = nullptr, *b_ = nullptr;
};

// ---- what is asked for -----------------------------------------------------------------------------------

struct Request {
  int runs = 100;
  uint64_t seed = 1;
  int64_t probe_megabytes = 1000;
  std::string json, turns;
  bool smooth = false, titles = false, board = false, help = false;
};

constexpr const char* usage =
    "Checks a pipeline's CUDA against its C++ on random pixels, every pixel, and times it.\n"
    "  --runs N       how often it is timed, with its images in the L2 cache and without (100)\n"
    "  --seed N       of the random pixels (1)\n"
    "  --smooth       pixels that are like their neighbours, as in a picture, instead of noise\n"
    "  --probe-mb N   of the two buffers whose copying shows the speed of the board's memory (1000)\n"
    "  --turns FILE   uses the board while no other program does that names the same file\n"
    "  --json FILE    writes the numbers there, too\n"
    "  --titles       prints the titles of the columns, and does nothing\n"
    "  --board        prints what the board is, as JSON, and does nothing else\n"
    "The exit code is 1 if CUDA and C++ differ, 2 if something failed.\n";

inline int64_t number_of(const std::string& option, const char* text) {
  char* end = nullptr;
  const long long value = text ? std::strtoll(text, &end, 10) : 0;
  if (!text || end == text || *end || value < 1 || value > 1000000000)
    throw std::runtime_error(option + " needs a number from 1 on; --help lists the options");
  return value;
}

inline Request request_of(int count, char** words) {
  Request request;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto number = [&] { return number_of(word, ++i < count ? words[i] : nullptr); };
    if (word == "--runs") {
      request.runs = (int)number();
    } else if (word == "--seed") {
      request.seed = (uint64_t)number();
    } else if (word == "--probe-mb") {
      request.probe_megabytes = number();
    } else if (word == "--json" && i + 1 < count) {
      request.json = words[++i];
    } else if (word == "--turns" && i + 1 < count) {
      request.turns = words[++i];
    } else if (word == "--smooth") {
      request.smooth = true;
    } else if (word == "--titles") {
      request.titles = true;
    } else if (word == "--board") {
      request.board = true;
    } else if (word == "--help") {
      request.help = true;
    } else {
      throw std::runtime_error("what is '" + word + "'? --help lists the options");
    }
  }
  return request;
}

// ---- reports ---------------------------------------------------------------------------------------------

inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += (unsigned char)c < ' ' ? ' ' : c;
  }
  return result + "\"";
}
inline std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

inline std::string board_json() {
  cudaDeviceProp board;
  int driver = 0, runtime = 0;
  check(cudaGetDeviceProperties(&board, 0), "the board");
  check(cudaDriverGetVersion(&driver), "the driver");
  check(cudaRuntimeGetVersion(&runtime), "CUDA");
  const auto version = [](int v) {
    return quoted(std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10));
  };
  std::ostringstream json;
  json << "{\"name\": " << quoted(board.name) << ", \"compute_capability\": \"" << board.major << "."
       << board.minor << "\", \"multiprocessors\": " << board.multiProcessorCount
       << ", \"memory_bytes\": " << board.totalGlobalMem << ", \"l2_bytes\": " << board.l2CacheSize
       << ", \"cuda\": " << version(runtime) << ", \"cuda_of_driver\": " << version(driver) << "}";
  return json.str();
}

/// What is known of a pipeline before it runs.
struct About {
  const char* application;
  const char* options;   ///< "steps=3", or nothing.
  const char* size;      ///< "2048x2048"
  double range;          ///< Random floats are in 0 … range.
  bool rounded;          ///< Whether integers come from floats, so that a rounding may fall on either side.
  int64_t kernel_bytes;  ///< What the kernels read and write, stored intermediates included, each array once.
};

/// All that was found out about one application.
struct Result {
  About about;
  uint64_t seed = 0;
  bool smooth = false;
  int runs = 0;
  std::vector<std::pair<std::string, Comparison>> outputs;
  Times cold, warm;           ///< Without and with the images in the L2 cache.
  int64_t bytes = 0;          ///< Every input read once, every output written once: compulsory.
  double copy = 0, read = 0;  ///< GB/s of the board's memory.

  bool equal() const {
    return std::all_of(outputs.begin(), outputs.end(), [](const auto& o) { return o.second.equal(); });
  }
  static double rate(int64_t bytes, const Times& times) {
    return times.median > 0 ? (double)bytes / times.median * 1e-6 : 0;
  }
  double share(int64_t moved) const { return copy > 0 ? rate(moved, cold) / copy : 0; }
};

constexpr const char* titles =
    "application             size          check     cold ms   warm ms        MB    GB/s  of copy  kernel MB "
    " "
    "of copy  copy GB/s  read GB/s\n";

inline std::string name_of(const About& about) {
  return about.application + std::string(*about.options ? " " : "") + about.options;
}

inline void print_line(const Result& r) {
  std::printf("%-23s %-13s %-8s %8.4f  %8.4f  %8.1f  %6.0f  %5.1f %%  %9.1f  %5.1f %%  %9.0f  %9.0f\n",
              name_of(r.about).c_str(), r.about.size, r.equal() ? "equal" : "DIFFERS", r.cold.median,
              r.warm.median, (double)r.bytes * 1e-6, r.rate(r.bytes, r.cold), 100 * r.share(r.bytes),
              (double)r.about.kernel_bytes * 1e-6, 100 * r.share(r.about.kernel_bytes), r.copy, r.read);
}

inline std::string json_of(const Result& r) {
  std::ostringstream json;
  json << "{\"application\": " << quoted(r.about.application) << ", \"options\": " << quoted(r.about.options)
       << ", \"size\": " << quoted(r.about.size) << ", \"seed\": " << r.seed
       << ", \"smooth\": " << (r.smooth ? "true" : "false")
       << ", \"equal\": " << (r.equal() ? "true" : "false") << ", \"outputs\": [";
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    const Comparison& c = r.outputs[i].second;
    json << (i ? ", " : "") << "{\"name\": " << quoted(r.outputs[i].first) << ", \"pixels\": " << c.pixels
         << ", \"wrong\": " << c.wrong << ", \"off_by_one\": " << c.off_by_one
         << ", \"worst\": " << number(c.worst)
         << ", \"first_wrong\": " << (c.wrong ? quoted(c.first) : "null") << "}";
  }
  const auto field = [&](const char* name, double value) {
    json << ", \"" << name << "\": " << number(value);
  };
  json << "], \"runs\": " << r.runs;
  field("cold_ms", r.cold.median), field("cold_least_ms", r.cold.least);
  field("warm_ms", r.warm.median), field("warm_least_ms", r.warm.least);
  json << ", \"bytes\": " << r.bytes << ", \"kernel_bytes\": " << r.about.kernel_bytes;
  field("cold_gb_per_s", r.rate(r.bytes, r.cold)), field("warm_gb_per_s", r.rate(r.bytes, r.warm));
  field("share_of_copy", r.share(r.bytes)), field("kernel_share_of_copy", r.share(r.about.kernel_bytes));
  field("copy_gb_per_s", r.copy), field("read_gb_per_s", r.read);
  return json.str() + "}\n";
}

// ---- the program -----------------------------------------------------------------------------------------

class Bench {
 public:
  Bench(const About& about, const Request& request) : request_(request) { result_.about = about; }

  template <class T>
  Image<T>& input(const char* name, const std::vector<int64_t>& extents, int lanes) {
    return add<T>(inputs_, name, extents, lanes);
  }
  template <class T>
  Image<T>& output(const char* name, const std::vector<int64_t>& extents, int lanes) {
    return add<T>(outputs_, name, extents, lanes);
  }

  /// Runs and times both: on_gpu(stream) queues the work and returns CUDA's error; on_cpu() returns 0 unless
  /// it failed.
  template <class OnGpu, class OnCpu>
  void measure(OnGpu on_gpu, OnCpu on_cpu) {
    const auto run = [&] { check(on_gpu(clock_.stream), "the CUDA"); };
    say(std::string(request_.smooth ? "smooth" : "random") + " pixels, seed " +
        std::to_string(request_.seed));
    prepare();
    say("the C++");
    if (on_cpu() != 0) throw std::runtime_error("the C++ has too little memory");
    say("the CUDA");
    const Turn turn(request_.turns);
    to_device();
    run();
    check(cudaStreamSynchronize(clock_.stream), "the CUDA");
    compare();
    say("timing");
    time(run);
    if (result_.equal()) compare();  // the last of many runs gave the same pixels
  }

  const Result& result() const { return result_; }

 private:
  template <class T>
  static Image<T>& add(std::vector<std::unique_ptr<AnyImage>>& images, const char* name,
                       const std::vector<int64_t>& extents, int lanes) {
    images.push_back(std::make_unique<Image<T>>(name, extents, lanes));
    return static_cast<Image<T>&>(*images.back());
  }

  void say(const std::string& what) const {
    std::fprintf(stderr, "%s %s: %s\n", name_of(result_.about).c_str(), result_.about.size, what.c_str());
  }

  void prepare() {
    Random random(request_.seed);
    for (const auto& image : inputs_) {
      image->fill(random, result_.about.range, request_.smooth);
      result_.bytes += image->bytes();
    }
    for (const auto& image : outputs_) result_.bytes += image->bytes();
  }

  void to_device() {
    for (const auto& image : inputs_) image->copy_to_device();
    for (const auto& image : outputs_) image->spoil_device();
  }

  void compare() {
    std::vector<std::pair<std::string, Comparison>> found;
    for (const auto& image : outputs_) {
      found.emplace_back(image->name, image->compare(result_.about.rounded));
      const Comparison& c = found.back().second;
      if (c.wrong > 0) {
        say("'" + image->name + "' differs in " + std::to_string(c.wrong) + " of " +
            std::to_string(c.pixels) + " pixels, first at " + c.first);
      } else if (!c.equal()) {
        say("'" + image->name + "' is off by one in " + std::to_string(c.off_by_one) + " of " +
            std::to_string(c.pixels) + " pixels, too many to be roundings");
      }
    }
    result_.outputs = std::move(found);
  }

  template <class Run>
  void time(Run run) {
    keep_freed_memory();
    const Memory memory(clock_, request_.probe_megabytes);
    result_.seed = request_.seed, result_.smooth = request_.smooth;
    result_.runs = request_.runs;
    for (int i = 0; i < std::min(request_.runs, 10); ++i) run();
    result_.warm = clock_.time(
        request_.runs, [] {}, run);
    result_.cold = clock_.time(
        request_.runs, [&] { memory.flush(); }, run);
    result_.copy = memory.copy_bandwidth(std::min(request_.runs, 20));
    result_.read = memory.read_bandwidth(std::min(request_.runs, 20));
  }

  /// Intermediates are allocated in every run, which is fast if the pool keeps what it has.
  static void keep_freed_memory() {
    cudaMemPool_t pool;
    uint64_t all = std::numeric_limits<uint64_t>::max();
    check(cudaDeviceGetDefaultMemPool(&pool, 0), "the memory pool");
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "the memory pool");
  }

  const Request request_;
  Result result_;
  Clock clock_;
  std::vector<std::unique_ptr<AnyImage>> inputs_, outputs_;
};

/// The whole of main(): `work` declares images and calls measure().
template <class Work>
int run(int count, char** words, const About& about, Work work) {
  try {
    const Request request = request_of(count, words);
    if (request.help || request.titles || request.board) {
      std::printf("%s", request.help ? usage : request.titles ? titles : (board_json() + "\n").c_str());
      return 0;
    }
    Bench bench(about, request);
    work(bench);
    print_line(bench.result());
    if (!request.json.empty()) {
      std::FILE* file = std::fopen(request.json.c_str(), "w");
      const bool written = file && std::fputs(json_of(bench.result()).c_str(), file) >= 0;
      if ((file && std::fclose(file) != 0) || !written)
        throw std::runtime_error("'" + request.json + "' cannot be written");
    }
    return bench.result().equal() ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", about.application, failure.what());
    return 2;
  }
}

}  // namespace kit
