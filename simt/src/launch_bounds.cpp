#include "launch_bounds.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace simt {
namespace {

constexpr std::string_view keyword = "__launch_bounds__";

/// Where the piece of text that begins at `at` ends, if it is a comment, a literal or a directive, else `at`.
std::size_t end_of_what_is_no_code(const std::string& text, std::size_t at) {
  const auto after = [&](std::size_t found, std::size_t length) {
    return found == std::string::npos ? text.size() : found + length;
  };
  if (text.compare(at, 2, "/*") == 0) return after(text.find("*/", at + 2), 2);
  if (text[at] == '#' || text.compare(at, 2, "//") == 0) {
    std::size_t end = text.find('\n', at);
    while (end != std::string::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
    return after(end, 0);
  }
  const bool separates_digits = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1]));
  if (text[at] != '"' && (text[at] != '\'' || separates_digits)) return at;
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
  return after(std::min(end, text.size()), 1);
}

/// The text with blanks for all that is no code.
std::string code_of(const std::string& text) {
  std::string code = text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(end_of_what_is_no_code(text, at), text.size());
    std::fill(code.begin() + static_cast<std::ptrdiff_t>(at), code.begin() + static_cast<std::ptrdiff_t>(end),
              ' ');
    at = std::max(end, at + 1);
  }
  return code;
}

/// Behind the parenthesis that closes the one at `open`; npos if there is none.
std::size_t behind_parentheses(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < code.size(); ++at) {
    depth += code[at] == '(' ? 1 : code[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::string::npos;
}

/// Where the body begins of the function whose head goes on at `at`: behind its brace, npos for a
/// declaration.
std::size_t body_after(const std::string& code, std::size_t at) {
  while ((at = code.find_first_of("({;", at)) != std::string::npos) {
    if (code[at] != '(') return code[at] == '{' ? at + 1 : std::string::npos;
    at = behind_parentheses(code, at);
  }
  return at;
}

}  // namespace

std::string with_launch_bounds(const std::string& text) {
  const std::string code = code_of(text);
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = 0; (at = code.find(keyword, at)) != std::string::npos; at += keyword.size()) {
    const std::size_t open = code.find_first_not_of(" \t\r\n", at + keyword.size());
    if (open == std::string::npos || code[open] != '(') continue;
    const std::size_t close = behind_parentheses(code, open);
    const std::size_t body = close == std::string::npos ? close : body_after(code, close);
    if (body == std::string::npos) continue;
    std::string bounds = code.substr(open, close - open);
    std::replace(bounds.begin(), bounds.end(), '\n', ' ');
    result += text.substr(copied, body - copied) + " SIMT_LAUNCH_BOUNDS" + bounds;
    copied = body;
  }
  return result + text.substr(copied);
}

}  // namespace simt
