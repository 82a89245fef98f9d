// Which C++ snippets of a page no test has. Pages promise that what they show compiles.
#pragma once

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace weft::testing_support {

inline std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Without white space, so that indentation and line breaks may differ.
inline std::string squeezed(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) result += c;
  }
  return result;
}

/// The blocks of a page between ```cpp and ```.
inline std::vector<std::string> snippets_of(const std::string& page) {
  const std::string open = "```cpp\n", close = "```";
  std::vector<std::string> snippets;
  for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    snippets.push_back(page.substr(at, page.find(close, at) - at));
  }
  return snippets;
}

/// The snippets of a page that stand in none of the files.
inline std::vector<std::string> snippets_without_test(const std::string& page,
                                                      const std::vector<std::string>& files) {
  std::string tested;
  for (const std::string& file : files) tested += squeezed(text_of(file));
  std::vector<std::string> missing;
  for (const std::string& snippet : snippets_of(text_of(page))) {
    if (tested.find(squeezed(snippet)) == std::string::npos) missing.push_back(snippet);
  }
  return missing;
}

}  // namespace weft::testing_support
