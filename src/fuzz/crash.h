// Emitted code that is wrong may end the whole process. What was running should not be lost with it.
#pragma once

#include <string>

namespace weft::fuzz {

/// As long as it lives, a signal that ends the process, such as a segmentation fault or an interruption,
/// first prints the text on stderr. There may be one per thread, and some more. The first one sets the
/// process' handlers, unless the host has its own.
class CrashNote {
 public:
  explicit CrashNote(const std::string& text);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  std::string text_;
  int slot_ = -1;
};

}  // namespace weft::fuzz
