// Runs the iterations of a loop on all cores: emitted CPU code hands its outermost parallel loop to it. A
// kernel may last only a few microseconds, so idle workers watch for work for a moment before they sleep.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include <sched.h>

namespace weft::runtime {

/// A loop body void(first, last), which runs iterations first ... last - 1. It refers to the callable and
/// does not own it: no allocation per loop.
class Body {
 public:
  Body() = default;  ///< Of no loop: not to be called.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Body> && std::is_object_v<std::remove_reference_t<F>> &&
           std::invocable<F&, std::int64_t, std::int64_t>)
      Body(F&& callable)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : frame_(std::addressof(callable)),
        call_([](const void* object, std::int64_t first, std::int64_t last) {
          (*static_cast<std::remove_reference_t<F>*>(const_cast<void*>(object)))(first, last);
        }) {}
  /// Of emitted code: function(frame, first, last).
  Body(void (*function)(const void* frame, std::int64_t first, std::int64_t last), const void* frame)
      : frame_(frame), call_(function) {}

  void operator()(std::int64_t first, std::int64_t last) const { call_(frame_, first, last); }

 private:
  const void* frame_ = nullptr;
  void (*call_)(const void*, std::int64_t, std::int64_t) = nullptr;
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
  /// What is worth handing out to a worker now, in nanoseconds: less if workers watch for work than if they sleep. They are
  /// worth waking even for little work if that is asked again and again.
  std::int64_t least_portion();

 private:
  struct Loop;
  struct Place;
  static constexpr int places = 8;  // For callers at once.

  void work();
  Place* free_place();
  void keep_off_this_cpu();
  void wake_for(std::uint64_t pieces);

  const cpu_set_t cpus_;              // Of the thread that made the pool.
  std::atomic<int> caller_cpu_ = -1;  // Which the workers keep off.
  std::atomic<bool> stopping_ = false;
  const std::unique_ptr<Place[]> places_;
  alignas(64) std::atomic<std::uint32_t> published_{0};  // Counts loops, to sleep on.
  alignas(64) std::atomic<int> awake_{0};
  std::atomic<std::int64_t> last_asked_{0};  // For a portion while they slept: nanoseconds of the clock.
  std::vector<std::thread> workers_;
};

}  // namespace weft::runtime
