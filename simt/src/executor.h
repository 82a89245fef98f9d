// Runs the threads of one block at a time, each on a fiber, and lets them meet: at barriers of the block and
// in what the lanes of a warp do together. A thread runs until it waits, so a kernel without barriers runs on
// one fiber without any switch. With a seed, which thread goes on is drawn at random.
#pragma once

#include "fibers.h"
#include "findings.h"
#include "random.h"
#include "simt/abi.h"

#include <array>
#include <functional>
#include <vector>

namespace simt {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned most_warps = 32;
inline constexpr unsigned most_threads = warp_size * most_warps;

struct Lane {
  enum class State : std::uint8_t { fresh, ready, in_collective, at_barrier, exited };

  unsigned linear = 0;  ///< In the block.
  unsigned warp = 0, lane = 0;
  abi::Dim thread{};
  State state = State::fresh;
  Fiber* fiber = nullptr;  ///< Where it stopped; null while it is fresh.

  // What it waits in.
  abi::Collective kind{};
  unsigned mask = 0;
  std::uint64_t value = 0;
  int argument = 0, width = 0;
  abi::Barrier barrier{};
  int predicate = 0;
  abi::Site site{};
};

struct Warp {
  std::uint32_t exists = 0, ready = 0, in_collective = 0, exited = 0;
};

/// Who wants to know what the threads of a block did together.
class MeetingListener {
 public:
  virtual void collective_done(abi::Collective kind, unsigned warp, std::uint32_t lanes, abi::Site site) = 0;
  virtual void barrier_done(unsigned warps, abi::Site site) = 0;
  virtual void complain(Kind kind, const std::string& what, const Lane& first,
                        const std::string& first_action, const Lane* second = nullptr,
                        const std::string& second_action = {}) = 0;

 protected:
  ~MeetingListener() = default;
};

class Executor {
 public:
  Executor(MeetingListener& listener, Random& random);

  void begin_kernel(abi::Dim block, abi::Invocation& invocation);
  /// Whether all threads came to their end; if not, the kernel is over.
  bool run_block(abi::Dim index);
  /// After the running thread was left by a jump: nothing of the block goes on.
  void abandon();

  const Lane* current() const { return current_; }
  abi::Dim block_index() const { return block_index_; }
  const Fibers& fibers() const { return fibers_; }

  // Called by the running thread.
  std::uint64_t collective(abi::Collective kind, unsigned mask, std::uint64_t value, int argument, int width,
                           abi::Site site);
  int barrier(abi::Barrier kind, int predicate, abi::Site site);
  unsigned active_mask() const;
  /// Does not return, and no destructor runs: the caller may own nothing. It is not [[noreturn]], as the
  /// address sanitizer would then take the end of a thread's stack to be near.
  void end_kernel();

 private:
  void fiber_body();  ///< Never returns.
  void run(Lane& lane);
  Lane* pick();
  void wait();
  void go_to(Lane* next);
  void wake(Lane& lane);
  void sleep(Lane& lane, Lane::State state);

  bool try_finish_collective(unsigned warp, std::uint32_t mask);
  void finish_collective(unsigned warp, std::uint32_t lanes);
  void check_same_place(unsigned warp, std::uint32_t lanes);
  void retry_collectives(unsigned warp);
  void release_barrier();
  void barrier_without_all();
  void report_deadlock();

  MeetingListener& listener_;
  Random& random_;
  Fibers fibers_;
  std::array<Lane, most_threads> lanes_{};
  std::array<Warp, most_warps> warps_{};
  unsigned threads_ = 0, warp_count_ = 0;
  unsigned at_barrier_ = 0, exited_ = 0;
  std::uint32_t ready_warps_ = 0;
  int barrier_result_[4] = {};
  Lane* current_ = nullptr;
  Lane* assigned_ = nullptr;  ///< What a fiber that is entered at the top of its loop is to run.
  bool failed_ = false;
  abi::Dim block_index_{};
  abi::Invocation* invocation_ = nullptr;
};

/// "__shfl_down_sync" …
const char* name_of(abi::Collective kind);

/// What one lane gets from a collective. `values` and `lanes` are those that take part; sets `bad_source` to
/// the lane that was read although it does not take part, else leaves it.
std::uint64_t collective_result(abi::Collective kind, unsigned lane, std::uint32_t lanes,
                                const std::array<std::uint64_t, warp_size>& values, int argument, int width,
                                int& bad_source);

}  // namespace simt
