// A private folder for what is in the making. It is removed with the object; if the process is killed, by
// whoever makes the next one beside it: its maker holds a lock on it, which ends with the process, however it
// ends.
#pragma once

#include <filesystem>
#include <string>

namespace weft::compile {

/// Where all programs keep such: $TMPDIR if it is a folder, else /tmp.
std::filesystem::path folder_of_temporary_files();

/// Whether those of its kind are removed that killed processes left. That takes longer than a small file, as
/// all of the folder around is looked through.
enum class Sweep { Yes, No };

class ScratchFolder {
 public:
  /// Makes PARENT/PREFIXxxxxxx, which only this user can enter. Throws std::system_error if it cannot be made.
  ScratchFolder(const std::filesystem::path& parent, const std::string& prefix, Sweep sweep = Sweep::Yes);
  /// Only in the process that made it; a fork leaves it alone.
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Whether this process made it, and not one that it was forked from.
  bool is_of_this_process() const;

 private:
  std::filesystem::path path_;
  int lock_ = -1;
  long maker_;
};

}  // namespace weft::compile
