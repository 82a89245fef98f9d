// Runs the iterations of a loop on all cores: emitted CPU code hands its outermost parallel loop to it. A
// kernel may last only a few microseconds, so idle workers watch for work for a moment before they sleep.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include <sched.h>

namespace weft::runtime {

/// A loop body void(first, last), which runs iterations first ... last - 1. It refers to the callable and
/// does not own it: no allocation per loop.
class Body {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Body> && std::is_object_v<std::remove_reference_t<F>> &&
           std::invocable<F&, std::int64_t, std::int64_t>)
      Body(F&& callable)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, std::int64_t first, std::int64_t last) {
          (*static_cast<std::remove_reference_t<F>*>(object))(first, last);
        }) {}

  void operator()(std::int64_t first, std::int64_t last) const { call_(callable_, first, last); }

 private:
  void* callable_;
  void (*call_)(void*, std::int64_t, std::int64_t);
};

/// More would cost stacks and gain nothing.
constexpr int most_threads = 4096;
/// $WEFT_THREADS, else as many threads as this process has CPUs. Throws weft::Error if the variable is no number of them.
int usual_threads();
/// Throws weft::Error if that is negative or more than most_threads; 0 means one for each core.
void check_threads(int threads);

class ThreadPool {
 public:
  /// With 0: the usual number.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Threads that take part in a loop, the caller among them.
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Runs the body over [begin, end) in pieces of `grain` iterations, the last one maybe shorter, and returns
  /// when all are done. Pieces are taken by whoever is free; the caller takes part. Any thread may call at
  /// any time; a call out of a body runs in the calling thread alone. If bodies throw, the rest of the loop
  /// is dropped and the first exception goes to the caller.
  void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, Body body);

 private:
  struct Loop;

  void work();
  Loop* join_a_loop();
  void leave(Loop& loop);
  void keep_off_this_cpu();
  void publish(Loop& loop);
  void retire(Loop& loop);

  std::mutex mutex_;          // Guards loops_, stopping_ and caller_cpu_.
  std::vector<Loop*> loops_;  // Running now; they live on their callers' stacks.
  bool stopping_ = false;
  const cpu_set_t cpus_;  // Of the thread that made the pool.
  int caller_cpu_ = -1;   // Which the workers keep off.
  // Counters to sleep on. They belong to the pool, since a Loop may be gone when its last worker calls
  // notify.
  alignas(64) std::atomic<std::uint32_t> published_{0};
  alignas(64) std::atomic<std::uint32_t> left_{0};
  std::vector<std::thread> workers_;
};

}  // namespace weft::runtime
