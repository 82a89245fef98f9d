#include "runtime/thread_pool.h"

#include <weft/error.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include <pthread.h>

#include "base/environment.h"

namespace weft::runtime {
namespace {

/// Set while this thread runs a body. A nested loop then runs inline: all threads are busy with the outer
/// one.
thread_local bool inside_a_body = false;

/// Those of this thread; none if the system does not say, for want of room for more than 1024.
cpu_set_t available_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

}  // namespace

int usual_threads() {
  if (const auto wanted = number_of_environment("WEFT_THREADS", "threads", most_threads))
    return static_cast<int>(*wanted);
  const cpu_set_t cpus = available_cpus();
  const int count = CPU_COUNT(&cpus);
  return std::clamp(count > 0 ? count : static_cast<int>(std::thread::hardware_concurrency()), 1,
                    most_threads);
}

namespace {

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Watches for about 40 us, several times what it takes to fall asleep and be woken; returns whether
/// `happened`.
template <class Condition>
bool spin_until(const Condition& happened) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::microseconds(40);
  do {
    for (int i = 0; i < 16; ++i) {
      if (happened()) return true;
      pause_briefly();
    }
  } while (Clock::now() < deadline);
  return false;
}

}  // namespace

/// One call of parallel_for. Pieces are counted instead of iterations, so that nothing can overflow near the
/// ends of the integers.
struct ThreadPool::Loop {
  Loop(std::int64_t begin_, std::int64_t end_, std::int64_t grain_, Body body_)
      : begin(begin_),
        end(end_),
        grain(static_cast<std::uint64_t>(std::max<std::int64_t>(grain_, 1))),
        body(body_) {
    const std::uint64_t length = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
    pieces = end > begin ? (length - 1) / grain + 1 : 0;
  }

  bool has_work() const { return next.load(std::memory_order_relaxed) < pieces; }

  /// Takes pieces until there are no more.
  void run() {
    const bool outer = std::exchange(inside_a_body, true);
    for (;;) {
      const std::uint64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces) break;
      const std::uint64_t first = static_cast<std::uint64_t>(begin) + piece * grain;
      const std::uint64_t rest = static_cast<std::uint64_t>(end) - first;
      try {
        body(static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + std::min(grain, rest)));
      } catch (...) {
        if (!failed.exchange(true)) exception = std::current_exception();
        next.store(pieces, std::memory_order_relaxed);
      }
    }
    inside_a_body = outer;
  }

  const std::int64_t begin, end;
  const std::uint64_t grain;
  const Body body;
  std::uint64_t pieces = 0;
  std::exception_ptr exception;
  std::atomic<bool> failed{false};
  std::atomic<int> workers{0};                     // In run() now, the caller not counted.
  alignas(64) std::atomic<std::uint64_t> next{0};  // Apart from what all only read.
};

void check_threads(int threads) {
  if (threads >= 0 && threads <= most_threads) return;
  throw Error(std::to_string(threads) + " threads are asked for; there can be 1 to " +
              std::to_string(most_threads))
      .help("0 takes all cores");
}

ThreadPool::ThreadPool(int threads) : cpus_(available_cpus()) {
  check_threads(threads);
  const int wanted = (threads == 0 ? usual_threads() : threads) - 1;
  workers_.reserve(static_cast<std::size_t>(wanted));
  try {
    for (int i = 0; i < wanted; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system's limit is reached. With fewer threads the work takes longer; it is no less correct.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  published_.fetch_add(1);
  published_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, Body body) {
  Loop loop(begin, end, grain, body);
  if (loop.pieces <= 1 || workers_.empty() || inside_a_body) {
    loop.run();
  } else {
    publish(loop);
    loop.run();
    retire(loop);
  }
  if (loop.exception) std::rethrow_exception(loop.exception);
}

/// Linux wakes a thread on the CPU of the one that wakes it where no other looks idle, and those of a virtual machine look
/// busy once they have been idle for a while. There it would wait for the caller, or to be moved some milliseconds later.
void ThreadPool::keep_off_this_cpu() {
  const int cpu = ::sched_getcpu();
  const bool have_room = std::ssize(workers_) < CPU_COUNT(&cpus_);
  if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == caller_cpu_ || !have_room) return;
  caller_cpu_ = cpu;
  cpu_set_t others = cpus_;
  CPU_CLR(cpu, &others);
  for (std::thread& worker : workers_)
    ::pthread_setaffinity_np(worker.native_handle(), sizeof others, &others);
}

/// Shows the loop to the workers and wakes one for each piece.
void ThreadPool::publish(Loop& loop) {
  {
    const std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
    if (loops_.size() == 1) keep_off_this_cpu();  // else they are awake
  }
  published_.fetch_add(1);
  if (loop.pieces > workers_.size()) {
    published_.notify_all();
  } else {
    for (std::uint64_t i = 1; i < loop.pieces; ++i) published_.notify_one();
  }
}

/// Lets no more workers in and waits for those that are.
void ThreadPool::retire(Loop& loop) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(loops_, &loop);
  }
  const auto all_left = [&] { return loop.workers.load(std::memory_order_acquire) == 0; };
  if (spin_until(all_left)) return;
  for (;;) {
    const std::uint32_t seen = left_.load();
    if (all_left()) return;
    left_.wait(seen);
  }
}

void ThreadPool::work() {
  for (;;) {
    const std::uint32_t seen = published_.load();
    if (Loop* loop = join_a_loop()) {
      loop->run();
      leave(*loop);
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    if (!spin_until([&] { return published_.load(std::memory_order_relaxed) != seen; }))
      published_.wait(seen);
  }
}

ThreadPool::Loop* ThreadPool::join_a_loop() {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(loops_.begin(), loops_.end(), [](Loop* loop) { return loop->has_work(); });
  if (found == loops_.end()) return nullptr;
  (*found)->workers.fetch_add(1, std::memory_order_relaxed);
  return *found;
}

/// From the decrement on, the loop may be gone.
void ThreadPool::leave(Loop& loop) {
  if (loop.workers.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  left_.fetch_add(1);
  left_.notify_all();
}

}  // namespace weft::runtime
