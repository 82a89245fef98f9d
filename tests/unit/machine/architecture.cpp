#include "machine/architecture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <weft/error.h>

#include <algorithm>

namespace weft::machine {
namespace {

std::string limits_of(const Architecture& a) {
  return fmt::format("{}: {} threads {} warps {} blocks, {}K/{}K/{} registers by {}, {} partitions", a.name(),
                     a.max_threads(), a.max_warps, a.max_blocks, a.registers / 1024,
                     a.registers_per_block / 1024, a.registers_per_thread, a.register_granularity,
                     a.partitions);
}

std::string memory_of(const Architecture& a) {
  return fmt::format("{}: {}/{}/{} KB shared by {}, {} reserved; {} KB cache", a.name(),
                     a.shared_memory / KiB, a.static_shared_per_block / KiB, a.shared_per_block / KiB,
                     a.shared_granularity, a.reserved_shared, a.unified_cache / KiB);
}

std::string lanes_of(const Architecture& a) {
  return fmt::format("{}: {} fp32, {} sfu, {} shared{}{}", a.name(), a.fp32_lanes, a.sfu_lanes,
                     a.shared_lanes, a.clocks_per_issue == 2 ? ", every other clock" : "",
                     a.dual_issue ? ", dual issue" : "");
}

template <class Describe>
std::vector<std::string> all(Describe describe) {
  std::vector<std::string> lines;
  for (const Architecture& a : architectures()) lines.push_back(describe(a));
  return lines;
}

// The families are written as changes to their predecessors; here is what each comes to.

TEST(Architecture, HasTheLimitsOfItsComputeCapability) {
  EXPECT_EQ(all(limits_of),
            (std::vector<std::string>{
                "sm_20: 1536 threads 48 warps 8 blocks, 32K/32K/63 registers by 64, 2 partitions",
                "sm_21: 1536 threads 48 warps 8 blocks, 32K/32K/63 registers by 64, 2 partitions",
                "sm_30: 2048 threads 64 warps 16 blocks, 64K/64K/63 registers by 256, 4 partitions",
                "sm_35: 2048 threads 64 warps 16 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_37: 2048 threads 64 warps 16 blocks, 128K/64K/255 registers by 256, 4 partitions",
                "sm_50: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_52: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_60: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 2 partitions",
                "sm_61: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_70: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_75: 1024 threads 32 warps 16 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_80: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_86: 1536 threads 48 warps 16 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_89: 1536 threads 48 warps 24 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_90: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_100: 2048 threads 64 warps 32 blocks, 64K/64K/255 registers by 256, 4 partitions",
                "sm_120: 1536 threads 48 warps 24 blocks, 64K/64K/255 registers by 256, 4 partitions",
            }));
}

TEST(Architecture, HasTheMemoryOfItsComputeCapability) {
  EXPECT_EQ(all(memory_of), (std::vector<std::string>{
                                "sm_20: 48/48/48 KB shared by 128, 0 reserved; 64 KB cache",
                                "sm_21: 48/48/48 KB shared by 128, 0 reserved; 64 KB cache",
                                "sm_30: 48/48/48 KB shared by 256, 0 reserved; 64 KB cache",
                                "sm_35: 48/48/48 KB shared by 256, 0 reserved; 64 KB cache",
                                "sm_37: 112/48/48 KB shared by 256, 0 reserved; 128 KB cache",
                                "sm_50: 64/48/48 KB shared by 256, 0 reserved; 24 KB cache",
                                "sm_52: 96/48/48 KB shared by 256, 0 reserved; 48 KB cache",
                                "sm_60: 64/48/48 KB shared by 256, 0 reserved; 24 KB cache",
                                "sm_61: 96/48/48 KB shared by 256, 0 reserved; 48 KB cache",
                                "sm_70: 96/48/96 KB shared by 256, 0 reserved; 128 KB cache",
                                "sm_75: 64/48/64 KB shared by 256, 0 reserved; 96 KB cache",
                                "sm_80: 164/48/163 KB shared by 128, 1024 reserved; 192 KB cache",
                                "sm_86: 100/48/99 KB shared by 128, 1024 reserved; 128 KB cache",
                                "sm_89: 100/48/99 KB shared by 128, 1024 reserved; 128 KB cache",
                                "sm_90: 228/48/227 KB shared by 128, 1024 reserved; 256 KB cache",
                                "sm_100: 228/48/227 KB shared by 128, 1024 reserved; 256 KB cache",
                                "sm_120: 100/48/99 KB shared by 128, 1024 reserved; 128 KB cache",
                            }));
}

TEST(Architecture, HasTheLanesOfItsComputeCapability) {
  EXPECT_EQ(all(lanes_of), (std::vector<std::string>{
                               "sm_20: 32 fp32, 4 sfu, 16 shared, every other clock",
                               "sm_21: 48 fp32, 8 sfu, 16 shared, every other clock, dual issue",
                               "sm_30: 192 fp32, 32 sfu, 32 shared, dual issue",
                               "sm_35: 192 fp32, 32 sfu, 32 shared, dual issue",
                               "sm_37: 192 fp32, 32 sfu, 32 shared, dual issue",
                               "sm_50: 128 fp32, 32 sfu, 32 shared, dual issue",
                               "sm_52: 128 fp32, 32 sfu, 32 shared, dual issue",
                               "sm_60: 64 fp32, 16 sfu, 32 shared, dual issue",
                               "sm_61: 128 fp32, 32 sfu, 32 shared, dual issue",
                               "sm_70: 64 fp32, 16 sfu, 32 shared",
                               "sm_75: 64 fp32, 16 sfu, 32 shared",
                               "sm_80: 64 fp32, 16 sfu, 32 shared",
                               "sm_86: 128 fp32, 16 sfu, 32 shared",
                               "sm_89: 128 fp32, 16 sfu, 32 shared",
                               "sm_90: 128 fp32, 16 sfu, 32 shared",
                               "sm_100: 128 fp32, 16 sfu, 32 shared",
                               "sm_120: 128 fp32, 16 sfu, 32 shared",
                           }));
}

TEST(Architecture, CarveOutsAscendToAllOfTheSharedMemory) {
  for (const Architecture& a : architectures()) {
    EXPECT_TRUE(std::is_sorted(a.carve_outs.begin(), a.carve_outs.end())) << a.name();
    EXPECT_EQ(a.carve_outs.back(), a.shared_memory) << a.name();
    EXPECT_LE(a.shared_per_block + a.reserved_shared, a.shared_memory) << a.name();
  }
}

TEST(Architecture, IsFoundByNumbersAndByName) {
  for (const Architecture& a : architectures()) {
    EXPECT_EQ(&architecture(a.major, a.minor), &a);
    EXPECT_EQ(&architecture_named(a.name()), &a);
    EXPECT_EQ(&architecture_named(a.name().substr(3)), &a);
    EXPECT_EQ(&architecture_named(fmt::format("{}.{}", a.major, a.minor)), &a);
  }
}

TEST(Architecture, OfACompilersNameIsTheNewestThatIsNotNewer) {
  const auto closest = [](std::string_view name) { return closest_architecture(name).name(); };
  EXPECT_EQ(closest("sm_90"), "sm_90");
  EXPECT_EQ(closest("sm_90a"), "sm_90");
  EXPECT_EQ(closest("sm_100f"), "sm_100");
  EXPECT_EQ(closest("sm_87"), "sm_86");
  EXPECT_EQ(closest("sm_103"), "sm_100");
  EXPECT_EQ(closest("sm_121"), "sm_120");
  for (const char* name : {"sm_13", "sm_", "sm_a", "sm_90ab", "90", "native", ""})
    EXPECT_THROW(closest_architecture(name), Error) << name;
}

TEST(Architecture, ThatDoesNotExistIsAnErrorThatListsThose) {
  try {
    architecture_named("sm_91");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no architecture 'sm_91'\n"
                 "  known sm_20, sm_21, sm_30, sm_35, sm_37, sm_50, sm_52, sm_60, sm_61, sm_70, sm_75, "
                 "sm_80, sm_86, sm_89, sm_90, sm_100, sm_120");
  }
  EXPECT_THROW(architecture(4, 0), Error);
}

}  // namespace
}  // namespace weft::machine
