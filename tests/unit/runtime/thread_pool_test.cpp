#include "runtime/thread_pool.h"

#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

namespace weft::runtime {
namespace {

using namespace testing_support;

using Pieces = std::vector<std::pair<std::int64_t, std::int64_t>>;

Pieces pieces_of(ThreadPool& pool, std::int64_t begin, std::int64_t end, std::int64_t grain) {
  std::mutex mutex;
  Pieces pieces;
  pool.parallel_for(begin, end, grain, [&](std::int64_t first, std::int64_t last) {
    const std::lock_guard lock(mutex);
    pieces.emplace_back(first, last);
  });
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

TEST(ThreadPool, CutsTheRangeIntoPieces) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pieces_of(pool, 0, 10, 4), (Pieces{{0, 4}, {4, 8}, {8, 10}}));
    EXPECT_EQ(pieces_of(pool, -3, 3, 3), (Pieces{{-3, 0}, {0, 3}}));
    EXPECT_EQ(pieces_of(pool, 5, 6, 100), (Pieces{{5, 6}}));
    EXPECT_EQ(pieces_of(pool, 0, 3, 0), (Pieces{{0, 1}, {1, 2}, {2, 3}}));
    EXPECT_EQ(pieces_of(pool, 0, 2, -7), (Pieces{{0, 1}, {1, 2}}));
    EXPECT_EQ(pieces_of(pool, 0, 0, 1), Pieces{});
    EXPECT_EQ(pieces_of(pool, 7, -7, 1), Pieces{});
  }
}

TEST(ThreadPool, DoesNotOverflowAtTheEndsOfTheIntegers) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  ThreadPool pool(3);
  EXPECT_EQ(pieces_of(pool, highest - 5, highest, 3),
            (Pieces{{highest - 5, highest - 2}, {highest - 2, highest}}));
  EXPECT_EQ(pieces_of(pool, lowest, highest, highest),
            (Pieces{{lowest, -1}, {-1, highest - 1}, {highest - 1, highest}}));
}

TEST(ThreadPool, RunsEveryIterationOnce) {
  ThreadPool pool(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> count(1000);
    pool.parallel_for(0, 1000, 1 + round % 40, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) ++count[i];
    });
    ASSERT_EQ(count, std::vector<int>(1000, 1));
  }
}

TEST(ThreadPool, UsesItsThreadsAndTheCaller) {
  ThreadPool pool(3);
  EXPECT_EQ(pool.threads(), 3);
  // Nobody goes on until all three have come.
  std::atomic<int> here{0};
  std::mutex mutex;
  std::set<std::thread::id> ids;
  pool.parallel_for(0, 3, 1, [&](std::int64_t, std::int64_t) {
    here.fetch_add(1);
    while (here.load() < 3) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_TRUE(ids.contains(std::this_thread::get_id()));
}

TEST(ThreadPool, OfOneThreadRunsInOrderInTheCaller) {
  ThreadPool pool(1);
  std::vector<std::int64_t> order;
  pool.parallel_for(0, 5, 2, [&](std::int64_t first, std::int64_t) { order.push_back(first); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(ThreadPool, PassesAnExceptionToTheCallerAndGoesOn) {
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> ran{0};
      try {
        pool.parallel_for(0, 1000000000, 1, [&](std::int64_t first, std::int64_t) {
          ran.fetch_add(1);
          if (first == 10) throw std::runtime_error("at 10");
        });
        FAIL();
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "at 10");
      }
      EXPECT_LT(ran.load(), 1000000000);  // The rest is dropped.
      EXPECT_EQ(pieces_of(pool, 0, 2, 1), (Pieces{{0, 1}, {1, 2}}));
    }
  }
}

TEST(ThreadPool, PassesOneOfManyExceptions) {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(
        pool.parallel_for(0, 100, 1, [](std::int64_t i, std::int64_t) { throw static_cast<int>(i); }), int);
  }
}

TEST(ThreadPool, RunsNestedLoopsInline) {
  ThreadPool pool(4), other(2);
  std::atomic<int> total{0};
  std::atomic<bool> same_thread{true};
  pool.parallel_for(0, 20, 1, [&](std::int64_t, std::int64_t) {
    const auto outer = std::this_thread::get_id();
    for (ThreadPool* nested : {&pool, &other}) {
      nested->parallel_for(0, 10, 3, [&](std::int64_t first, std::int64_t last) {
        if (std::this_thread::get_id() != outer) same_thread = false;
        total.fetch_add(static_cast<int>(last - first));
      });
    }
  });
  EXPECT_EQ(total.load(), 400);
  EXPECT_TRUE(same_thread.load());
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::vector<std::int64_t> sums(4);
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 100; ++round) {
        std::atomic<std::int64_t> sum{0};
        pool.parallel_for(0, 100, 3, [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t i = first; i < last; ++i) sum.fetch_add(i);
        });
        sums[c] += sum.load();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sums, std::vector<std::int64_t>(4, 100 * 4950));
}

TEST(ThreadPool, MakesWhatBodiesWroteVisible) {
  ThreadPool pool(4);
  std::vector<std::int64_t> values(4096);
  for (int step = 0; step < 50; ++step) {  // Each step reads what other threads wrote in the last one.
    std::vector<std::int64_t> next(values.size());
    pool.parallel_for(0, 4096, 64, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) next[i] = values[(i + 64) % 4096] + 1;
    });
    values = std::move(next);
  }
  EXPECT_EQ(values, std::vector<std::int64_t>(4096, 50));
}

