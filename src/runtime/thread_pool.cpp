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

class InsideABody {
 public:
  InsideABody() { inside_a_body = true; }
  ~InsideABody() { inside_a_body = outer_; }
  InsideABody(const InsideABody&) = delete;
  InsideABody& operator=(const InsideABody&) = delete;

 private:
  const bool outer_ = inside_a_body;
};

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

using Clock = std::chrono::steady_clock;

/// Several times what it takes to fall asleep and be woken.
constexpr std::chrono::microseconds watch{40};

/// Watches for a while; returns whether `happened`.
template <class Condition>
bool spin_until(const Condition& happened) {
  const auto deadline = Clock::now() + watch;
  do {
    for (int i = 0; i < 16; ++i) {
      if (happened()) return true;
      pause_briefly();
    }
  } while (Clock::now() < deadline);
  return false;
}

}  // namespace

/// More than there is time for; twice as many can be counted in 32 bits, by threads that find none left, too.
constexpr std::uint64_t most_pieces = std::uint64_t{1} << 31;

/// One call of parallel_for. Pieces are counted instead of iterations, so that nothing can overflow near the
/// ends of the integers.
struct ThreadPool::Loop {
  std::int64_t begin = 0, end = 0;
  std::uint64_t grain = 1;
  Body body;

  std::uint64_t pieces() const {
    const std::uint64_t length = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
    return end > begin ? (length - 1) / grain + 1 : 0;
  }
  void run(std::uint64_t piece) const {
    const std::uint64_t first = static_cast<std::uint64_t>(begin) + piece * grain;
    const std::uint64_t rest = static_cast<std::uint64_t>(end) - first;
    body(static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + std::min(grain, rest)));
  }
};

/// Holds the loop of one caller at a time. It is the pool's, since workers may still look at it when that loop is over.
/// What they need to take their first piece lies on one line of the cache.
struct alignas(64) ThreadPool::Place {
  static constexpr std::uint32_t free = 1u << 31, closed = 1u << 30;
  static constexpr std::uint64_t of_caller = 1, of_workers = std::uint64_t{1} << 32;

  /// Nobody else takes it, until it is given back, and no worker is in it, until it is opened.
  bool take() {
    std::uint32_t expected = free;
    return state.compare_exchange_strong(expected, closed, std::memory_order_acquire);
  }
  void give_back() { state.store(free, std::memory_order_release); }

