#include "compile/process.h"

#include <weft/error.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace weft::compile {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error("cannot run '" + program + "'").note("reason", std::strerror(error));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  int fd = -1;
};

/// A pipe whose ends children do not inherit: another thread may spawn at any moment, and a copy of a writing
/// end in its child would keep readers waiting until that child ends.
struct Pipe {
  Descriptor reading, writing;

  int open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
    reading.fd = ends[0];
    writing.fd = ends[1];
    return 0;
  }
};

/// How a child starts: with these as its input and output, null for nothing; in this group of processes, 0 for
/// one of its own, so that it ends with what it started; and with the default signal handling, as a host that
/// blocks or ignores signals would otherwise pass that on.
class SpawnPlan {
 public:
  SpawnPlan(std::optional<int> input, std::optional<int> output, pid_t group = 0) {
    posix_spawn_file_actions_init(&actions);
    // Input first or last: its pipe, or that of the output, may itself be descriptor 0 to 2 in a host that
    // has closed its own.
    if (input) posix_spawn_file_actions_adddup2(&actions, *input, STDIN_FILENO);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (output)
        posix_spawn_file_actions_adddup2(&actions, *output, fd);
      else
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    }
    if (!input) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, group);
    posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                             POSIX_SPAWN_SETPGROUP));
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const Environment& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.count(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

/// Makes a group of processes and ends it if this process ends first, even killed: a shell, the first of the
/// group, waits for the end of a pipe that only this process can write to, and so sees that. It is there before
/// any other process of the group, so none can escape it. (A signal at the parent's end, which Linux offers,
/// would reach a compiler's driver, but not the compiler proper that it has started.)
class Watchdog {
 public:
  Watchdog() {
    if (const int error = pipe_.open()) fail("/bin/sh", error);
    const std::vector<std::string> argv = {"sh", "-c", "read -r nothing; kill -TERM 0"};
    const SpawnPlan plan(pipe_.reading.fd, std::nullopt);
    const int error =
        ::posix_spawn(&shell_, "/bin/sh", &plan.actions, &plan.attributes, pointers(argv).data(), environ);
    if (error != 0) fail("/bin/sh", error);
    pipe_.reading.close();
  }
  ~Watchdog() {
    ::kill(shell_, SIGKILL);
    while (::waitpid(shell_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  [[nodiscard]] pid_t group() const { return shell_; }

 private:
  Pipe pipe_;
  pid_t shell_ = 0;
};

using Clock = std::chrono::steady_clock;

/// Whether there is something to read, or the end, before the deadline.
bool wait_for_input(int fd, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, 60000))) > 0) return true;
  }
}

/// Until the end of what there is to read, or the deadline.
std::string read_all(int fd, std::optional<Clock::time_point> deadline = std::nullopt) {
  std::string text;
  char chunk[4096];
  for (;;) {
    if (deadline && !wait_for_input(fd, *deadline)) return text;
    const ssize_t got = ::read(fd, chunk, sizeof chunk);
    if (got > 0) text.append(chunk, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

int status_of(pid_t child, const std::string& program) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(program, errno);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_executable_file(const fs::path& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv,
                          std::optional<std::chrono::milliseconds> limit, const Environment& environment) {
  if (argv.empty()) throw InternalError("run_process needs a program");
  const auto program = find_program(argv[0]);
  if (!program) fail(argv[0], ENOENT);

  Pipe output;
  if (const int error = output.open()) fail(argv[0], error);
  const std::vector<std::string> variables = environment_with(environment);
  const Watchdog watchdog;
  const SpawnPlan plan(std::nullopt, output.writing.fd, watchdog.group());
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program->c_str(), &plan.actions, &plan.attributes,
                                  pointers(argv).data(), pointers(variables).data());
  if (error != 0) fail(argv[0], error);
  output.writing.close();  // Ours, so that reading ends with the child's last copy.

  ProcessResult result;
  if (limit) {
    const Clock::time_point deadline = Clock::now() + *limit;
    result.output = read_all(output.reading.fd, deadline);
    result.timed_out = Clock::now() >= deadline;
    if (result.timed_out) ::kill(-watchdog.group(), SIGKILL);
  }
  result.output += read_all(output.reading.fd);
  result.exit_code = status_of(child, argv[0]);
  return result;
}

std::optional<fs::path> find_program(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    return is_executable_file(name) ? std::optional(fs::absolute(name)) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (candidate.is_absolute() && is_executable_file(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace weft::compile
