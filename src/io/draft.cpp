#include "io/draft.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
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

}  // namespace

std::string system_message(int error) { return std::generic_category().message(error); }

Draft::Draft(const fs::path& file) : target_(target_of(file)) {
  static std::atomic<unsigned> serial = 0;
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) throw Fault{"there is no folder '" + folder.string() + "'"};
  do {
    path_ = folder / (".weft-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + ".tmp");
    file_.reset(std::fopen(path_.c_str(), "w+bx"));  // x: never a file that someone else has open
  } while (!file_ && errno == EEXIST);
  if (!file_) throw Fault{"in folder '" + folder.string() + "': " + system_message(errno)};
}

Draft::~Draft() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

void Draft::commit() {
  const bool flushed = std::fflush(file_.get()) == 0;
  const int error = errno;
  const bool closed = std::fclose(file_.release()) == 0;  // a full disk may show only here
  if (!flushed || !closed) throw Fault{system_message(flushed ? errno : error)};
  std::error_code problem;
  fs::rename(path_, target_, problem);
  if (problem) throw Fault{problem.message()};
  path_.clear();
}

}  // namespace weft::io
