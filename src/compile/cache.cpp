#include "compile/cache.h"

#include <weft/error.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace weft::compile {
namespace {

namespace fs = std::filesystem;

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

[[noreturn]] void refuse(const fs::path& folder, const std::string& what) {
  throw Error("the cache folder " + quoted(folder) + " " + what)
      .help("set WEFT_CACHE to a folder that only you can write to");
}

std::string what_cannot_be_written(const fs::path& folder, int error) {
  return "the cache folder " + quoted(folder) + " cannot be written: " + std::strerror(error);
}

[[noreturn]] void fail_to_write(const fs::path& folder, int error) {
  throw Error(what_cannot_be_written(folder, error))
      .help("set WEFT_CACHE to a folder that only you can write to");
}

const char* set_variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

fs::path folder_from_environment() {
  if (const char* weft = set_variable("WEFT_CACHE")) return weft;
  // The XDG specification has relative paths ignored.
  if (const char* xdg = set_variable("XDG_CACHE_HOME"); xdg && *xdg == '/') return fs::path(xdg) / "weft";
  if (const char* home = set_variable("HOME")) return fs::path(home) / ".cache" / "weft";
  throw Error("there is no folder to cache compiled code in: WEFT_CACHE, XDG_CACHE_HOME and HOME are not set")
      .help("set WEFT_CACHE to a folder that only you can write to");
}

/// Absolute, so that a later chdir changes nothing, and without a trailing slash, which would make the kernel
/// follow a symbolic link in spite of O_NOFOLLOW.
fs::path normal(const fs::path& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) fail_to_write(folder, error.value());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail_to_write(folder, errno);
}

void check_that_it_is_private(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    if (error == ENOTDIR || error == ELOOP) {
      refuse(folder, fs::is_symlink(folder) ? "is a symbolic link" : "is not a folder");
    }
    refuse(folder, std::string("cannot be opened: ") + std::strerror(error));
  }
  struct stat info {};
  ::fstat(fd, &info);
  ::close(fd);
  if (info.st_uid != ::geteuid()) refuse(folder, "belongs to another user");
  if (info.st_mode & writable_by_others) refuse(folder, "can be written by other users");
}

/// The error's number if nothing can be put there, else 0.
int why_unwritable(const fs::path& folder) {
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/// For a process without a cache of its user's: made when it is first needed, removed when the process ends.
class TemporaryCache {
 public:
  static TemporaryCache& of_this_process() {
    static TemporaryCache one;
    return one;
  }

  std::optional<fs::path> existing() {
    const std::lock_guard lock(mutex_);
    return folder_ ? std::optional(folder_->path()) : std::nullopt;
  }
  fs::path made(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (!folder_ || !folder_->is_of_this_process()) {
      make(why);
      std::fprintf(
          stderr,  // on a terminal over a line of progress, if there is one
          "%sweft: %s; compiled code is kept until the program ends (WEFT_CACHE names another folder)\n",
          ::isatty(STDERR_FILENO) ? "\r\033[K" : "", why.c_str());
    }
    return folder_->path();
  }

 private:
  void make(const std::string& why) {
    const fs::path parent = folder_of_temporary_files();
    try {
      folder_.emplace(parent, "weft-cache-");
    } catch (const std::system_error& error) {
      throw Error(why + "; nor can a temporary one be made in " + quoted(parent) + ": " +
                  error.code().message())
          .help("set WEFT_CACHE to a folder that only you can write to");
    }
  }

  std::mutex mutex_;
  std::optional<ScratchFolder> folder_;
};

void move_into_place(const fs::path& made, const fs::path& final_path) {
  struct stat info {};
  if (::lstat(made.c_str(), &info) != 0 || info.st_size == 0) {
    throw InternalError("nothing was written for the cache file " + quoted(final_path));
  }
  // A linker makes its output under the user's umask, which may let a group write.
  if (::chmod(made.c_str(), info.st_mode & 0777 & ~writable_by_others) != 0 ||
      ::rename(made.c_str(), final_path.c_str()) != 0) {
    fail_to_write(final_path.parent_path(), errno);
  }
}

std::string file_name(const std::string& key, const std::string& extension) {
  const std::string name = key + extension;
  if (key.empty() || key[0] == '.' || name.find('/') != std::string::npos) {
    throw InternalError("'" + name + "' is no name for a cache file");
  }
  return name;
}

bool is_trusted(const fs::path& file) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
         info.st_uid == ::geteuid() && !(info.st_mode & writable_by_others);
}

}  // namespace

std::string content_key(std::initializer_list<std::string_view> parts) {
  std::string bytes;
  for (const std::string_view part : parts) {
    const std::uint64_t length = part.size();
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(part);
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  std::string hex;
  for (const std::uint64_t half : {hash.high64, hash.low64}) {
    for (int shift = 60; shift >= 0; shift -= 4) hex += "0123456789abcdef"[half >> shift & 15];
  }
  return hex;
}

ContentCache::ContentCache() {
  try {
    folder_ = normal(folder_from_environment());
    make_folder(folder_);
    check_that_it_is_private(folder_);
    if (const int error = why_unwritable(folder_)) why_temporary_ = what_cannot_be_written(folder_, error);
  } catch (const Error& error) {
    folder_.clear();
    why_temporary_ = error.message();
  }
}

ContentCache::ContentCache(fs::path folder) : folder_(normal(folder)) {
  make_folder(folder_);
  check_that_it_is_private(folder_);
}

fs::path ContentCache::folder() const {
  return why_temporary_.empty() ? folder_ : TemporaryCache::of_this_process().made(why_temporary_);
}

std::optional<fs::path> ContentCache::find(const std::string& key, const std::string& extension) const {
  const std::string name = file_name(key, extension);
  if (!folder_.empty() && is_trusted(folder_ / name)) return folder_ / name;
  if (why_temporary_.empty()) return std::nullopt;
  const auto temporary = TemporaryCache::of_this_process().existing();
  return temporary && is_trusted(*temporary / name) ? std::optional(*temporary / name) : std::nullopt;
}

fs::path ContentCache::get(const std::string& key, const std::string& extension,
                           const Produce& produce) const {
  if (const auto found = find(key, extension)) return *found;
  return put(key, extension, produce);
}

fs::path ContentCache::put(const std::string& key, const std::string& extension,
                           const Produce& produce) const {
  return put(key, extension, produce, Sweep::Yes);
}

void ContentCache::put_note(const std::string& key, const std::string& extension,
                            const std::string& text) const {
  const auto write = [&](const fs::path& temporary) {
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    file.close();
    if (!file) fail_to_write(folder(), errno);
  };
  put(key, extension, write, Sweep::No);
}

fs::path ContentCache::put(const std::string& key, const std::string& extension, const Produce& produce,
                           Sweep sweep) const {
  const std::string name = file_name(key, extension);
  const fs::path place = folder();
  std::optional<ScratchFolder> scratch;
  try {
    scratch.emplace(place, ".making-", sweep);
  } catch (const std::system_error& error) {
    fail_to_write(place, error.code().value());
  }
  produce(scratch->path() / name);
  move_into_place(scratch->path() / name, place / name);
  return place / name;
}

}  // namespace weft::compile
