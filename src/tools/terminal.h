// What is printed for people: tables, numbers, and progress on a terminal.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

/// Columns as wide as they need to be; those of numbers, but for the first, are aligned right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// One line on stderr that is overwritten; nothing if stderr is no terminal.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& line);
  void clear();  ///< Before anything else is printed.

 private:
  bool terminal_, shown_ = false;
};

std::string joined(const std::vector<std::string>& items, const std::string& separator = ", ");
std::string one_of(const std::vector<std::string>& items);  ///< "a, b or c"
std::string milliseconds(double seconds);                   ///< "3.21 ms"

}  // namespace weft::tools
