// The boards' numbers. Fractions of the bandwidth are of double-precision streams at full occupancy, as
// gpu-benches measured them, and of a copy of one large tensor on the H200. Latencies come from chasing
// pointers, costs of launches from fitting time = launch + bytes / L2 bandwidth to kernels that follow one
// another. What was measured on a sibling is marked as assumed, and so are the oldest boards' fractions. The
// clock of the B200 is not the device's answer but vendor's data from memory.
#include "machine/board.h"

namespace weft::machine {
namespace {

constexpr std::int64_t MiB = KiB * KiB;

constexpr Fact measured(double value) { return {value, Source::GpuBenches}; }
constexpr Fact own(double value) { return {value, Source::OwnRun}; }
constexpr Fact assumed(double value) { return {value, Source::Assumed}; }
constexpr Fact in_papers(double value) { return {value, Source::Papers}; }

}  // namespace

std::span<const Board> boards() {
  // One group of numbers a line.
  // clang-format off
  static const Board all[] = {
      {.name = "gtx470", .title = "NVIDIA GeForce GTX 470", .major = 2, .minor = 0,
       .multiprocessors = 14, .base_mhz = 607, .boost_mhz = 1215,
       .memory = {"GDDR5", 320, 3.348}, .l2 = 640 * KiB, .source = Source::VendorData,
       .copy_fraction = assumed(0.85), .dram_latency = in_papers(400), .shared_latency = assumed(28)},
      {.name = "nvs5200m", .title = "NVIDIA NVS 5200M", .major = 2, .minor = 1,
       .multiprocessors = 2, .base_mhz = 625, .boost_mhz = 1250,
       .memory = {"DDR3", 64, 1.8}, .l2 = 128 * KiB, .source = Source::VendorData,
       .copy_fraction = assumed(0.85), .dram_latency = in_papers(400), .shared_latency = assumed(28)},
      {.name = "gtx680", .title = "NVIDIA GeForce GTX 680", .major = 3, .minor = 0,
       .multiprocessors = 8, .base_mhz = 1006, .boost_mhz = 1058,
       .memory = {"GDDR5", 256, 6.008}, .l2 = 512 * KiB, .source = Source::PapersAndVendor,
       .copy_fraction = assumed(0.85), .dram_latency = in_papers(400), .shared_latency = assumed(28)},
      {.name = "k20c", .title = "NVIDIA Tesla K20c", .major = 3, .minor = 5,
       .multiprocessors = 13, .base_mhz = 706, .boost_mhz = 706,
       .memory = {"GDDR5", 320, 5.2}, .l2 = 1280 * KiB, .source = Source::PapersAndVendor,
       .copy_fraction = assumed(0.85), .dram_latency = in_papers(400), .shared_latency = assumed(28)},
      {.name = "gtx745", .title = "NVIDIA GeForce GTX 745 (OEM)", .major = 5, .minor = 0,
       .multiprocessors = 3, .base_mhz = 1033, .boost_mhz = 1033,
       .memory = {"DDR3", 128, 1.8}, .l2 = 2 * MiB, .source = Source::PapersAndVendor,
       .copy_fraction = assumed(0.85), .dram_latency = in_papers(400), .shared_latency = assumed(28)},
      {.name = "gtx1080ti", .title = "NVIDIA GeForce GTX 1080 Ti", .major = 6, .minor = 1,
       .multiprocessors = 28, .base_mhz = 1481, .boost_mhz = 1582,
       .memory = {"GDDR5X", 352, 11}, .l2 = 2816 * KiB, .source = Source::PapersAndVendor,
       .copy_fraction = assumed(0.85), .dram_latency = in_papers(400), .shared_latency = assumed(28)},
      {.name = "v100", .title = "NVIDIA V100 SXM2", .major = 7, .minor = 0,
       .multiprocessors = 80, .base_mhz = 1530, .boost_mhz = 1530,
       .memory = {"HBM2", 4096, 1.752}, .l2 = 6 * MiB, .source = Source::Papers,
       .copy_fraction = assumed(0.90), .read_fraction = assumed(0.97), .dram_latency = assumed(434),
       .shared_latency = assumed(28), .l2_bandwidth = assumed(2200)},
      {.name = "v100-pcie", .title = "NVIDIA V100 PCIe", .major = 7, .minor = 0,
       .multiprocessors = 80, .base_mhz = 1380, .boost_mhz = 1380,
       .memory = {"HBM2", 4096, 1.752}, .l2 = 6 * MiB, .source = Source::Papers,
       .copy_fraction = measured(0.90), .read_fraction = measured(0.97), .dram_latency = measured(434),
       .shared_latency = measured(28), .l2_bandwidth = assumed(2200)},
      {.name = "rtx2080", .title = "NVIDIA GeForce RTX 2080", .major = 7, .minor = 5,
       .multiprocessors = 46, .base_mhz = 1515, .boost_mhz = 1710,
       .memory = {"GDDR6", 256, 14}, .l2 = 4 * MiB, .source = Source::PapersAndVendor,
       .copy_fraction = assumed(0.90), .dram_latency = assumed(434), .shared_latency = assumed(28)},
      {.name = "titan-rtx", .title = "NVIDIA TITAN RTX", .major = 7, .minor = 5,
       .multiprocessors = 72, .base_mhz = 1350, .boost_mhz = 1770,
       .memory = {"GDDR6", 384, 14}, .l2 = 6 * MiB, .source = Source::Papers,
       .copy_fraction = assumed(0.90), .dram_latency = assumed(434), .shared_latency = assumed(28)},
      {.name = "a100", .title = "NVIDIA A100 SXM 40 GB", .major = 8, .minor = 0,
       .multiprocessors = 108, .base_mhz = 1410, .boost_mhz = 1410,
       .memory = {"HBM2", 5120, 2.43}, .l2 = 40 * MiB, .source = Source::Papers,
       .copy_fraction = measured(0.89), .read_fraction = measured(0.96), .dram_latency = assumed(552),
       .shared_latency = assumed(33), .stream_launch = assumed(2.62), .graph_launch = assumed(1.31),
       .l2_bandwidth = assumed(3900)},
      {.name = "a100-80", .title = "NVIDIA A100 SXM 80 GB", .major = 8, .minor = 0,
       .multiprocessors = 108, .base_mhz = 1410, .boost_mhz = 1410,
       .memory = {"HBM2e", 5120, 3.186}, .l2 = 40 * MiB, .source = Source::Papers,
       .copy_fraction = measured(0.85), .read_fraction = measured(0.87), .dram_latency = measured(552),
       .shared_latency = measured(33), .stream_launch = measured(2.62), .graph_launch = measured(1.31),
       .l2_bandwidth = measured(3900)},
      {.name = "rtx4090", .title = "NVIDIA GeForce RTX 4090", .major = 8, .minor = 9,
       .multiprocessors = 128, .base_mhz = 2235, .boost_mhz = 2520,
       .memory = {"GDDR6X", 384, 21}, .l2 = 72 * MiB, .source = Source::VendorData,
       .copy_fraction = assumed(0.91), .read_fraction = assumed(0.98), .dram_latency = assumed(625),
       .shared_latency = assumed(34), .stream_launch = assumed(1.59), .graph_launch = assumed(0.96),
       .l2_bandwidth = assumed(4500)},
      {.name = "h100", .title = "NVIDIA H100 SXM5", .major = 9, .minor = 0,
       .multiprocessors = 132, .base_mhz = 1980, .boost_mhz = 1980,
       .memory = {"HBM3", 5120, 5.238}, .l2 = 50 * MiB, .source = Source::OwnRun,
       .copy_fraction = own(0.90), .read_fraction = own(0.943), .dram_latency = own(697),
       .shared_latency = own(29), .stream_launch = assumed(2.44), .graph_launch = assumed(1.23),
       .l2_bandwidth = assumed(6100), .code_fetch = own(19)},
      {.name = "h100-pcie", .title = "NVIDIA H100 PCIe", .major = 9, .minor = 0,
       .multiprocessors = 114, .base_mhz = 1755, .boost_mhz = 1755,
       .memory = {"HBM2e", 5120, 3.186}, .l2 = 50 * MiB, .source = Source::VendorData,
       .copy_fraction = measured(0.84), .read_fraction = measured(0.95), .dram_latency = assumed(689),
       .shared_latency = assumed(32), .stream_launch = assumed(2.44), .graph_launch = assumed(1.23)},
      {.name = "h200", .title = "NVIDIA H200 SXM", .major = 9, .minor = 0,
       .multiprocessors = 132, .base_mhz = 1980, .boost_mhz = 1980,
       .memory = {"HBM3e", 6144, 6.25}, .l2 = 60 * MiB, .source = Source::OwnRun,
       .copy_fraction = own(0.90), .read_fraction = assumed(0.95), .dram_latency = assumed(689),
       .shared_latency = assumed(32), .stream_launch = measured(2.44), .graph_launch = measured(1.23),
       .l2_bandwidth = measured(6100)},
      {.name = "b200", .title = "NVIDIA B200", .major = 10, .minor = 0,
       .multiprocessors = 148, .base_mhz = 1965, .boost_mhz = 1965,
       .memory = {"HBM3e", 7680, 7.992}, .l2 = 126 * MiB + 512 * KiB, .source = Source::DeviceQuery,
       .copy_fraction = assumed(0.90), .read_fraction = assumed(0.95), .dram_latency = assumed(689),
       .shared_latency = assumed(32), .stream_launch = assumed(2.44), .graph_launch = assumed(1.23)},
      {.name = "rtx5090", .title = "NVIDIA GeForce RTX 5090", .major = 12, .minor = 0,
       .multiprocessors = 170, .base_mhz = 2017, .boost_mhz = 2407,
       .memory = {"GDDR7", 512, 28}, .l2 = 96 * MiB, .source = Source::VendorData,
       .copy_fraction = assumed(0.91), .read_fraction = assumed(0.98), .dram_latency = assumed(625),
       .shared_latency = assumed(34), .stream_launch = assumed(1.59), .graph_launch = assumed(0.96)},
  };
  // clang-format on
  return all;
}

}  // namespace weft::machine
