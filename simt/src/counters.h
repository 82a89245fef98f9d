// Counts what kernels do, per line. The lanes of a warp do not run side by side here, so their accesses are
// put together again: the k-th execution of an instruction by each lane, counted from the last time that all
// lanes met, makes one access of the warp.
#pragma once

#include "executor.h"
#include "findings.h"

#include <array>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

namespace simt {

enum class Space : std::uint8_t { device, shared };

class Counters {
 public:
  void begin_kernel(const LoadedText* text, const void* kernel, std::uint64_t threads);
  void end_kernel();

  void access(const Lane& lane, const void* address, std::size_t size, bool write, Space space,
              const void* pc);
  void atomic(const void* pc) { ++at(Location{text_, pc, {}}).atomics; }
  void collective(abi::Collective kind, abi::Site site);
  void barrier(unsigned warps, abi::Site site) { at(Location{text_, nullptr, site}).barriers += warps; }

  /// All lanes of the warp have come to the same place: what they did so far belongs together.
  void lanes_met(unsigned warp);

  std::vector<KernelCounts> counts() const;
  void forget() { kernels_.clear(); }

 private:
  struct Group {
    std::uint32_t lanes = 0;
    std::array<const char*, warp_size> address{};
  };
  /// The executions of an instruction by one warp.
  struct Series {
    std::uint64_t first = 0;                      ///< Of the groups that are open.
    std::array<std::uint64_t, warp_size> next{};  ///< Each lane's next execution.
    std::deque<Group> open;
  };
  struct Instruction {
    const void* pc = nullptr;
    std::size_t size = 0;
    bool write = false;
    Space space{};
    std::array<Series, most_warps> warps;
  };
  struct Entry {
    Location location;
    Counts counts;
  };
  struct Kernel {
    const LoadedText* text = nullptr;
    std::uint64_t launches = 0, threads = 0;
    std::unordered_map<std::uintptr_t, Entry> entries;
  };

  Counts& at(const Location& location);
  void finish(const Instruction& instruction, const Group& group);
  void finish_all(Instruction& instruction, unsigned warp);

  std::map<const void*, Kernel> kernels_;
  Kernel* kernel_ = nullptr;
  const LoadedText* text_ = nullptr;
  std::unordered_map<const void*, Instruction> instructions_;
};

}  // namespace simt
