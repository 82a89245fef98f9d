// How reports read, and what the library says when it cannot run at all.
#include "simt/simt.h"

#include "simt/abi.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace {

simt::CompileOptions named(simt::Build build) {
  simt::CompileOptions options;
  options.build = build;
  options.name = "a.cu";
  return options;
}

/// All reports of a text whose host function is `int run()`, as text.
std::string reports_of(const char* text, simt::Build build, std::uint64_t seed = 0) {
  simt::Options options;
  options.seed = seed;
  simt::Device device(options);
  const simt::Module module(device, simt::compile(text, named(build)));
  module.function<void()>("run")();
  device.synchronize();
  std::string all;
  for (const simt::Report& report : device.reports()) all += to_string(report);
  return all;
}

TEST(Report, OfARaceNamesBothThreads) {
  EXPECT_EQ(reports_of(R"(
namespace {
__global__ void __launch_bounds__(64) write(int* out) {
  __shared__ int last;
  last = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = last;
}
}
extern "C" void run() {
  int* out;
  cudaMalloc(&out, 64 * 4);
  void* arguments[] = {&out};
  cudaLaunchKernel(write, dim3(1), dim3(64), arguments, 0, 0);
}
)",
                       simt::Build::race),
            "race: two lanes of a warp meet in shared memory unordered (63 times)\n"
            "  a.cu:5: write: thread (1,0,0) of block (0,0,0) writes 4 bytes of shared memory 'last'\n"
            "  a.cu:5: write: thread (0,0,0) of block (0,0,0) wrote it\n");
}

TEST(Report, OfBoundsSaysWhereAndOfWhat) {
  const std::string text = reports_of(R"(
__global__ void write(int* out) {
  __shared__ int row[8];
  int* const all = row;
  all[2 * threadIdx.x] = 1;
  out[static_cast<int>(threadIdx.x) - 1] = 1;
}
extern "C" void run() {
  int* out;
  cudaMalloc(&out, 4 * 8);
  void* arguments[] = {&out};
  cudaLaunchKernel(write, dim3(1), dim3(5), arguments, 0, 0);
  cudaDeviceSynchronize();
}
)",
                                      simt::Build::address);
  EXPECT_NE(
      text.find(
          "a.cu:5: write: thread (4,0,0) of block (0,0,0) writes 4 bytes, up to 4 bytes after the end of "
          "shared array 'row' of 32 bytes"),
      std::string::npos)
      << text;
}

TEST(Report, OfABufferNamesItsAllocation) {
  EXPECT_EQ(reports_of(R"(
__global__ void write(char* out) { out[threadIdx.x] = 1; }
extern "C" void run() {
  char* out;
  cudaMalloc(&out, 31);
  void* arguments[] = {&out};
  cudaLaunchKernel(write, dim3(1), dim3(32), arguments, 0, 0);
}
)",
                       simt::Build::address),
            "out of bounds: an access outside of every buffer\n"
            "  a.cu:2: write: thread (31,0,0) of block (0,0,0) writes 1 byte, 0 bytes after the end of a "
            "buffer of 31 "
            "bytes (allocated at a.cu:5)\n");
}

TEST(Report, OfADeadlockSaysWhoWaitsForWhom) {
  EXPECT_EQ(reports_of(R"(
__global__ void wait() {
  if (threadIdx.x < 3)
    __syncthreads();
  else
    __syncwarp();
}
extern "C" void run() { cudaLaunchKernel(wait, dim3(1), dim3(32), nullptr, 0, 0); }
)",
                       simt::Build::fast),
            "divergent barrier: threads wait for one another at different places, for ever\n"
            "  a.cu:4: wait: thread (0,0,0) of block (0,0,0) and 2 more wait in __syncthreads\n"
            "  a.cu:6: wait: thread (3,0,0) of block (0,0,0) and 28 more wait in __syncwarp with mask "
            "0xffffffff\n");
}

