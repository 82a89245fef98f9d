#include "tools/forked.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::tools {
namespace {

[[noreturn]] void fail(const char* what) { throw Error(std::string(what) + ": " + std::strerror(errno)); }

/// All of it goes, unless nobody reads any more.
void write_all(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t went = ::write(to, text.data() + at, text.size() - at);
    if (went > 0) at += static_cast<std::size_t>(went);
    if (went < 0 && errno != EINTR) return;
  }
}

/// A text begins with '=', why there is none with '!'.
[[noreturn]] void work_and_end(const std::function<std::string()>& work, int to, unsigned seconds) {
  ::alarm(seconds);
  std::string text;
  try {
    text = "=" + work();
  } catch (const std::exception& error) {
    text = std::string("!") + error.what();
  }
  write_all(to, text);
  ::_exit(0);  // what this process has not printed yet, its parent prints
}

struct Child {
  std::size_t number;
  pid_t process;
  int from;
  std::string text = {};
};

Child begin(std::size_t number, const std::function<std::string()>& work, unsigned seconds) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe");
  const pid_t process = ::fork();
  if (process < 0) fail("no process");
  if (process == 0) work_and_end(work, ends[1], seconds);
  ::close(ends[1]);
  return {number, process, ends[0]};
}

Answer end_of(const Child& child, unsigned seconds) {
  ::close(child.from);
  int status = 0;
  while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGALRM && seconds > 0) return {"", "no end within " + std::to_string(seconds) + " s"};
    return {"", "signal " + std::to_string(signal)};
  }
  if (child.text.empty()) return {"", "it ended itself"};
  const std::string rest = child.text.substr(1);
  return child.text[0] == '=' ? Answer{rest, ""} : Answer{"", rest};
}

/// Reads what there is; false at the end.
bool read_more(Child& child) {
  std::array<char, 4096> chunk{};
  const ssize_t got = ::read(child.from, chunk.data(), chunk.size());
  if (got > 0) child.text.append(chunk.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

void share_out_to_processes(std::size_t count, int at_a_time,
                            const std::function<std::string(std::size_t)>& work,
                            const std::function<void(std::size_t, const Answer&)>& done, unsigned seconds) {
  const std::size_t most =
      at_a_time > 0 ? static_cast<std::size_t>(at_a_time) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<Child> children;
  for (std::size_t next = 0; next < count || !children.empty();) {
    for (; next < count && children.size() < most; ++next)
      children.push_back(begin(
          next, [&] { return work(next); }, seconds));
    std::vector<pollfd> ready;
    for (const Child& child : children) ready.push_back({child.from, POLLIN, 0});
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) fail("cannot wait");
    for (std::size_t c = children.size(); c-- > 0;) {
      if (ready[c].revents == 0 || read_more(children[c])) continue;
      const Child ended = std::move(children[c]);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(c));
      done(ended.number, end_of(ended, seconds));
    }
  }
}

Answer in_another_process(const std::function<std::string()>& work, unsigned seconds) {
  Answer answer;
  share_out_to_processes(
      1, 1, [&](std::size_t) { return work(); }, [&](std::size_t, const Answer& a) { answer = a; }, seconds);
  return answer;
}

}  // namespace weft::tools
