// The instructions of compiled GPU code (a cubin), as far as counting them needs: what kind each is, where it may
// branch to, which line of the source it stems from, and the loops they form. Neither a GPU nor a disassembler is
// needed. Bits that mean the same from Volta to Blackwell are read, and those of offsets, which differ from Hopper on.
//
//     for (const auto& [kernel, code] : sass_of(cubin))      compiled with -lineinfo
//       for (const SassLoop& loop : loops_of(code)) …
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::compile {

enum class SassKind {
  GlobalLoad,
  GlobalStore,
  SharedLoad,
  SharedStore,
  AsyncCopy,  ///< From global to shared memory.
  LocalLoad,  ///< Of what found no registers.
  LocalStore,
  Atomic,
  Shuffle,
  Float,
  Special,  ///< Roots, exponentials, conversions: a quarter of the rate or less.
  Barrier,  ///< Of blocks and warps, and waits for asynchronous copies.
  Control,
  Integer,  ///< And what else there is: moves, predicates, uniform values.
};
constexpr int sass_kinds = 14;
std::string_view name_of(SassKind kind);

struct SassInstruction {
  SassKind kind = SassKind::Integer;
  int bytes = 0;             ///< That a load, store or copy moves per thread.
  std::int64_t target = -1;  ///< The number of the instruction that it may branch to.
  bool goes_on = true;       ///< Whether the next one may follow.
  int line = 0;              ///< Of the source, in the kernel itself; 0: unknown.
  // What the compiler wrote into it for the schedulers, which look at nothing else.
  int stall = 1;       ///< Clocks before the warp's next one may issue.
  int barrier = -1;    ///< Of six, which its result releases, as it takes a time that compilers do not know.
  unsigned waits = 0;  ///< Bits: the barriers that it waits for.
};
using SassCode = std::vector<SassInstruction>;  ///< Without the padding after its end.

/// Of each kernel, by its name. Throws weft::Error if these are not the bytes of a cubin.
std::map<std::string, SassCode> sass_of(std::string_view cubin);

/// A straight piece of code.
struct SassBlock {
  int first = 0, end = 0;  ///< Instructions.
  std::vector<int> next;   ///< Blocks.
};
/// Blocks that are gone through again and again; the loops inside it are among them.
struct SassLoop {
  int head = 0;             ///< The block that it begins with.
  std::vector<int> blocks;  ///< Ascending.
  int parent = -1;          ///< The loop around it.
};
std::vector<SassBlock> blocks_of(const SassCode& code);
/// Inner loops before outer ones.
std::vector<SassLoop> loops_of(const std::vector<SassBlock>& blocks);

/// What one way through a loop, or through a whole kernel, meets.
struct SassPath {
  std::vector<int> blocks;  ///< Without those of loops inside.
  std::int64_t stored = 0;  ///< Bytes, with one trip of each loop inside that is passed.
  std::int64_t loaded = 0;
};
/// In how many clocks a warp that nothing else delays goes that way, once more if it is a loop's: what instructions stall,
/// and waits for results of shared memory, shuffles and special functions, which come `latency` clocks after they were
/// asked for. Memory takes no time here.
double clocks_of(const SassCode& code, const std::vector<SassBlock>& blocks, const SassPath& way,
                 double latency);

/// The way inside an image: where it forks, the one that stores most, then the one that loads most, then the shortest.
/// `counted` instructions are those of iterations that are left over by an unrolled loop inside: of the ways, one that
/// stores `wanted` bytes by them, or about so many. `inside` are the paths of the loops, as far as they are known.
SassPath path_through(const SassCode& code, const std::vector<SassBlock>& blocks,
                      const std::vector<SassLoop>& loops, int loop, const std::map<int, SassPath>& inside,
                      const std::vector<bool>& counted, std::int64_t wanted);

}  // namespace weft::compile