  /// Lets workers in.
  void open(const Loop& with) {
    loop = with, pieces = with.pieces();
    taken.store(0, std::memory_order_relaxed);
    state.store(0, std::memory_order_release);
  }
  bool enter() {
    std::uint32_t workers = state.load(std::memory_order_relaxed);
    while (workers < closed) {
      if (state.compare_exchange_weak(workers, workers + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }
  void leave() {
    if (state.fetch_sub(1, std::memory_order_release) == closed + 1) state.notify_all();
  }
  /// Lets no more workers in and waits for those that are. Returns what a piece has thrown.
  std::exception_ptr close() {
    state.fetch_add(closed, std::memory_order_relaxed);
    const auto all_left = [&] { return state.load(std::memory_order_acquire) == closed; };
    if (!spin_until(all_left)) {
      for (std::uint32_t seen; (seen = state.load(std::memory_order_acquire)) != closed;) state.wait(seen);
    }
    failed.store(false, std::memory_order_relaxed);
    return std::exchange(exception, nullptr);
  }

  /// Takes pieces until there are no more: the caller from the first on, workers from the last on. So a thread mostly gets
  /// those that it had in the run before, whose images are in its caches.
  void work(bool is_caller) {
    const InsideABody inside;
    for (;;) {
      const std::uint64_t before =
          taken.fetch_add(is_caller ? of_caller : of_workers, std::memory_order_relaxed);
      const std::uint64_t first = before % of_workers, last = before / of_workers;
      if (first + last >= pieces) break;
      try {
        loop.run(is_caller ? first : pieces - 1 - last);
      } catch (...) {
        if (!failed.exchange(true)) exception = std::current_exception();
        taken.store(pieces, std::memory_order_relaxed);
      }
    }
  }

  std::atomic<std::uint32_t> state{free};  ///< Or how many workers are in it, with `closed` or without.
  std::atomic<std::uint64_t> taken{0};     ///< How many pieces, by the caller and by workers.
  std::uint64_t pieces = 0;
  Loop loop;
  std::atomic<bool> failed{false};
  std::exception_ptr exception;
};

void check_threads(int threads) {
  if (threads >= 0 && threads <= most_threads) return;
  throw Error(std::to_string(threads) + " threads are asked for; there can be 1 to " +
              std::to_string(most_threads))
      .help("0 takes all cores");
}

ThreadPool::ThreadPool(int threads) : cpus_(available_cpus()), places_(new Place[places]) {
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
  stopping_.store(true);
  published_.fetch_add(1);
  published_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, Body body) {
  const Loop loop{begin, end, static_cast<std::uint64_t>(std::max<std::int64_t>(grain, 1)), body};
  const std::uint64_t pieces = loop.pieces();
  const bool is_shared = pieces > 1 && pieces <= most_pieces && !workers_.empty() && !inside_a_body;
  Place* const place = is_shared ? free_place() : nullptr;
  if (!place) {
    const InsideABody inside;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) loop.run(piece);
    return;
  }
  if (place == places_.get()) keep_off_this_cpu();  // else the workers are awake
  place->open(loop);
  wake_for(pieces);
  place->work(true);
  const std::exception_ptr exception = place->close();
  place->give_back();
  if (exception) std::rethrow_exception(exception);
}

std::int64_t ThreadPool::least_portion() {
  constexpr std::int64_t of_watching = 500, of_sleeping = 2500;
  if (workers_.empty()) return of_sleeping;
  if (awake_.load(std::memory_order_relaxed) > 0) return of_watching;
  const auto now = Clock::now().time_since_epoch();
  const std::chrono::nanoseconds last(last_asked_.load(std::memory_order_relaxed));
  last_asked_.store(std::chrono::nanoseconds(now).count(), std::memory_order_relaxed);
  return now - last < watch ? of_watching : of_sleeping;
}

/// Null if more callers are here at once than there are places: each then does its work alone.
ThreadPool::Place* ThreadPool::free_place() {
  const auto found = std::find_if(places_.get(), places_.get() + places, [](Place& p) { return p.take(); });
  return found == places_.get() + places ? nullptr : found;
}

/// Linux wakes a thread on the CPU of the one that wakes it where no other looks idle, and those of a virtual machine look
/// busy once they have been idle for a while. There it would wait for the caller, or to be moved some milliseconds later.
void ThreadPool::keep_off_this_cpu() {
  const int cpu = ::sched_getcpu();
  const bool have_room = std::ssize(workers_) < CPU_COUNT(&cpus_);
  if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == caller_cpu_.load(std::memory_order_relaxed) || !have_room)
    return;
  caller_cpu_.store(cpu, std::memory_order_relaxed);
  cpu_set_t others = cpus_;
  CPU_CLR(cpu, &others);
  for (std::thread& worker : workers_)
    ::pthread_setaffinity_np(worker.native_handle(), sizeof others, &others);
}

/// One worker for each piece but the caller's.
void ThreadPool::wake_for(std::uint64_t pieces) {
  published_.fetch_add(1);
  if (pieces > workers_.size()) {
    published_.notify_all();
  } else {
    for (std::uint64_t i = 1; i < pieces; ++i) published_.notify_one();
  }
}

void ThreadPool::work() {
  awake_.fetch_add(1);
  for (;;) {
    const std::uint32_t seen = published_.load();
    if (stopping_.load()) return;
    for (Place* place = places_.get(); place != places_.get() + places; ++place) {
      if (!place->enter()) continue;
      place->work(false);
      place->leave();
    }
    if (spin_until([&] { return published_.load(std::memory_order_relaxed) != seen; })) continue;
    awake_.fetch_sub(1);
    published_.wait(seen);
    awake_.fetch_add(1);
  }
}

}  // namespace weft::runtime