/// So that each mostly has the pixels in its caches that it had in the run before.
TEST(ThreadPool, TheCallerBeginsWithTheFirstPieceAndWorkersWithTheLast) {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    const std::thread::id caller = std::this_thread::get_id();
    std::mutex mutex;
    std::vector<std::int64_t> of_caller, of_worker;
    pool.parallel_for(0, 10, 1, [&](std::int64_t first, std::int64_t) {
      const std::lock_guard lock(mutex);
      (std::this_thread::get_id() == caller ? of_caller : of_worker).push_back(first);
    });
    EXPECT_TRUE(std::is_sorted(of_caller.begin(), of_caller.end()));
    EXPECT_TRUE(std::is_sorted(of_worker.rbegin(), of_worker.rend()));
    const bool has_both = !of_caller.empty() && !of_worker.empty();
    if (has_both) EXPECT_LT(of_caller.back(), of_worker.back());
  }
}

/// More than there is room for do their work alone.
TEST(ThreadPool, ServesAnyNumberOfCallers) {
  ThreadPool pool(2);
  std::atomic<int> inside{0}, ran{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 12; ++c) {
    callers.emplace_back([&] {
      pool.parallel_for(0, 2, 1, [&](std::int64_t first, std::int64_t) {
        ran.fetch_add(1);
        if (first != 0) return;
        inside.fetch_add(1);
        while (inside.load() < 12) std::this_thread::yield();
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(ran.load(), 24);
}

/// Of work that is asked for once a thread that sleeps is worth waking only if it is more.
TEST(ThreadPool, PortionsAreSmallerWhileWorkersWatch) {
  ThreadPool alone(1);
  const std::int64_t of_sleeping = alone.least_portion();
  ThreadPool pool(2);
  std::atomic<int> here{0};
  std::atomic<std::int64_t> of_awake{0};
  pool.parallel_for(0, 2, 1, [&](std::int64_t first, std::int64_t) {
    here.fetch_add(1);
    while (here.load() < 2) std::this_thread::yield();
    if (first == 0) of_awake.store(pool.least_portion());
    while (of_awake.load() == 0) std::this_thread::yield();
  });
  EXPECT_LT(of_awake.load(), of_sleeping);
}

TEST(ThreadPool, TakesAnyCallable) {
  ThreadPool pool(2);
  int calls = 0;
  const auto constant = [&calls](std::int64_t, std::int64_t) { ++calls; };
  pool.parallel_for(0, 1, 1, constant);
  void (*pointer)(std::int64_t, std::int64_t) = [](std::int64_t, std::int64_t) {};
  pool.parallel_for(0, 1, 1, pointer);
  const Body body = constant;
  pool.parallel_for(0, 1, 1, body);
  EXPECT_EQ(calls, 2);
}

TEST(ThreadPool, ComesAndGoesWithoutWork) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

TEST(ThreadPool, TakesItsSizeFromTheCpusOfTheProcess) {
  const Variable unset("WEFT_THREADS", nullptr);
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(ThreadPool().threads(), CPU_COUNT(&all));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const int threads = ThreadPool().threads();
  ::sched_setaffinity(0, sizeof all, &all);
  EXPECT_EQ(threads, 1);
}

/// Wherever the caller is, its workers may be anywhere else, and nowhere else.
TEST(ThreadPool, KeepsItsWorkersOffTheCallersCpu) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  ThreadPool pool(2);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&all) > 1; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    cpu_set_t one, others = all, of_worker;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CPU_CLR(cpu, &others);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> here{0};
    pool.parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) {
      here.fetch_add(1);
      while (here.load() < 2) std::this_thread::yield();
      if (std::this_thread::get_id() != caller) ::sched_getaffinity(0, sizeof of_worker, &of_worker);
    });
    ::sched_setaffinity(0, sizeof all, &all);
    EXPECT_TRUE(CPU_EQUAL(&of_worker, &others)) << "caller on CPU " << cpu;
  }
}

TEST(ThreadPool, TakesItsSizeFromTheEnvironment) {
  const Variable three("WEFT_THREADS", "3");
  EXPECT_EQ(ThreadPool().threads(), 3);
  EXPECT_EQ(ThreadPool(2).threads(), 2);  // The program's own choice stands.
  for (const char* bad : {"0", "-1", "two", "3x", " 3", "4097", "99999999999999999999"}) {
    const Variable variable("WEFT_THREADS", bad);
    EXPECT_EQ(message_of([] { ThreadPool(); }),
              "WEFT_THREADS is '" + std::string(bad) +
                  "', which is not a number of threads\n"
                  "  help: set WEFT_THREADS to a number from 1 to 4096, or unset it");
  }
}

TEST(ThreadPool, RefusesWhatNoMachineHas) {
  EXPECT_EQ(message_of([] { ThreadPool(-1); }),
            "-1 threads are asked for; there can be 1 to 4096\n  help: 0 takes all cores");
  EXPECT_EQ(message_of([] { ThreadPool(1 << 30); }),
            "1073741824 threads are asked for; there can be 1 to 4096\n  help: 0 takes all cores");
}

}  // namespace
}  // namespace weft::runtime