TEST(Report, OfTwoCallsInALineSaysTheirColumns) {
  EXPECT_EQ(
      reports_of(R"(
__global__ void sides(int v) {
  v += threadIdx.x & 1 ? __shfl_xor_sync(~0u, v, 2) : __shfl_xor_sync(~0u, v, 4);
}
__global__ void meet() { threadIdx.x < 32 ? __syncthreads() : __syncthreads(); }
extern "C" void run() {
  int v = 0;
  void* arguments[] = {&v};
  cudaLaunchKernel(sides, dim3(1), dim3(32), arguments, 0, 0);
  cudaLaunchKernel(meet, dim3(1), dim3(64), nullptr, 0, 0);
}
)",
                 simt::Build::fast),
      "divergent collective: lanes of a warp meet in one operation from different calls of a line\n"
      "  a.cu:3: sides: thread (0,0,0) of block (0,0,0) is lane 0 and calls __shfl_xor_sync in column 70\n"
      "  a.cu:3: sides: thread (1,0,0) of block (0,0,0) is lane 1 of the same warp and calls "
      "__shfl_xor_sync in column 41\n"
      "divergent barrier: threads of a block meet at different barriers of a line\n"
      "  a.cu:5: meet: thread (0,0,0) of block (0,0,0) waits in __syncthreads in column 58\n"
      "  a.cu:5: meet: thread (63,0,0) of block (0,0,0) of the same block waits in another one in column "
      "76\n");
}

TEST(Report, AKernelThatFailsIsAnErrorOfTheNextWait) {
  simt::Device device;
  const simt::Module module(device, simt::compile(R"(
__global__ void write(int* out) { *out = 1; }
extern "C" int run(int* out) {
  void* arguments[] = {&out};
  if (cudaLaunchKernel(write, dim3(1), dim3(1), arguments, 0, 0) != cudaSuccess) return -1;
  return cudaDeviceSynchronize();
}
)",
                                                  named(simt::Build::address)));
  constexpr int illegal_address = 700;
  int on_host = 0;
  EXPECT_EQ(module.function<int(int*)>("run")(&on_host), illegal_address);
  EXPECT_EQ(device.last_error(), illegal_address);
  EXPECT_EQ(device.synchronize(), 0);
  EXPECT_EQ(on_host, 0);
  device.forget();
  EXPECT_TRUE(device.reports().empty());
}

TEST(Report, OfLeaksIsMadeOnRequest) {
  simt::Device device;
  void* kept = device.allocate(100);
  void* gone = device.allocate(50);
  device.release(gone);
  EXPECT_TRUE(device.reports().empty());
  device.report_leaks();
  ASSERT_EQ(device.reports().size(), 1u);
  EXPECT_EQ(device.reports()[0].what, "a buffer of 100 bytes was never released");
  device.release(kept);
}

TEST(Device, HasOnlySoMuchMemory) {
  simt::Options options;
  options.memory = 1 << 20;
  simt::Device device(options);
  EXPECT_EQ(device.allocate((1 << 20) + 1), nullptr);
  constexpr int out_of_memory = 2;
  EXPECT_EQ(device.last_error(), out_of_memory);
  void* all = device.allocate(1 << 20);
  ASSERT_NE(all, nullptr);
  device.release(all);
  EXPECT_NE(device.allocate(1 << 20), nullptr);
}

TEST(Device, GivesBackWhatWasCopied) {
  simt::Device device;
  const std::vector<int> values{1, 2, 3};
  std::vector<int> back(3);
  void* buffer = device.allocate(12);
  EXPECT_EQ(device.copy_to_device(buffer, values.data(), 12), 0);
  EXPECT_EQ(device.copy_to_host(back.data(), buffer, 12), 0);
  EXPECT_EQ(back, values);
  EXPECT_EQ(device.copy_to_host(nullptr, buffer, 0), 0) << "which the sanitizers of memmove must not see";
}

