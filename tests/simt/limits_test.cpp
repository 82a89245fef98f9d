// What an architecture refuses, and how that is said.
#include "simt/simt.h"

#include <gtest/gtest.h>

namespace {

constexpr int invalid_value = 1, invalid_configuration = 9, out_of_resources = 701;

const char* const text = R"(
__global__ void plain(int* out) { *out = 1; }
__global__ void large(int* out) {
  __shared__ int tile[10000];
  tile[threadIdx.x] = 1;
  *out = tile[threadIdx.x];
}
extern "C" int launch(bool is_large, unsigned gx, unsigned gy, unsigned bx, unsigned bz, unsigned shared, int opt_in) {
  int* out = nullptr;
  void* arguments[] = {&out};
  auto* kernel = is_large ? large : plain;
  if (opt_in) {
    const int error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, opt_in);
    if (error) return error;
  }
  const int error = cudaLaunchKernel(kernel, dim3(gx, gy), dim3(bx, 1, bz), arguments, shared, 0);
  return error != cudaGetLastError() ? -1 : error;
}
extern "C" int blocks_at_a_time(bool is_large, int threads) {
  int blocks = -1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, is_large ? large : plain, threads, 0);
  return blocks;
}
extern "C" int attribute(int which) {
  int value = -1;
  cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), 0);
  return value;
}
)";

const simt::Compiled& compiled() {
  static const simt::Compiled once = simt::compile(text);
  return once;
}

struct Launch {
  bool large = false;
  unsigned grid_x = 1, grid_y = 1, block_x = 32, block_z = 1, shared = 0;
  int opt_in = 0;
};

struct Answer {
  int error;
  std::string report;
};

Answer ask(const simt::Limits& limits, const Launch& l) {
  simt::Options options;
  options.limits = limits;
  simt::Device device(options);
  simt::Module module(device, compiled());
  auto* launch = module.function<int(bool, unsigned, unsigned, unsigned, unsigned, unsigned, int)>("launch");
  Answer answer{launch(l.large, l.grid_x, l.grid_y, l.block_x, l.block_z, l.shared, l.opt_in), {}};
  for (const simt::Report& report : device.reports()) {
    EXPECT_EQ(report.kind, simt::Kind::launch_limit);
    answer.report += report.what;
  }
  return answer;
}

void expect(const Launch& launch, int error, const std::string& report, const char* architecture = "sm_80") {
  const Answer answer = ask(simt::Limits::of(architecture), launch);
  EXPECT_EQ(answer.error, error);
  EXPECT_EQ(answer.report, report);
}

TEST(Limits, AllowWhatIsUsual) { expect({}, 0, ""); }

TEST(Limits, OfBlocks) {
  expect({.block_x = 1024}, 0, "");
  expect({.block_x = 1025}, invalid_configuration,
         "a block of (1025,1,1) threads; sm_80 allows (1024,1024,64)");
  expect({.block_x = 64, .block_z = 32}, invalid_configuration, "a block of 2048 threads; sm_80 allows 1024");
  expect({.block_x = 1, .block_z = 65}, invalid_configuration,
         "a block of (1,1,65) threads; sm_80 allows (1024,1024,64)");
  expect({.block_x = 0}, invalid_configuration, "a block of (0,1,1) threads is empty");
}

