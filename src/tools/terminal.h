// What is printed for people: tables, numbers, and progress on a terminal.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/run_progress.h"

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

/// One line on stderr that is overwritten; nothing if stderr is no terminal, or nothing is wanted.
class Progress {
 public:
  explicit Progress(bool quiet = false);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool is_visible() const { return terminal_; }
  void show(const std::string& line);  ///< As much of it as the terminal is wide.
  void clear();                        ///< Before anything else is printed.

 private:
  bool terminal_, shown_ = false;
};

/// What goes on now, as the line of progress: shown at once, and again several times a second as long as this
/// lives, by a thread of its own. Nobody else uses the line meanwhile.
class Activity {
 public:
  /// `text` gets the seconds since the beginning.
  Activity(Progress& progress, std::function<std::string(double seconds)> text);
  /// "reading in.png", after a while "reading in.png, 3 s"
  Activity(Progress& progress, const std::string& what);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  void keep_showing();

  Progress& progress_;
  std::function<std::string(double seconds)> text_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread thread_;
};

/// "running: 25 %, step 3 of 12, about 6 s left"
std::string running_text(const RunProgress& progress, double seconds);
std::string duration(double seconds);  ///< "12 s", "3 min 20 s", "2 h 5 min", "4 days"

std::string joined(const std::vector<std::string>& items, const std::string& separator = ", ");
std::string one_of(const std::vector<std::string>& items);  ///< "a, b or c"
std::string milliseconds(double seconds);                   ///< "3.21 ms"

}  // namespace weft::tools