TEST(Module, FindsFunctionsByName) {
  simt::Device device;
  const simt::Module module(device, simt::compile(R"(
namespace app { int twice(int v) { return 2 * v; } }
int overloaded(int) { return 1; }
int overloaded(float) { return 2; }
static int hidden(int v) { return v; }
extern "C" int plain(int v) { return hidden(v); }
)"));
  EXPECT_EQ(module.function<int(int)>("plain")(3), 3);
  EXPECT_EQ(module.function<int(int)>("app::twice")(3), 6);
  EXPECT_THROW(module.symbol("overloaded"), simt::Failure);
  EXPECT_THROW(module.symbol("missing"), simt::Failure);
}

// Two texts that are loaded at once each reach their own device.
TEST(Module, SeveralAreIndependent) {
  const char* text = R"(
__global__ void write(int* out, int v) { __shared__ int s; s = v; *out = s; }
extern "C" int* run(int v) {
  int* out;
  cudaMalloc(&out, 4);
  void* arguments[] = {&out, &v};
  cudaLaunchKernel(write, dim3(1), dim3(1), arguments, 0, 0);
  return out;
}
)";
  simt::Device first, second;
  const simt::Module a(first, simt::compile(text)), b(second, simt::compile(text));
  int *x = a.function<int*(int)>("run")(1), *y = b.function<int*(int)>("run")(2);
  int from_first = 0, from_second = 0;
  first.copy_to_host(&from_first, x, 4);
  second.copy_to_host(&from_second, y, 4);
  EXPECT_EQ(from_first, 1);
  EXPECT_EQ(from_second, 2);
}

// As a driver does, which knows kernels by name only.
TEST(Module, LaunchesKernelsByName) {
  simt::CompileOptions options = named(simt::Build::race);
  options.kernels = {"fill"};
  simt::Device device;
  const simt::Module module(device, simt::compile(R"(
namespace {
__global__ void fill(int* out, short value, double factor) { out[threadIdx.x] = static_cast<int>(value * factor); }
}
)",
                                                  options));
  std::vector<int> values(32);
  int* out = static_cast<int*>(device.allocate(32 * sizeof(int)));
  short value = 3;
  double factor = 1.5;
  void* arguments[] = {&out, &value, &factor};
  void* stream = device.create_stream();
  EXPECT_EQ(module.launch("fill", {1, 1, 1}, {32, 1, 1}, arguments, 0, stream), 0);
  value = 0;  // the arguments were copied
  EXPECT_EQ(device.services().stream_synchronize(stream, {}), 0);
  device.copy_to_host(values.data(), out, 32 * sizeof(int));
  EXPECT_EQ(values, std::vector<int>(32, 4));
  constexpr int invalid_configuration = 9;
  EXPECT_EQ(module.launch("fill", {1, 1, 1}, {2000, 1, 1}, arguments), invalid_configuration);
  EXPECT_THROW(module.launch("other", {1, 1, 1}, {1, 1, 1}, arguments), simt::Failure);
}

TEST(Module, IsNotLoadedTwice) {
  simt::Device device;
  const simt::Compiled compiled = simt::compile("extern \"C\" int one() { return 1; }");
  const simt::Module module(device, compiled);
  EXPECT_THROW(simt::Module(device, compiled), simt::Failure);
}

TEST(Compile, SaysWhatTheCompilerSaid) {
  try {
    simt::compile("__global__ void k() { int x = undeclared; }", named(simt::Build::race));
    FAIL();
  } catch (const simt::Failure& failure) {
    const std::string what = failure.what();
    EXPECT_NE(what.find("the C++ compiler rejected a.cu"), std::string::npos) << what;
    EXPECT_NE(what.find("a.cu:1:"), std::string::npos) << what;
    EXPECT_NE(what.find("undeclared"), std::string::npos) << what;
  }
}

TEST(Compile, NeedsACompiler) {
  simt::CompileOptions options;
  options.compiler = "no-such-compiler";
  EXPECT_THROW(simt::compile("", options), simt::Failure);
}

TEST(Compile, LeavesNothingBehind) {
  std::filesystem::path folder;
  {
    const simt::Compiled compiled = simt::compile("int one;");
    folder = compiled.object.parent_path();
    EXPECT_TRUE(std::filesystem::exists(folder));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Build, HasAName) {
  EXPECT_EQ(simt::build_of("address"), simt::Build::address);
  EXPECT_THROW(simt::build_of("slow"), simt::Failure);
}

}  // namespace
