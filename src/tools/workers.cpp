#include "tools/workers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::tools {

void share_out(std::uint64_t first, std::uint64_t end, int workers,
               const std::function<void(std::uint64_t)>& work) {
  std::atomic<std::uint64_t> next = first;
  std::mutex mutex;
  std::exception_ptr trouble;
  const auto take_turns = [&] {
    try {
      for (std::uint64_t i; (i = next++) < end;) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      trouble = std::current_exception();
      next = end;
    }
  };
  const auto count =
      static_cast<unsigned>(workers > 0 ? workers : std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < count; ++t) threads.emplace_back(take_turns);
  threads.clear();  // waits for them
  if (trouble) std::rethrow_exception(trouble);
}

}  // namespace weft::tools
