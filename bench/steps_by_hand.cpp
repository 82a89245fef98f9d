#include "bench/steps_by_hand.h"

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace by_hand {
namespace {

void row(const TwoGrids& g, int step, std::int64_t y) {
  const float* __restrict__ now = g.grids[step % 2] + y * g.width;
  float* __restrict__ next = g.grids[(step + 1) % 2] + y * g.width;
  const std::int64_t w = g.width;
  for (std::int64_t x = 1; x < w - 1; ++x)
    next[x] = .125f * (now[x + w] - 2.f * now[x] + now[x - w]) +
              .125f * (now[x + 1] - 2.f * now[x] + now[x - 1]) + now[x];
}

using Barrier = std::barrier<>;

/// work(thread, barrier) on each thread.
void on_threads(int threads, const std::function<void(int, Barrier&)>& work) {
  Barrier barrier(threads);
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&, t] { work(t, barrier); });
  work(0, barrier);
  for (std::thread& other : others) other.join();
}

/// The rows of a tile in its first step, and by how much both ends move with each step.
struct Rows {
  std::int64_t first, end;
  int first_moves, end_moves;
};

/// Row after row, each step one row behind the one before.
void tile(const TwoGrids& g, int from, int steps, const Rows& rows) {
  const std::int64_t first = std::min(rows.first, rows.first + std::int64_t{steps} * rows.first_moves);
  const std::int64_t end = std::max(rows.end, rows.end + std::int64_t{steps} * rows.end_moves) + steps;
  for (std::int64_t front = first; front < end; ++front) {
    for (int step = 0; step < steps; ++step) {
      const std::int64_t y = front - step;
      if (y >= rows.first + std::int64_t{step} * rows.first_moves &&
          y < rows.end + std::int64_t{step} * rows.end_moves)
        row(g, from + step, y);
    }
  }
}

}  // namespace

void heat2d(const TwoGrids& g, int steps, int threads) {
  on_threads(threads, [&](int thread, Barrier& barrier) {
    const std::int64_t inner = g.height - 2;
    const std::int64_t first = 1 + inner * thread / threads, end = 1 + inner * (thread + 1) / threads;
    for (int step = 0; step < steps; ++step) {
      for (std::int64_t y = first; y < end; ++y) row(g, step, y);
      barrier.arrive_and_wait();
    }
  });
}

void heat2d_in_tiles(const TwoGrids& g, int steps, int threads, int height, std::int64_t pitch) {
  const std::int64_t end = g.height - 1;  // of the rows that change: from 1 on
  const std::int64_t tiles = std::max<std::int64_t>((end - 1) / pitch, 1);
  const auto begin_of = [&](std::int64_t t) { return t == tiles ? end : 1 + t * pitch; };
  on_threads(threads, [&](int thread, Barrier& barrier) {
    for (int from = 0; from < steps; from += height) {
      const int taken = std::min(height, steps - from);
      for (std::int64_t t = thread; t < tiles; t += threads)
        tile(g, from, taken, {begin_of(t), begin_of(t + 1), t > 0 ? 1 : 0, t + 1 < tiles ? -1 : 0});
      barrier.arrive_and_wait();
      for (std::int64_t t = 1 + thread; t < tiles; t += threads)
        tile(g, from, taken, {begin_of(t), begin_of(t), -1, 1});
      barrier.arrive_and_wait();
    }
  });
}

}  // namespace by_hand
