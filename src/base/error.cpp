#include <weft/error.h>

#include <algorithm>

namespace weft {

Error::Error(std::string message, Where where) : message_(std::move(message)), where_(std::move(where)) {
  compose();
}

Error& Error::note(const std::string& label, const std::string& text) {
  notes_.emplace_back(label, text);
  compose();
  return *this;
}

Error& Error::help(const std::string& remedy) {
  help_ = remedy;
  compose();
  return *this;
}

Error Error::within(const std::string& context, const Where& where) const {
  if (has_place()) return *this;
  Error result = *this;
  if (!context.empty()) result.message_ = context + ": " + message_;
  result.where_ = where;
  result.compose();
  return result;
}

void Error::compose() {
  text_.clear();
  if (!where_.file.empty()) text_ = where_.file + ":" + std::to_string(where_.line) + ": error: ";
  text_ += message_;
  std::size_t width = 0;
  for (const auto& [label, text] : notes_) width = std::max(width, label.size());
  for (const auto& [label, text] : notes_) {
    text_ += "\n  " + label + std::string(width - label.size() + 1, ' ') + text;
  }
  if (!help_.empty()) text_ += "\n  help: " + help_;
}

}  // namespace weft
