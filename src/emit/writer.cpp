#include "emit/writer.h"

#include <cctype>
#include <limits>
#include <sstream>

namespace weft::emit {
namespace {

constexpr std::size_t line_limit = 110;

/// Where to break `text` so that the first part has at most `room` characters: outside as many parentheses as
/// possible, rather at a comma, a sum or a condition than inside a product, as late as possible. A function's name after
/// what is in parentheses counts as inside of some. npos if there is no such place.
std::size_t break_position(const std::string& text, std::size_t room) {
  int depth = 0, best_cost = std::numeric_limits<int>::max();
  std::size_t best = std::string::npos;
  for (std::size_t i = 0; i + 1 < text.size() && i < room; ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    if (text[i] != ' ' || i <= room / 3) continue;
    const bool after_comma = text[i - 1] == ',';
    const std::string next = text.substr(i + 1, 2);
    const bool is_sum =
        next == "+ " || next == "- " || next == "? " || next == ": " || next == "&&" || next == "||";
    const bool is_other =
        next == "* " || next == "/ " || next == "< " || next == "<=" || next == "==" || next == "& ";
    const bool is_name = text[i - 1] == ')' && std::isalpha(static_cast<unsigned char>(text[i + 1]));
    if (!after_comma && !is_sum && !is_other && !is_name) continue;
    const int cost = 2 * depth + (is_other ? 1 : 0) + (is_name ? 2 : 0);
    if (cost <= best_cost) {
      best = i;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace

void Writer::line(const std::string& text) {
  std::string rest = text, prefix = margin();
  while (prefix.size() + rest.size() > line_limit) {
    const std::size_t at = break_position(rest, line_limit - prefix.size());
    if (at == std::string::npos) break;
    text_ += prefix + rest.substr(0, at) + '\n';
    rest = rest.substr(at + 1);
    prefix = margin() + "    ";
  }
  text_ += prefix + rest + '\n';
}

void Writer::comment(const std::string& text) {
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) {
    if (one.ends_with('\\')) one += '.';  // or the comment would go on in the next line
    text_ += margin() + (one.empty() ? "//" : "// " + one) + '\n';
  }
}

void Writer::open(const std::string& text) {
  line(text.empty() ? "{" : text + " {");
  ++depth_;
}

void Writer::close(const std::string& text) {
  --depth_;
  line(text);
}

bool mentions(const std::string& text, const std::string& identifier) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  std::size_t at = text.find(identifier);
  while (at != std::string::npos && (is_part(at - 1) || is_part(at + identifier.size())))
    at = text.find(identifier, at + 1);
  return at != std::string::npos;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

}  // namespace weft::emit
