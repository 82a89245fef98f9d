// Sources: granularities, partitions, blocks and carve-outs are those of cuda_occupancy.h (CUDA 13.0); warps,
// registers, lanes and limits per block those of the CUDA C++ Programming Guide, which CCCL's arch_traits.cuh
// confirms for 6.0 to 9.0. Fermi's (2.x), which neither covers any more, and the sizes of unified caches are
// from memory of vendor data.
#include "machine/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include <array>
#include <charconv>
#include <vector>

namespace weft::machine {
namespace {

constexpr std::int64_t fermi_carve_outs[] = {16 * KiB, 48 * KiB};
constexpr std::int64_t kepler_carve_outs[] = {16 * KiB, 32 * KiB, 48 * KiB};
constexpr std::int64_t large_kepler_carve_outs[] = {80 * KiB, 96 * KiB, 112 * KiB};
constexpr std::int64_t volta_carve_outs[] = {0, 8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 96 * KiB};
constexpr std::int64_t turing_carve_outs[] = {32 * KiB, 64 * KiB};
constexpr std::int64_t ampere_carve_outs[] = {0,        8 * KiB,   16 * KiB,  32 * KiB,
                                              64 * KiB, 100 * KiB, 132 * KiB, 164 * KiB};
constexpr std::int64_t small_ampere_carve_outs[] = {0, 8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 100 * KiB};
constexpr std::int64_t hopper_carve_outs[] = {0,         8 * KiB,   16 * KiB,  32 * KiB,  64 * KiB,
                                              100 * KiB, 132 * KiB, 164 * KiB, 196 * KiB, 228 * KiB};
constexpr std::int64_t only_64[] = {64 * KiB};
constexpr std::int64_t only_96[] = {96 * KiB};

// Each family is its predecessor with changes, as they are: the functions below say what is new.

Architecture fermi(int minor) {
  Architecture a;
  a.major = 2, a.minor = minor, a.family = "Fermi", a.source = Source::VendorData;
  a.max_warps = 48, a.max_blocks = 8, a.max_threads_per_block = 1024;
  a.registers = a.registers_per_block = 32 * 1024;
  a.registers_per_thread = 63, a.register_granularity = 64;
  a.partitions = a.partitions_at_launch = 2;
  a.shared_memory = a.static_shared_per_block = a.shared_per_block = 48 * KiB;
  a.shared_granularity = 128, a.carve_outs = fermi_carve_outs;
  a.unified_cache = 64 * KiB, a.unified = true;
  a.fp32_lanes = minor == 0 ? 32 : 48, a.sfu_lanes = minor == 0 ? 4 : 8, a.shared_lanes = 16;
  a.clocks_per_issue = 2, a.dual_issue = minor == 1;
  return a;
}

Architecture kepler(int minor) {
  Architecture a = fermi(minor);
  a.major = 3, a.family = "Kepler", a.source = Source::NvidiaTables;
  a.max_warps = 64, a.max_blocks = 16;
  a.registers = a.registers_per_block = 64 * 1024;
  a.registers_per_thread = minor == 0 ? 63 : 255, a.register_granularity = 256;
  a.partitions = a.partitions_at_launch = 4;
  a.shared_granularity = 256, a.carve_outs = kepler_carve_outs;
  a.fp32_lanes = 192, a.sfu_lanes = 32, a.shared_lanes = 32;
  a.clocks_per_issue = 1, a.dual_issue = true;
  if (minor == 7) {
    a.registers = 128 * 1024;
    a.shared_memory = 112 * KiB, a.carve_outs = large_kepler_carve_outs, a.unified_cache = 128 * KiB;
  }
  return a;
}

Architecture maxwell(int minor) {
  Architecture a = kepler(minor);
  a.major = 5, a.family = "Maxwell";
  a.max_blocks = 32, a.registers_per_thread = 255;
  a.shared_memory = minor == 0 ? 64 * KiB : 96 * KiB;
  a.carve_outs = minor == 0 ? std::span(only_64) : std::span(only_96);
  a.unified_cache = minor == 0 ? 24 * KiB : 48 * KiB, a.unified = false;
  a.fp32_lanes = 128;
  return a;
}

Architecture pascal(int minor) {
  Architecture a = maxwell(minor == 0 ? 0 : 2);
  a.major = 6, a.minor = minor, a.family = "Pascal";
  if (minor == 0) {
    // The launch check still assumes four, so that what runs here runs on the rest of the family.
    a.partitions = 2, a.partitions_at_launch = 4;
    a.fp32_lanes = 64, a.sfu_lanes = 16;
  }
  return a;
}

Architecture volta() {
  Architecture a = pascal(1);
  a.major = 7, a.minor = 0, a.family = "Volta";
  a.shared_memory = a.shared_per_block = 96 * KiB, a.carve_outs = volta_carve_outs;
  a.unified_cache = 128 * KiB, a.unified = true;
  a.fp32_lanes = 64, a.sfu_lanes = 16, a.dual_issue = false;
  return a;
}

Architecture turing() {
  Architecture a = volta();
  a.minor = 5, a.family = "Turing";
  a.max_warps = 32, a.max_blocks = 16;
  a.shared_memory = a.shared_per_block = 64 * KiB, a.carve_outs = turing_carve_outs;
  a.unified_cache = 96 * KiB;
  return a;
}

Architecture ampere() {
  Architecture a = volta();
  a.major = 8, a.minor = 0, a.family = "Ampere";
  a.shared_memory = 164 * KiB, a.shared_per_block = 163 * KiB, a.reserved_shared = 1 * KiB;
  a.shared_granularity = 128, a.carve_outs = ampere_carve_outs;
  a.unified_cache = 192 * KiB;
  return a;
}

/// The chips of graphics boards, from Ampere on.
Architecture small_ampere() {
  Architecture a = ampere();
  a.minor = 6;
  a.max_warps = 48, a.max_blocks = 16;
  a.shared_memory = 100 * KiB, a.shared_per_block = 99 * KiB, a.carve_outs = small_ampere_carve_outs;
  a.unified_cache = 128 * KiB;
  a.fp32_lanes = 128;
  return a;
}

Architecture ada() {
  Architecture a = small_ampere();
  a.minor = 9, a.family = "Ada";
  a.max_blocks = 24;
  return a;
}

Architecture hopper() {
  Architecture a = ampere();
  a.major = 9, a.family = "Hopper";
  a.shared_memory = 228 * KiB, a.shared_per_block = 227 * KiB, a.carve_outs = hopper_carve_outs;
  a.unified_cache = 256 * KiB;
  a.fp32_lanes = 128;
  a.barriers = 64;
  return a;
}

Architecture blackwell() {
  Architecture a = hopper();
  a.major = 10, a.family = "Blackwell";
  a.virtual_resources = 128;
  return a;
}

Architecture small_blackwell() {
  Architecture a = ada();
  a.major = 12, a.minor = 0, a.family = "Blackwell";
  a.barriers = 24, a.virtual_resources = 128;
  return a;
}

std::string list_of_names() {
  std::vector<std::string> names;
  for (const Architecture& each : architectures()) names.push_back(each.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void fail_to_find(std::string_view name) {
  throw Error(fmt::format("there is no architecture '{}'", name)).note("known", list_of_names());
}

}  // namespace

std::string Architecture::name() const {
  return chip.empty() ? fmt::format("sm_{}{}", major, minor) : std::string(chip);
}

std::span<const Architecture> architectures() {
  static const std::array all = {fermi(0),    fermi(1),         kepler(0),      kepler(5), kepler(7),
                                 maxwell(0),  maxwell(2),       pascal(0),      pascal(1), volta(),
                                 turing(),    ampere(),         small_ampere(), ada(),     hopper(),
                                 blackwell(), small_blackwell()};
  return all;
}

const Architecture& architecture(int major, int minor) {
  for (const Architecture& each : architectures())
    if (each.major == major && each.minor == minor) return each;
  fail_to_find(fmt::format("{}.{}", major, minor));
}

const Architecture& architecture_named(std::string_view name) {
  for (const Architecture& each : architectures()) {
    const std::string full = each.name();
    if (name == full || name == std::string_view(full).substr(3) ||
        name == fmt::format("{}.{}", each.major, each.minor))
      return each;
  }
  fail_to_find(name);
}

const Architecture& closest_architecture(std::string_view name) {
  constexpr std::string_view prefix = "sm_";
  if (!name.starts_with(prefix)) fail_to_find(name);
  const char* const end = name.data() + name.size();
  int number = 0;  // ten times the major number and the minor one; a letter may follow
  const auto [rest, status] = std::from_chars(name.data() + prefix.size(), end, number);
  if (status != std::errc() || end - rest > 1) fail_to_find(name);
  const Architecture* closest = nullptr;
  for (const Architecture& each : architectures()) {
    if (10 * each.major + each.minor <= number) closest = &each;
  }
  if (closest == nullptr) fail_to_find(name);
  return *closest;
}

}  // namespace weft::machine
