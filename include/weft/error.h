// What Weft throws when the user's input is at fault. One line says what and where; further lines say what
// was needed, what is there, and how to mend it.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {

/// A place in the user's own source; empty when there is none (a file on disk, a command line).
struct Where {
  std::string file;
  int line = 0;

  Where() = default;
  Where(const std::source_location& here)  // NOLINT(google-explicit-constructor)
      : file(here.file_name()), line(static_cast<int>(here.line())) {}
};

/// A user's mistake. what() is the whole message:
///
///     blur.cpp:14: error: 'out' reads 'blur' outside its box
///       needs   blur y in [-1, h]
///       defined blur y in [0, h-1]
///       help: blur.border(Border::clamp())
class Error : public std::exception {
 public:
  explicit Error(std::string message, Where where = {});

  Error& note(const std::string& label, const std::string& text);  ///< One indented "label text" line.
  Error& help(const std::string& remedy);                          ///< The remedy, last.

  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& message() const { return message_; }  ///< The first line, without the place.
  bool has_place() const { return !where_.file.empty(); }
  /// The same mistake seen from further out: a place, and "context: " before the message if there is a
  /// context, unless a place is known.
  Error within(const std::string& context, const Where& where) const;

 private:
  void compose();

  std::string message_, help_, text_;
  Where where_;
  std::vector<std::pair<std::string, std::string>> notes_;
};

/// A mistake in Weft itself: a pass broke an invariant. Never the user's fault.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace weft
