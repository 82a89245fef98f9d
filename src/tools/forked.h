// Work in processes of its own, for what may destroy the process that does it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace weft::tools {

/// What came of some work: its text, or why there is none.
struct Answer {
  std::string text;
  std::string failure;  ///< "signal 11", "no end within 60 s", or the exception's text.
};

/// work() in a copy of this process. Threads that there are do not go along, and nothing that the copy does is
/// seen here but the text. 0 seconds: however long it takes.
Answer in_another_process(const std::function<std::string()>& work, unsigned seconds = 0);

/// work(0), work(1) … work(count - 1), `at_a_time` of them at a time, each in a copy of this process; 0: one per core. `done` is
/// called here, in the order in which they end.
void share_out_to_processes(std::size_t count, int at_a_time,
                            const std::function<std::string(std::size_t)>& work,
                            const std::function<void(std::size_t, const Answer&)>& done,
                            unsigned seconds = 0);

}  // namespace weft::tools
