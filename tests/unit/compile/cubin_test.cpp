// What is read from a cubin, against what the assembler says of it and against NVIDIA's cuobjdump.
#include "compile/cubin.h"

#include "compile/nvrtc.h"
#include "compile/process.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

namespace weft::compile {
namespace {

using namespace testing_support;

namespace fs = std::filesystem;

// One kernel for each thing that is read.
const char* const kernels = R"(
extern "C" __global__ void point(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

extern "C" __global__ void staged(const float* in, float* out) {
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" __global__ void indexed(const int* in, int* out) {
  int table[64];
  for (int i = 0; i < 64; ++i) table[i] = in[i];
  for (int i = 0; i < 99; ++i) table[in[i] & 63] += i;
  for (int i = 0; i < 64; ++i) out[64 * threadIdx.x + i] = table[i];
}

extern "C" __global__ void __launch_bounds__(1024) crowded(const float* in, float* out) {
  float values[120];
  #pragma unroll
  for (int i = 0; i < 120; ++i) values[i] = in[32 * i + threadIdx.x];
  float sum = 0;
  #pragma unroll
  for (int k = 0; k < 3; ++k) {
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 120; ++i) sum += values[i] * values[(7 * i + k) % 120];
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void meeting(float* out) {
  asm volatile("bar.sync 3, 64;");
  out[threadIdx.x] = 1;
}

__device__ __noinline__ float apart(float x) { return x * x + 1; }
extern "C" __global__ void calling(const float* in, float* out) { out[threadIdx.x] = apart(in[threadIdx.x]); }
)";

struct Compiled {
  std::string cubin, log;
  std::map<std::string, KernelResources> resources;
};

class Cubin : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    try {
      nvrtc_.emplace();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    const std::vector<int> known = nvrtc_->architectures();
    if (std::find(known.begin(), known.end(), GetParam()) == known.end())
      GTEST_SKIP() << "CUDA " << nvrtc_->version() << " does not compile for sm_" << GetParam();
  }

  Compiled compile(const std::string& source = kernels) const {
    const auto result = nvrtc_->compile(
        source, "kernels.cu", {"--gpu-architecture=sm_" + std::to_string(GetParam()), "--ptxas-options=-v"});
    EXPECT_TRUE(result.compiled) << result.log;
    return {result.cubin, result.log, resources_of(result.cubin)};
  }

 private:
  std::optional<Nvrtc> nvrtc_;
};

INSTANTIATE_TEST_SUITE_P(ForEachArchitecture, Cubin, ::testing::Values(75, 80, 90, 120),
                         [](const auto& info) { return "sm_" + std::to_string(info.param); });

TEST_P(Cubin, TellsWhatEachKernelTakes) {
  const auto resources = compile().resources;
  ASSERT_EQ(resources.size(), 6u) << "functions that are no kernels do not count";

  const KernelResources& point = resources.at("point");
  EXPECT_GE(point.registers, 4);
  EXPECT_LE(point.registers, 32);
  EXPECT_EQ(point.static_shared, 0);
  EXPECT_EQ(point.local_memory, 0);
  EXPECT_EQ(point.barriers, 0);
  EXPECT_EQ(point.max_threads, 0);
  EXPECT_FALSE(point.spills());

  EXPECT_EQ(resources.at("staged").static_shared, 1024);
  EXPECT_EQ(resources.at("staged").barriers, 1);
  EXPECT_EQ(resources.at("meeting").barriers, 4) << "0 to 3";

  EXPECT_EQ(resources.at("indexed").local_memory, 256);
  EXPECT_FALSE(resources.at("indexed").spills()) << "an array is no spill";

  const KernelResources& crowded = resources.at("crowded");
  EXPECT_EQ(crowded.max_threads, 1024);
  EXPECT_EQ(crowded.registers, 64);
  EXPECT_TRUE(crowded.spills());
  EXPECT_GT(crowded.local_memory, 0);
}

TEST_P(Cubin, TellsSharedMemoryOfTheKernelsOwnAndStaticAlone) {
  const auto resources = compile(R"(
    extern __shared__ float sized_at_launch[];
    extern "C" __global__ void dynamic(float* out) {
      sized_at_launch[threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = sized_at_launch[31 - threadIdx.x];
    }
    extern "C" __global__ void none(float* out) { out[threadIdx.x] = 1; }
  )")
                             .resources;
  EXPECT_EQ(resources.at("dynamic").static_shared, 0);
  EXPECT_EQ(resources.at("none").static_shared, 0);
}

TEST_P(Cubin, CountsInstructionsWithoutPadding) {
  const auto padded = [](const std::string& statements) {
    return "extern \"C\" __global__ void k(float* out) { asm volatile(\"" + statements + "\"); out[0] = 1; }";
  };
  const int without = compile(padded("")).resources.at("k").instructions;
  const int with = compile(padded("membar.gl; membar.gl;")).resources.at("k").instructions;
  EXPECT_GE(without, 4);
  EXPECT_LE(without, 12);
  EXPECT_GT(with, without);
  EXPECT_LT(with, without + 16) << "text grows in portions of 8 instructions";
}

/// As `ptxas -v` prints it, for each kernel.
std::map<std::string, KernelResources> reported_in(const std::string& log) {
  std::map<std::string, KernelResources> reported;
  const auto number_before = [](const std::string& line, const std::string& what) {
    std::smatch match;
    return std::regex_search(line, match, std::regex("([0-9]+) " + what)) ? std::stoi(match[1]) : 0;
  };
  KernelResources* kernel = nullptr;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, std::regex("Compiling entry function '(\\w+)'")))
      kernel = &reported[match[1]];
    if (!kernel) continue;
    if (line.find("stack frame") != std::string::npos && kernel->registers == 0) {
      kernel->local_memory = number_before(line, "bytes stack frame");
      kernel->spill_stores = number_before(line, "bytes spill stores");
      kernel->spill_loads = number_before(line, "bytes spill loads");
    }
    if (const int registers = number_before(line, "registers")) {
      kernel->registers = registers;
      kernel->barriers = number_before(line, "barriers");
      kernel->static_shared = number_before(line, "bytes smem");
    }
  }
  return reported;
}

