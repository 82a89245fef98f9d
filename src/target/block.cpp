#include "target/block.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace weft::target {
namespace {

using kernel::Sharing;

// Coordinates, sizes and what addresses are computed with: what small emitted kernels were seen to use.
constexpr int registers_of_any_kernel = 14, registers_per_pointer = 2;
// One warp of 32 has nothing to wait with at a barrier. Beyond 256 threads, a launch's bounds would take
// registers from them (65,536 / 512 = 128 each), and a block that ends leaves much of a multiprocessor empty.
constexpr int least_threads = 64, most_threads = 256;
// Of threads that share nothing. Smaller blocks leave fewer lanes idle at the end of a row and end sooner, but a multiprocessor
// of an H100 starts one in 80 ns at best: with blocks of 64, one step of heat1d kept 29 % of its warps busy
// (bench/results/2026-11-26-h100.md).
constexpr int usual_threads = 128;

struct Candidate {
  int threads;
  machine::Occupancy occupancy;
  int warps_with_less;  ///< Summed up over all numbers of registers that a thread may take.
};

/// What the sentence compares the choice with: the best of the rest.
std::string text_of_rest(const std::vector<Candidate>& ranked, Sharing sharing) {
  if (ranked.size() < 2) return "";
  const Candidate &best = ranked[0], &next = ranked[1];
  std::string has = next.occupancy.blocks == 0 ? "none" : std::to_string(next.occupancy.warps());
  if (next.occupancy.warps() == best.occupancy.warps()) {
    switch (sharing) {
      case Sharing::Nothing: has = "as many, with nothing to share"; break;
      case Sharing::Rows:
        has = next.threads < best.threads ? "as many, sharing fewer rows"
                                          : "as many, but fewer if threads took fewer registers";
        break;
      case Sharing::Work: has = "as many, for the same work"; break;
      case Sharing::Lanes: break;  // there is no other
    }
  }
  return fmt::format("; {} threads would have {}", next.threads, has);
}

}  // namespace

int registers_with(int pointers, int kept) {
  return registers_of_any_kernel + registers_per_pointer * pointers + kept;
}

std::vector<int> candidate_blocks(const BlockLaunch& launch, int warp) {
  if (launch.sharing == Sharing::Lanes) return {launch.warps * warp};
  std::vector<int> candidates;
  for (int threads = least_threads; threads <= most_threads; threads += warp) {
    const bool divides = launch.sharing != Sharing::Work || launch.items % threads == 0;
    if (divides) candidates.push_back(threads);
  }
  if (candidates.empty()) candidates.push_back(least_threads);
  if (launch.sharing == Sharing::Work)
    std::erase_if(candidates, [least = candidates.back() / 2](int threads) { return threads < least; });
  return candidates;
}

BlockChoice choose_block(const machine::Architecture& architecture, kernel::RegisterRange registers,
                         const std::function<std::int64_t(int threads)>& shared_bytes,
                         const BlockLaunch& launch) {
  const int most = std::min(registers.most, architecture.registers_per_thread);
  std::vector<Candidate> ranked;
  for (const int threads : candidate_blocks(launch, architecture.warp)) {
    const auto with = [&](int count) {
      machine::BlockNeeds needs;
      needs.threads = threads, needs.registers = count, needs.static_shared = shared_bytes(threads);
      return machine::occupancy(architecture, needs);
    };
    Candidate candidate{threads, with(most), 0};
    for (int count = most; count >= registers.least; --count)
      candidate.warps_with_less += with(count).warps();
    ranked.push_back(candidate);
  }
  const auto key = [&](const Candidate& c) {
    const int fits = launch.is_single ? c.occupancy.blocks > 0 : c.occupancy.warps();
    const int slack = launch.sharing == Sharing::Rows ? c.warps_with_less : 0;
    return std::tuple(fits, slack,
                      launch.sharing == Sharing::Nothing ? -std::abs(c.threads - usual_threads) : c.threads);
  };
  std::sort(ranked.begin(), ranked.end(),
            [&](const Candidate& a, const Candidate& b) { return key(a) > key(b); });
  const Candidate& best = ranked[0];
  if (best.occupancy.blocks == 0)
    throw InternalError("no block can be launched on " + architecture.name() + ": " +
                        to_string(best.occupancy));
  BlockChoice choice;
  const bool is_of_warps = launch.sharing == Sharing::Lanes;
  choice.block = is_of_warps || (launch.has_rows && !is_of_blocks(launch.sharing))
                     ? std::array{architecture.warp, best.threads / architecture.warp, 1}
                     : std::array{best.threads, 1, 1};
  choice.occupancy = best.occupancy;
  choice.why = launch.is_single
                   ? fmt::format("{} threads: the most, as there is one block", best.threads)
                   : fmt::format("{} threads of about {} registers, so {}{}", best.threads, most,
                                 to_string(best.occupancy), text_of_rest(ranked, launch.sharing));
  return choice;
}

}  // namespace weft::target