TEST(Limits, OfTheKernelItself) {
  simt::Device device;
  simt::Module module(device, simt::compile(R"(
namespace {
constexpr int warps = 2;
#define LANES 32
__global__ void __launch_bounds__(LANES * warps, 2) bounded() {}
__launch_bounds__(32) __global__ void after() {}  // __launch_bounds__(1) f() {
__global__ void __launch_bounds__(64) free_of_bounds();
__global__ void free_of_bounds() {}
namespace other {
__global__ void __launch_bounds__(128) bounded(/* ) {} */) { __shared__ int used[32]; used[0] = ')'; }
}
template <int n>
__global__ void __launch_bounds__(warps *
                                  n) scaled() {}
static_assert(__LINE__ == 15, "lines stay where they are");
void (*kernels[])() = {bounded, after, other::bounded, scaled<3>, free_of_bounds};
}
extern "C" int launch(int kernel, unsigned threads) {
  return cudaLaunchKernel(kernels[kernel], dim3(1), dim3(threads), nullptr);
}
)"));
  auto* launch = module.function<int(int kernel, unsigned threads)>("launch");
  const unsigned bounds[] = {64, 32, 128, 6};
  for (int kernel = 0; kernel < 4; ++kernel) {
    EXPECT_EQ(launch(kernel, bounds[kernel]), 0) << kernel;
    EXPECT_EQ(launch(kernel, bounds[kernel] + 1), invalid_value) << kernel;
  }
  EXPECT_EQ(launch(4, 1024), 0);
  ASSERT_FALSE(device.reports().empty());
  EXPECT_EQ(device.reports()[0].what, "a block of 65 threads; the kernel's __launch_bounds__ allow 64");
}

TEST(Limits, OfGrids) {
  expect({.grid_y = 65535}, 0, "");
  expect({.grid_y = 65536}, invalid_configuration,
         "a grid of (1,65536,1) blocks; sm_80 allows (2147483647,65535,65535)");
  expect({.grid_x = 0}, invalid_configuration, "a grid of (0,1,1) blocks is empty");
}

TEST(Limits, OfSharedMemory) {
  expect({.shared = 49152}, 0, "");
  expect({.shared = 49153}, invalid_value,
         "49153 bytes of shared memory; sm_80 allows 49152 unless cudaFuncSetAttribute asks for more");
  expect({.large = true, .shared = 9153}, invalid_value,
         "49153 bytes of shared memory; sm_80 allows 49152 unless cudaFuncSetAttribute asks for more");
  expect({.shared = 100000, .opt_in = 100000}, 0, "");
  expect({.shared = 100001, .opt_in = 100000}, invalid_value,
         "100001 bytes of shared memory; sm_80 allows 100000");
  expect({.opt_in = 166913}, invalid_value, "166913 bytes of dynamic shared memory; sm_80 allows 166912");
  expect({.shared = 65536, .opt_in = 65536}, 0, "", "sm_75");
  expect({.opt_in = 65537}, invalid_value, "65537 bytes of dynamic shared memory; sm_75 allows 65536",
         "sm_75");
}

TEST(Limits, OfRegisters) {
  simt::Limits limits = simt::Limits::of("sm_90");
  limits.registers["plain"] = 128;
  EXPECT_EQ(ask(limits, {.block_x = 512}).error, 0);
  const Answer answer = ask(limits, {.block_x = 513});
  EXPECT_EQ(answer.error, out_of_resources);
  EXPECT_EQ(answer.report, "69632 registers (128 for each of 513 threads); sm_90 allows 65536");
}

TEST(Limits, AreAttributesOfTheDevice) {
  simt::Options options;
  options.limits = simt::Limits::of("sm_90");
  simt::Device device(options);
  simt::Module module(device, compiled());
  auto* attribute = module.function<int(int)>("attribute");
  EXPECT_EQ(attribute(75), 9);
  EXPECT_EQ(attribute(76), 0);
  EXPECT_EQ(attribute(97), 227 * 1024);
  EXPECT_EQ(attribute(16), 132);
}

TEST(Limits, LeaveRoomForBlocks) {
  simt::Options options;
  options.limits = simt::Limits::of("sm_90");
  options.limits.registers["plain"] = 128;
  simt::Device device(options);
  simt::Module module(device, compiled());
  auto* blocks = module.function<int(bool, int)>("blocks_at_a_time");
  EXPECT_EQ(blocks(false, 32), 16);  // of 4096 of 65536 registers
  EXPECT_EQ(blocks(false, 256), 2);
  EXPECT_EQ(blocks(true, 32), 5);    // of 40000 and 1024 of 228 * 1024 bytes
  EXPECT_EQ(blocks(true, 1024), 2);  // of 2048 threads
  EXPECT_EQ(blocks(true, 2048), 0);  // too many for one
}

TEST(Limits, OfUnknownArchitectures) { EXPECT_THROW(simt::Limits::of("sm_42"), simt::Failure); }

}  // namespace
