#include "runtime/cache.h"

#include <weft/error.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace weft::runtime {
namespace {

namespace fs = std::filesystem;

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

[[noreturn]] void refuse(const fs::path& folder, const std::string& what) {
  throw Error("the cache folder " + quoted(folder) + " " + what)
      .help("set WEFT_CACHE to a folder that only you can write to");
}

[[noreturn]] void fail_to_write(const fs::path& folder, int error) {
  refuse(folder, std::string("cannot be written: ") + std::strerror(error));
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

/// An empty file of our own in the folder; removed in the end unless it has got its final name.
class Temporary {
 public:
  Temporary(const fs::path& folder, const std::string& key, const std::string& extension)
      : name_((folder / ("." + key + ".XXXXXX")).string() + extension) {
    // The extension stays last: compilers go by it.
    const int fd = ::mkostemps(name_.data(), static_cast<int>(extension.size()), O_CLOEXEC);
    if (fd < 0) fail_to_write(folder, errno);
    ::close(fd);
    exists_ = true;
  }
  ~Temporary() {
    if (exists_) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  fs::path path() const { return name_; }

  void rename_to(const fs::path& final_path) {
    struct stat info {};
    if (::lstat(name_.c_str(), &info) != 0 || info.st_size == 0) {
      throw InternalError("nothing was written for the cache file " + quoted(final_path));
    }
    // A linker makes its output anew, under the user's umask, which may let a group write.
    if (::chmod(name_.c_str(), info.st_mode & 0777 & ~writable_by_others) != 0 ||
        ::rename(name_.c_str(), final_path.c_str()) != 0) {
      fail_to_write(final_path.parent_path(), errno);
    }
    exists_ = false;
  }

 private:
  std::string name_;
  bool exists_ = false;
};

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

ContentCache::ContentCache() : ContentCache(folder_from_environment()) {}

ContentCache::ContentCache(fs::path folder) : folder_(normal(folder)) {
  make_folder(folder_);
  check_that_it_is_private(folder_);
}

fs::path ContentCache::path_of(const std::string& key, const std::string& extension) const {
  const std::string name = key + extension;
  if (key.empty() || key[0] == '.' || name.find('/') != std::string::npos) {
    throw InternalError("'" + name + "' is no name for a cache file");
  }
  return folder_ / name;
}

std::optional<fs::path> ContentCache::find(const std::string& key, const std::string& extension) const {
  const fs::path path = path_of(key, extension);
  struct stat info {};
  const bool ours = ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
                    info.st_uid == ::geteuid() && !(info.st_mode & writable_by_others);
  return ours ? std::optional(path) : std::nullopt;
}

fs::path ContentCache::get(const std::string& key, const std::string& extension,
                           const Produce& produce) const {
  if (const auto found = find(key, extension)) return *found;
  return put(key, extension, produce);
}

fs::path ContentCache::put(const std::string& key, const std::string& extension,
                           const Produce& produce) const {
  const fs::path final_path = path_of(key, extension);
  Temporary temporary(folder_, key, extension);
  produce(temporary.path());
  temporary.rename_to(final_path);
  return final_path;
}

}  // namespace weft::runtime
