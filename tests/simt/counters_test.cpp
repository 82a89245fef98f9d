// Counters against numbers counted by hand.
#include "simt/simt.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using simt::Counts;

const char* const text = R"(
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][WIDTH];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * n + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void vectors(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void shifted(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x + 1]; }
__global__ void strided(const float* in, float* out) { out[threadIdx.x] = in[8 * threadIdx.x]; }
__global__ void together(float* out, int* sum) {
  float v = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  __syncwarp();
  if (__any_sync(0xffffffffu, v > 0)) atomicAdd(sum, 1);
  __syncthreads();
  out[threadIdx.x] = v;
}
__global__ void divergent(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (i % 2 == static_cast<int>(threadIdx.x) % 2) sum += in[32 * i + threadIdx.x];
    __syncwarp();
  }
  out[threadIdx.x] = sum;
}
template <class... P> void go(void (*kernel)(P...), dim3 block, P... p) {
  void* arguments[] = {&p...};
  cudaLaunchKernel(kernel, dim3(1), block, arguments, 0, 0);
}
extern "C" void run(float* in, float* out) {
  go<const float*, float*, int>(transpose, dim3(32, 32), in, out, 32);
  go<const float4*, float4*>(vectors, dim3(64), (float4*)in, (float4*)out);
  go<const float*, float*>(shifted, dim3(32), in, out);
  go<const float*, float*>(strided, dim3(32), in, out);
  go<float*, int*>(together, dim3(64), out, (int*)in);
  go<const float*, float*>(divergent, dim3(32), in, out);
}
)";

std::vector<simt::KernelCounts> counts(simt::Build build, const char* width, std::uint64_t seed) {
  simt::Options options;
  options.count = true;
  options.seed = seed;
  simt::Device device(options);
  simt::CompileOptions how;
  how.build = build;
  how.flags = {std::string("-DWIDTH=") + width};
  const simt::Module module(device, simt::compile(text, how));
  std::vector<float> zeros(4096);
  auto* in = static_cast<float*>(device.allocate(4096 * sizeof(float)));
  auto* out = static_cast<float*>(device.allocate(4096 * sizeof(float)));
  device.copy_to_device(in, zeros.data(), 4096 * sizeof(float));
  module.function<void(float*, float*)>("run")(in, out);
  EXPECT_EQ(device.synchronize(), 0);
  for (const simt::Report& report : device.reports()) ADD_FAILURE() << to_string(report);
  return device.counts();
}

Counts of(const std::vector<simt::KernelCounts>& all, const std::string& kernel) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& k) { return k.kernel == kernel; });
  return found == all.end() ? Counts{} : found->total;
}

class Counters : public testing::TestWithParam<std::tuple<simt::Build, std::uint64_t>> {
 protected:
  std::vector<simt::KernelCounts> with_width(const char* width) const {
    return counts(std::get<0>(GetParam()), width, std::get<1>(GetParam()));
  }
};

TEST_P(Counters, OfBankConflicts) {
  const Counts padded = of(with_width("33"), "transpose"), bad = of(with_width("32"), "transpose");
  EXPECT_EQ(padded.bank_passes, 32u + 32u);
  EXPECT_EQ(padded.least_bank_passes, 32u + 32u);
  EXPECT_EQ(bad.bank_passes, 32u + 32u * 32u);
  EXPECT_EQ(bad.least_bank_passes, 32u + 32u);
  EXPECT_EQ(bad.barriers, 32u);
}

TEST_P(Counters, OfSectors) {
  const auto all = with_width("33");
  const Counts transpose = of(all, "transpose"), vectors = of(all, "vectors"), shifted = of(all, "shifted"),
               strided = of(all, "strided");
  EXPECT_EQ(transpose.sectors_loaded, 32u * 4u);
  EXPECT_EQ(transpose.sectors_stored, 32u * 4u);
  EXPECT_EQ(vectors.sectors_loaded, 2u * 16u);
  EXPECT_EQ(vectors.least_sectors_loaded, 2u * 16u);
  EXPECT_EQ(shifted.sectors_loaded, 5u);
  EXPECT_EQ(shifted.least_sectors_loaded, 4u);
  EXPECT_EQ(strided.sectors_loaded, 32u);
  EXPECT_EQ(strided.least_sectors_loaded, 4u);
  EXPECT_EQ(strided.sectors_stored, 4u);
}

TEST_P(Counters, OfWhatLanesDoTogether) {
  const Counts together = of(with_width("33"), "together");
  EXPECT_EQ(together.shuffles, 2u * 5u);
  EXPECT_EQ(together.warp_barriers, 2u);
  EXPECT_EQ(together.votes, 2u);
  EXPECT_EQ(together.atomics, 64u);
  EXPECT_EQ(together.barriers, 2u);
}

// Lanes that skip an execution do not lend theirs to another one.
TEST_P(Counters, OfDivergentLanes) { EXPECT_EQ(of(with_width("33"), "divergent").sectors_loaded, 4u * 4u); }

INSTANTIATE_TEST_SUITE_P(Simt, Counters,
                         testing::Combine(testing::Values(simt::Build::race, simt::Build::address),
                                          testing::Values(0, 7)),
                         [](const auto& info) {
                           return std::string(name_of(std::get<0>(info.param))) + "_seed_" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(CountersPerLine, NameTheLine) {
  for (const simt::KernelCounts& kernel : counts(simt::Build::race, "33", 1)) {
    if (kernel.kernel != "transpose") continue;
    EXPECT_EQ(kernel.launches, 1u);
    EXPECT_EQ(kernel.threads, 1024u);
    ASSERT_EQ(kernel.lines.size(), 3u);
    EXPECT_EQ(kernel.lines[0].place.line, 4);
    EXPECT_EQ(kernel.lines[0].counts.sectors_loaded, 128u);
    EXPECT_EQ(kernel.lines[0].counts.bank_passes, 32u);
    EXPECT_EQ(kernel.lines[1].place.line, 5);
    EXPECT_EQ(kernel.lines[1].counts.barriers, 32u);
    EXPECT_EQ(kernel.lines[2].place.line, 6);
    EXPECT_EQ(kernel.lines[2].counts.sectors_stored, 128u);
  }
}

TEST(CountersAsJson, AreOneArray) {
  Counts counts;
  counts.sectors_loaded = 4;
  counts.least_sectors_loaded = 3;
  counts.atomics = 9;
  const std::string members =
      R"("sectors_loaded": 4, "sectors_stored": 0, "least_sectors_loaded": 3, "least_sectors_stored": 0, )"
      R"("bank_passes": 0, "least_bank_passes": 0, "barriers": 0, "warp_barriers": 0, "shuffles": 0, "votes": 0, )"
      R"("atomics": 9)";
  EXPECT_EQ(simt::to_json({{"k<\"1\">", 1, 32, counts, {{{"a.cu", 3}, counts}}}}),
            "[\n  {\"kernel\": \"k<\\\"1\\\">\", \"launches\": 1, \"threads\": 32, " + members +
                ",\n   \"lines\": [\n    {\"file\": \"a.cu\", \"line\": 3, " + members + "}]}\n]\n");
}

}  // namespace