TEST_P(Cubin, AgreesWithTheAssemblersReport) {
  const Compiled compiled = compile();
  auto reported = reported_in(compiled.log);
  ASSERT_EQ(reported.size(), compiled.resources.size()) << compiled.log;
  for (auto [name, kernel] : compiled.resources) {
    kernel.max_threads = kernel.instructions = 0;  // It says nothing about these.
    const KernelResources& expected = reported.at(name);
    EXPECT_EQ(kernel.registers, expected.registers) << name;
    EXPECT_EQ(kernel.static_shared, expected.static_shared) << name;
    EXPECT_EQ(kernel.local_memory, expected.local_memory) << name;
    EXPECT_EQ(kernel.spill_stores, expected.spill_stores) << name;
    EXPECT_EQ(kernel.spill_loads, expected.spill_loads) << name;
    EXPECT_EQ(kernel.barriers, expected.barriers) << name;
  }
}

TEST_P(Cubin, AgreesWithCuobjdump) {
  if (!find_program("cuobjdump")) GTEST_SKIP() << "cuobjdump is not on PATH";
  const TemporaryFolder folder;
  const Compiled compiled = compile();
  write(folder / "kernels.cubin", compiled.cubin);
  const std::string usage =
      run_process({"cuobjdump", "-res-usage", (folder / "kernels.cubin").string()}).output;
  const int reserved = GetParam() >= 90 ? 1024 : 0;
  for (const auto& [name, kernel] : compiled.resources) {
    std::smatch match;
    ASSERT_TRUE(std::regex_search(
        usage, match, std::regex("Function " + name + ":\\s+REG:([0-9]+) STACK:([0-9]+) SHARED:([0-9]+) ")))
        << usage;
    EXPECT_EQ(kernel.registers, std::stoi(match[1])) << name;
    EXPECT_EQ(kernel.local_memory, std::stoi(match[2])) << name;
    const int shared = std::stoi(match[3]);  // with the driver's part, if there is any at all
    EXPECT_EQ(kernel.static_shared, shared == 0 ? 0 : shared - reserved) << name;
  }
}

TEST_P(Cubin, LeadsToTheOccupancyOfALaunch) {
  const auto resources = compile().resources;
  const auto& architecture = machine::architecture_named(std::to_string(GetParam()));
  const auto needs = needs_of(resources.at("staged"), 256, 512);
  EXPECT_EQ(needs.threads, 256);
  EXPECT_EQ(needs.static_shared, 1024);
  EXPECT_EQ(needs.dynamic_shared, 512);
  EXPECT_EQ(needs.barriers, 1);
  EXPECT_EQ(machine::occupancy(architecture, needs).fraction(), 1);
  EXPECT_EQ(machine::occupancy(architecture, needs_of(resources.at("crowded"), 1024)).blocks, 1);
}

TEST_P(Cubin, CutShortIsAnErrorOrWhole) {
  const std::string whole = compile().cubin;
  const auto expected = resources_of(whole);
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    try {
      EXPECT_EQ(resources_of(std::string_view(whole).substr(0, size)), expected) << size;
    } catch (const Error&) {
    }
  }
}

TEST(CubinBytes, OfSomethingElseAreAnError) {
  EXPECT_EQ(message_of([] { resources_of(""); }), "this is no cubin: it ends too early");
  EXPECT_EQ(message_of([] { resources_of(std::string(64, 'x')); }),
            "this is no cubin: it does not begin as an ELF file");
  EXPECT_EQ(message_of([] { resources_of(read("/proc/self/exe")); }),
            "this is no cubin: it is an ELF file for another machine");
}

}  // namespace
}  // namespace weft::compile
