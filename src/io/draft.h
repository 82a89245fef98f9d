// A file being written, which replaces the old one only when it is whole.
#pragma once

#include "io/codec.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace weft::io {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

std::string system_message(int error);  ///< Of an errno: "Permission denied".

/// A file in the same folder as `file`, where a rename is atomic. commit() gives it the name; without that it
/// disappears. Where the file system can, it has no name until then, so that not even a signal leaves it
/// behind. It keeps the permissions of the file that it replaces. Throws Fault.
class Draft {
 public:
  explicit Draft(const std::filesystem::path& file);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::FILE* file() const { return file_.get(); }
  void commit();

 private:
  std::filesystem::path target_, folder_;
  std::filesystem::path path_;  ///< Of the hidden file; empty while it has no name.
  OpenFile file_;
};

}  // namespace weft::io
