#include "io/draft.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

namespace weft::io {
namespace {

namespace fs = std::filesystem;

/// The file to replace: behind a link the file it points to, so that the link stays.
fs::path target_of(const fs::path& file) {
  std::error_code problem;
  const fs::file_status status = fs::status(file, problem);
  if (!fs::exists(status)) return file;
  if (fs::is_directory(status)) throw Fault{"it is a directory"};
  if (!fs::is_regular_file(status)) throw Fault{"it is not a regular file"};  // never replace a device
  const fs::path target = fs::is_symlink(fs::symlink_status(file)) ? fs::canonical(file, problem) : file;
  if (problem) throw Fault{problem.message()};
  return target;
}

/// Of the file, if there is one.
std::optional<mode_t> permissions_of(const fs::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode & 07777;
}

fs::path hidden_name(const fs::path& folder) {
  static std::atomic<unsigned> serial = 0;
  return folder / (".weft-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + ".tmp");
}

std::string handle_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// A file without a name, or -1 where the file system has no such files or we could not name it later.
int open_unnamed(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor < 0 || access(handle_of(descriptor).c_str(), F_OK) == 0) return descriptor;
  close(descriptor);
  return -1;
}

bool link_as(int descriptor, const fs::path& name) {
  return linkat(AT_FDCWD, handle_of(descriptor).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

/// Signals wait while a hidden name exists.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

}  // namespace

std::string system_message(int error) { return std::generic_category().message(error); }

Draft::Draft(const fs::path& file) : target_(target_of(file)) {
  folder_ = target_.has_parent_path() ? target_.parent_path() : ".";
  std::error_code ignored;
  if (!fs::exists(folder_, ignored)) throw Fault{"there is no folder '" + folder_.string() + "'"};
  int descriptor = open_unnamed(folder_);
  while (descriptor < 0) {
    path_ = hidden_name(folder_);
    descriptor = open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno == EEXIST) continue;  // never a file that someone else has open
    const int error = errno;
    path_.clear();
    throw Fault{"in folder '" + folder_.string() + "': " + system_message(error)};
  }
  if (const auto permissions = permissions_of(target_)) fchmod(descriptor, *permissions);
  file_.reset(fdopen(descriptor, "w+b"));
}

Draft::~Draft() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

void Draft::commit() {
  const bool flushed = std::fflush(file_.get()) == 0;
  int error = errno;
  const Descriptor same{dup(fileno(file_.get()))};        // a file without a name is gone when it is closed
  const bool closed = std::fclose(file_.release()) == 0;  // a full disk may show only here
  if (!closed && flushed) error = errno;
  if (!flushed || !closed) throw Fault{system_message(error)};

  const SignalsWait signals_wait;
  if (path_.empty() && link_as(same.value, target_)) return;
  while (path_.empty()) {
    const fs::path name = hidden_name(folder_);
    if (link_as(same.value, name))
      path_ = name;
    else if (errno != EEXIST)
      throw Fault{system_message(errno)};
  }
  std::error_code problem;
  fs::rename(path_, target_, problem);
  if (problem) throw Fault{problem.message()};
  path_.clear();
}

}  // namespace weft::io
