#include "compile/sass.h"

#include "compile/device_compiler.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace weft::compile {
namespace {

using namespace testing_support;

class Sass : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    try {
      compiler_.emplace();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    const std::vector<int> known = compiler_->nvrtc().architectures();
    if (std::find(known.begin(), known.end(), GetParam()) == known.end())
      GTEST_SKIP() << "CUDA " << compiler_->nvrtc().version() << " does not compile for sm_" << GetParam();
  }

  SassCode code_of(const std::string& body) const {
    const std::string text =
        "extern \"C\" __global__ void kernel(const float* in, float* out, int n) {\n" + body + "}\n";
    const DeviceFlags flags{"sm_" + std::to_string(GetParam()), true, {"--generate-line-info"}};
    return sass_of(compiler_->compile(text, flags, cache_).cubin).at("kernel");
  }
  static int count(const SassCode& code, SassKind kind, int bytes = 0) {
    int found = 0;
    for (const SassInstruction& each : code)
      found += each.kind == kind && (bytes == 0 || each.bytes == bytes) ? 1 : 0;
    return found;
  }

  TemporaryFolder folder_;
  ContentCache cache_{folder_.path()};
  std::optional<DeviceCompiler> compiler_;
};

/// Of a warp that goes through a kernel without loops.
double clocks(const SassCode& code, double latency) {
  const std::vector<SassBlock> blocks = blocks_of(code);
  const std::vector<bool> none(code.size(), false);
  return clocks_of(code, blocks, path_through(code, blocks, {}, -1, {}, none, 0), latency);
}

TEST_P(Sass, KnowsWhatAWarpWaitsFor) {
  const double chain = clocks(code_of(R"(
  float x = in[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 64; ++i) x = x * x + 1.f;
  out[threadIdx.x] = x;
)"),
                              30);
  EXPECT_GE(chain, 64 * 4) << "an addition has its result after 4 clocks";
  const double four_chains = clocks(code_of(R"(
  float x = in[threadIdx.x], y = x + 1.f, z = x + 2.f, w = x + 3.f;
#pragma unroll
  for (int i = 0; i < 16; ++i) x = x * x + 1.f, y = y * y + 1.f, z = z * z + 1.f, w = w * w + 1.f;
  out[threadIdx.x] = x + y + z + w;
)"),
                                    30);
  EXPECT_LT(four_chains, 0.7 * chain);
  const SassCode shared = code_of(R"(
  __shared__ int next[256];
  next[threadIdx.x] = n;
  __syncthreads();
  out[threadIdx.x] = next[next[next[threadIdx.x & 7] & 7] & 7];
)");
  EXPECT_GE(clocks(shared, 30) - clocks(shared, 0), 2 * 20) << "three loads, one after the other";
}

TEST_P(Sass, KnowsKindsAndWidths) {
  const SassCode code = code_of(R"(
  __shared__ float rows[1024];
  const float4 wide = ((const float4*)in)[threadIdx.x];
  rows[threadIdx.x] = wide.x * wide.y;
  __syncthreads();
  const float other = __shfl_down_sync(0xffffffffu, rows[(threadIdx.x * 7) & 1023], 1);
  ((float4*)out)[threadIdx.x] = make_float4(other, wide.z, wide.w, sqrtf(other));
)");
  EXPECT_EQ(count(code, SassKind::GlobalLoad), 1);
  EXPECT_EQ(count(code, SassKind::GlobalLoad, 16), 1);
  EXPECT_EQ(count(code, SassKind::GlobalStore, 16), 1);
  EXPECT_EQ(count(code, SassKind::SharedLoad, 4), 1);
  EXPECT_EQ(count(code, SassKind::SharedStore, 4), 1);
  EXPECT_EQ(count(code, SassKind::Shuffle), 1);
  EXPECT_GE(count(code, SassKind::Barrier), 1);
  EXPECT_GE(count(code, SassKind::Float), 1);
  EXPECT_GE(count(code, SassKind::Special), 1);  // the root's estimate
  EXPECT_EQ(count(code, SassKind::LocalLoad) + count(code, SassKind::LocalStore), 0);
}

/// Rows that a warp marches down, four at a time, 16 bytes per lane.
TEST_P(Sass, FindsAnUnrolledLoopAndItsLines) {
  const SassCode code = code_of(R"(
#pragma unroll 4
  for (int y = 0; y < n; ++y)
    ((float4*)out)[y * 32 + threadIdx.x] = make_float4(in[y], in[y + 1], 1, 2);
)");
  const auto blocks = blocks_of(code);
  const auto loops = loops_of(blocks);
  ASSERT_FALSE(loops.empty());
  const std::vector<bool> none(code.size(), false);
  std::vector<int> stores;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const SassPath path = path_through(code, blocks, loops, static_cast<int>(l), {}, none, 0);
    stores.push_back(static_cast<int>(path.stored / 16));
    EXPECT_EQ(path.stored % 16, 0);
  }
  EXPECT_NE(std::find(stores.begin(), stores.end(), 4), stores.end());
  for (const SassInstruction& each : code)
    if (each.kind == SassKind::GlobalStore) EXPECT_EQ(each.line, 5);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Sass, ::testing::Values(75, 80, 90, 120),
                         [](const auto& info) { return "sm_" + std::to_string(info.param); });

/// Where ways fork: 0 -> 1 or 2 -> 3, a loop of 3 on itself -> 4 or 5 -> 5.
SassCode forked() {
  SassInstruction plain, store;
  store.kind = SassKind::GlobalStore, store.bytes = 4;
  const auto branch = [](int target, bool goes_on) {
    SassInstruction each;
    each.target = target, each.goes_on = goes_on;
    return each;
  };
  SassInstruction end;
  end.goes_on = false;
  return {branch(3, true), store, branch(4, false),
          plain,                                    // 0; 1: 1, 2; 2: 3
          store,           store, branch(4, true),  // a loop that stores twice
          branch(9, true), store, end};             // what it leaves over
}

TEST(SassPaths, StoreMostAndWhatIsLeftOver) {
  const SassCode code = forked();
  const auto blocks = blocks_of(code);
  const auto loops = loops_of(blocks);
  ASSERT_EQ(loops.size(), 1u);
  const std::vector<bool> none(code.size(), false);
  const SassPath inner = path_through(code, blocks, loops, 0, {}, none, 0);
  EXPECT_EQ(inner.stored, 8);
  const auto whole = [&](const std::vector<bool>& counted, std::int64_t wanted) {
    return path_through(code, blocks, loops, -1, {{0, inner}}, counted, wanted).stored;
  };
  EXPECT_EQ(whole(none, 0), 4 + 8 + 4);
  std::vector<bool> counted = none;
  counted[8] = true;
  EXPECT_EQ(whole(counted, 0), 4 + 8);
  EXPECT_EQ(whole(counted, 4), 4 + 8 + 4);
}

}  // namespace
}  // namespace weft::compile
