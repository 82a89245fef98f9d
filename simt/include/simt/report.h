// What the checker found, as a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

enum class Kind {
  race,                     ///< Two accesses, one of them a write, that nothing orders.
  divergent_collective,     ///< Lanes of a warp that do not do the same thing together.
  divergent_barrier,        ///< Threads of a block that do not meet at one barrier.
  lane_outside_mask,        ///< A lane that takes part, or is read, without being in the mask.
  uninitialised_read,       ///< Of shared or device memory that was never written.
  out_of_bounds,            ///< Of a buffer, a shared array or an array's dimension.
  illegal_address,          ///< Memory that is not the device's, or not the host's.
  misaligned_access,        ///< A vector at an address that is no multiple of its alignment.
  use_after_free,           ///< Also a use that may come after the release, and freeing twice.
  invalid_release,          ///< Of something that is no buffer.
  unsynchronised_host_use,  ///< The host uses memory that a copy still reads or writes.
  launch_limit,             ///< A launch that the architecture refuses.
  undefined_behaviour,      ///< Signed overflow, a division by zero, a wide shift ...
  crash,                    ///< The kernel was stopped by the processor, or by __trap.
  misuse,                   ///< A wrong argument of a host function.
  leak,                     ///< Device memory that was never released; asked for by Device::report_leaks.
};

/// "race", "out of bounds" …
std::string_view name_of(Kind kind);

struct Dim3 {
  unsigned x = 0, y = 0, z = 0;
};

struct Place {
  std::string file;  ///< Empty if unknown.
  int line = 0;
};

/// One of the threads that a report is about, and what it did.
struct Actor {
  bool on_host = false;
  std::string kernel;  ///< Or what else the device did: "copy", "fill". Empty if there is no such thread.
  Dim3 block, thread;
  bool knows_thread = false;
  Place place;
  std::string action;  ///< "writes 4 bytes of shared array 'tile' at 64"
};

struct Report {
  Kind kind{};
  std::string what;         ///< One sentence on what is wrong.
  Actor first, second;      ///< The thread that was noticed, and the other one, if there is one.
  std::uint64_t count = 1;  ///< How often it was seen at these places.
};

/// Several lines, for people.
std::string to_string(const Report& report);

/// What a line of a kernel, or a whole kernel, did. Memory is counted per warp: the accesses of a warp's
/// lanes to one place of the text, in the order of their execution, count as one instruction.
struct Counts {
  std::uint64_t sectors_loaded = 0, sectors_stored = 0;  ///< 32-byte sectors of device memory.
  std::uint64_t least_sectors_loaded = 0,
                least_sectors_stored = 0;                    ///< Had the bytes been dense and aligned.
  std::uint64_t bank_passes = 0, least_bank_passes = 0;      ///< Of shared memory, and without conflicts.
  std::uint64_t barriers = 0;                                ///< Warps that passed a block's barrier.
  std::uint64_t warp_barriers = 0, shuffles = 0, votes = 0;  ///< Per warp.
  std::uint64_t atomics = 0;                                 ///< Per thread.

  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;
};

struct LineCounts {
  Place place;
  Counts counts;
};

struct KernelCounts {
  std::string kernel;
  std::uint64_t launches = 0, threads = 0;
  Counts total;
  std::vector<LineCounts> lines;  ///< In the order of the text.
};

std::string to_json(const std::vector<KernelCounts>& counts);

}  // namespace simt
