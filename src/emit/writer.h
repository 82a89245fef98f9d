// Indented text with long lines broken where a person would break them.
#pragma once

#include <string>

namespace weft::emit {

class Writer {
 public:
  void line(
      const std::string& text);  ///< One statement; broken after operators and commas if it is too long.
  void blank() { text_ += '\n'; }
  void raw(const std::string& text) { text_ += text; }
  void comment(const std::string& text);  ///< One // line per line of text.
  void open(const std::string& text);     ///< `text {`, and indents what follows.
  void close(const std::string& text = "}");
  void indent() { ++depth_; }
  void dedent() { --depth_; }

  const std::string& text() const { return text_; }

 private:
  std::string margin() const { return std::string(static_cast<std::size_t>(depth_) * 2, ' '); }
  std::string text_;
  int depth_ = 0;
};

/// Whether the text has the identifier, as a whole one.
bool mentions(const std::string& text, const std::string& identifier);
/// The text with `with` in every place of `what`.
std::string replaced(std::string text, const std::string& what, const std::string& with);

}  // namespace weft::emit
