#include "compile/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::compile {
namespace {

namespace fs = std::filesystem;

int open_folder(const fs::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Whether the open folder is still what has this name: somebody may have removed it before it was locked.
bool is_still_at(const fs::path& path, int fd) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// Where locks are unknown, as on some network file systems, every maker counts as alive.
void remove_if_abandoned(const fs::path& folder) {
  const int fd = open_folder(folder);
  if (fd < 0) return;
  struct stat info {};
  std::error_code ignored;
  if (::fstat(fd, &info) == 0 && info.st_uid == ::geteuid() && ::flock(fd, LOCK_EX | LOCK_NB) == 0 &&
      is_still_at(folder, fd))
    fs::remove_all(folder, ignored);
  ::close(fd);
}

void remove_abandoned(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  for (fs::directory_iterator entry(parent, ignored), end; entry != end; entry.increment(ignored)) {
    if (entry->path().filename().string().rfind(prefix, 0) == 0) remove_if_abandoned(entry->path());
  }
}

}  // namespace

fs::path folder_of_temporary_files() {
  std::error_code unusable;
  const fs::path chosen = fs::temp_directory_path(unusable);
  return unusable ? "/tmp" : chosen;
}

ScratchFolder::ScratchFolder(const fs::path& parent, const std::string& prefix, Sweep sweep)
    : maker_(::getpid()) {
  if (sweep == Sweep::Yes) remove_abandoned(parent, prefix);
  for (;;) {
    std::string name = (parent / (prefix + "XXXXXX")).string();
    if (!::mkdtemp(name.data())) throw std::system_error(errno, std::generic_category());
    lock_ = open_folder(name);
    if (lock_ < 0 && errno != ENOENT) throw std::system_error(errno, std::generic_category());
    if (lock_ >= 0) {
      ::flock(lock_, LOCK_EX);  // waits for a sweep that came before; then the folder is gone
      path_ = name;
      if (is_still_at(path_, lock_)) return;
      ::close(lock_);
    }
  }
}

ScratchFolder::~ScratchFolder() {
  if (is_of_this_process()) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ::close(lock_);
}

bool ScratchFolder::is_of_this_process() const { return maker_ == ::getpid(); }

}  // namespace weft::compile
