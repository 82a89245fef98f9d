#include "runtime/process.h"

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

namespace weft::runtime {
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

/// How the child starts: our pipe as its output, nothing as its input, and the default signal handling, as a
/// host that blocks or ignores signals would otherwise pass that on.
class SpawnPlan {
 public:
  SpawnPlan(int output, bool own_group) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    // Last, since the pipe may itself be descriptor 0 in a host that has closed its own stdin.
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    const int group = own_group ? POSIX_SPAWN_SETPGROUP : 0;  // the child's number is the group's
    posix_spawnattr_setflags(&attributes,
                             static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
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

int wait_for(pid_t child, const std::string& program) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(program, errno);  // ECHILD: the host ignores SIGCHLD, so the status is lost.
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_executable_file(const fs::path& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv,
                          std::optional<std::chrono::milliseconds> limit) {
  if (argv.empty()) throw InternalError("run_process needs a program");
  const auto program = find_program(argv[0]);
  if (!program) fail(argv[0], ENOENT);

  // Close-on-exec from the start: another thread may spawn at any moment, and a copy of our writing end in
  // its child would keep us reading until that child ends.
  Descriptor reading, writing;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(argv[0], errno);
  reading.fd = ends[0];
  writing.fd = ends[1];

  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  const SpawnPlan plan(writing.fd, limit.has_value());
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, program->c_str(), &plan.actions, &plan.attributes, arguments.data(), environ);
  if (error != 0) fail(argv[0], error);
  writing.close();  // Ours, so that reading ends with the child's last copy.

  ProcessResult result;
  if (limit) {
    const Clock::time_point deadline = Clock::now() + *limit;
    result.output = read_all(reading.fd, deadline);
    result.timed_out = Clock::now() >= deadline;
    if (result.timed_out) ::kill(-child, SIGKILL);
  }
  result.output += read_all(reading.fd);
  result.exit_code = wait_for(child, argv[0]);
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

}  // namespace weft::runtime
