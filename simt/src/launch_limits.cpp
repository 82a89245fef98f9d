#include "launch_limits.h"

#include "errors.h"

#include <fmt/format.h>

namespace simt {
namespace {

struct Architecture {
  std::string_view name;
  std::size_t shared_opt_in;
  unsigned multiprocessors;  // of its usual board
};

// CUDA C++ Programming Guide, "Technical specifications per compute capability": a block's shared memory is a
// multiprocessor's less 1 KB from sm_80 on.
constexpr Architecture architectures[] = {
    {"sm_70", 96 * 1024, 80},   {"sm_75", 64 * 1024, 46},    {"sm_80", 163 * 1024, 108},
    {"sm_86", 99 * 1024, 82},   {"sm_87", 163 * 1024, 16},   {"sm_89", 99 * 1024, 128},
    {"sm_90", 227 * 1024, 132}, {"sm_100", 227 * 1024, 148}, {"sm_103", 227 * 1024, 148},
    {"sm_120", 99 * 1024, 170}, {"sm_121", 99 * 1024, 48},
};

/// Registers are handed out to warps, in units of 256.
unsigned registers_of_block(unsigned per_thread, unsigned threads) {
  const unsigned warps = (threads + 31) / 32;
  return (per_thread * 32 + 255) / 256 * 256 * warps;
}

std::string text_of(abi::Dim d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

bool exceeds(abi::Dim d, Dim3 limit) { return d.x > limit.x || d.y > limit.y || d.z > limit.z; }

}  // namespace

Limits Limits::of(std::string_view name) {
  for (const Architecture& architecture : architectures) {
    if (architecture.name != name) continue;
    Limits limits;
    limits.architecture = name;
    limits.shared_per_block_opt_in = architecture.shared_opt_in;
    limits.multiprocessors = architecture.multiprocessors;
    return limits;
  }
  std::string known;
  for (const Architecture& architecture : architectures) known += fmt::format(" {}", architecture.name);
  throw Failure(fmt::format("unknown architecture '{}'; known are{}", name, known));
}

unsigned blocks_at_a_time(const Limits& limits, const LaunchNeeds& needs) {
  constexpr unsigned most_blocks = 32, most_threads = 2048, registers_of_multiprocessor = 65536;
  constexpr std::size_t shared_of_block_itself = 1024;  // from sm_80 on
  if (refusal(limits, needs)) return 0;
  const unsigned threads = (needs.block.x * needs.block.y * needs.block.z + 31) / 32 * 32;
  std::size_t blocks = std::min(most_blocks, most_threads / threads);
  const std::size_t shared = needs.static_shared + needs.dynamic_shared + shared_of_block_itself;
  blocks = std::min(blocks, (limits.shared_per_block_opt_in + shared_of_block_itself) / shared);
  const auto registers = limits.registers.find(needs.kernel);
  if (registers != limits.registers.end() && registers->second > 0)
    blocks = std::min<std::size_t>(
        blocks, registers_of_multiprocessor / registers_of_block(registers->second, threads));
  return static_cast<unsigned>(blocks);
}

std::optional<Refusal> refusal(const Limits& limits, const LaunchNeeds& needs) {
  const auto [grid, block] = std::pair(needs.grid, needs.block);
  const auto invalid = [&](std::string what) {
    return Refusal{error::invalid_configuration, std::move(what)};
  };
  if (!grid.x || !grid.y || !grid.z)
    return invalid(fmt::format("a grid of {} blocks is empty", text_of(grid)));
  if (!block.x || !block.y || !block.z)
    return invalid(fmt::format("a block of {} threads is empty", text_of(block)));

  const Dim3 most_grid = limits.grid, most_block = limits.block;
  if (exceeds(grid, most_grid)) {
    return invalid(fmt::format("a grid of {} blocks; {} allows {}", text_of(grid), limits.architecture,
                               text_of({most_grid.x, most_grid.y, most_grid.z})));
  }
  if (exceeds(block, most_block)) {
    return invalid(fmt::format("a block of {} threads; {} allows {}", text_of(block), limits.architecture,
                               text_of({most_block.x, most_block.y, most_block.z})));
  }
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads > limits.threads_per_block) {
    return invalid(fmt::format("a block of {} threads; {} allows {}", threads, limits.architecture,
                               limits.threads_per_block));
  }
  if (needs.launch_bound && threads > needs.launch_bound) {
    return Refusal{error::invalid_value,
                   fmt::format("a block of {} threads; the kernel's __launch_bounds__ allow {}", threads,
                               needs.launch_bound)};
  }
  if (needs.static_shared > limits.shared_per_block) {
    return Refusal{error::launch_out_of_resources,
                   fmt::format("{} bytes of shared arrays; {} allows {}", needs.static_shared,
                               limits.architecture, limits.shared_per_block)};
  }
  const std::size_t shared = needs.static_shared + needs.dynamic_shared;
  const bool opted_in = needs.dynamic_shared_allowed > 0;
  const std::size_t allowed =
      opted_in ? std::min(limits.shared_per_block_opt_in, needs.static_shared + needs.dynamic_shared_allowed)
               : limits.shared_per_block;
  if (shared > std::max(allowed, limits.shared_per_block)) {
    return Refusal{error::invalid_value,
                   fmt::format("{} bytes of shared memory; {} allows {}{}", shared, limits.architecture,
                               std::max(allowed, limits.shared_per_block),
                               opted_in ? "" : " unless cudaFuncSetAttribute asks for more")};
  }
  const auto registers = limits.registers.find(needs.kernel);
  if (registers != limits.registers.end()) {
    const unsigned used = registers_of_block(registers->second, static_cast<unsigned>(threads));
    if (used > limits.registers_per_block) {
      return Refusal{
          error::launch_out_of_resources,
          fmt::format("{} registers ({} for each of {} threads); {} allows {}", used, registers->second,
                      threads, limits.architecture, limits.registers_per_block)};
    }
  }
  return std::nullopt;
}

}  // namespace simt
