#include "tools/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <utility>

namespace weft::tools {
namespace {

/// Columns on a terminal: code points, for UTF-8.
std::size_t width_of(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; });
}

/// Of the terminal on stderr.
std::size_t columns_of_terminal() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

/// As much of a text as fits, without half a character.
std::string first_columns(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    if (columns-- == 0) break;
    end = next;
  }
  return text.substr(0, end);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths;
  std::vector<bool> right(rows_[0].size(), true);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    widths.resize(std::max(widths.size(), rows_[r].size()));
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      widths[c] = std::max(widths[c], width_of(rows_[r][c]));
      if (c == 0 || (r > 0 && !rows_[r][c].empty() && !is_number(rows_[r][c]))) right[c] = false;
    }
  }
  std::string all;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - width_of(row[c]), ' ');
      line += (c > 0 ? "  " : "") + (right[c] ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  }
  return all;
}

Progress::Progress(bool quiet) : terminal_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Progress::show(const std::string& line) {
  if (!terminal_) return;
  // A line that wraps would not be overwritten.
  std::fprintf(stderr, "\r\033[K%s", first_columns(line, columns_of_terminal() - 1).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

Activity::Activity(Progress& progress, std::function<std::string(double)> text)
    : progress_(progress), text_(std::move(text)) {
  if (!progress_.is_visible()) return;
  progress_.show(text_(0));
  try {
    thread_ = std::thread([this] { keep_showing(); });
  } catch (const std::system_error&) {
    // No more threads: the line stays as it is.
  }
}

Activity::Activity(Progress& progress, const std::string& what)
    : Activity(progress, [what](double seconds) {
        return seconds < 1 ? what : fmt::format("{}, {}", what, duration(seconds));
      }) {}

Activity::~Activity() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    ends_.notify_one();
    thread_.join();
  }
  progress_.clear();
}

void Activity::keep_showing() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, std::chrono::milliseconds(200), [this] { return ended_; }))
    progress_.show(text_(std::chrono::duration<double>(Clock::now() - start).count()));
}

std::string running_text(const RunProgress& progress, double seconds) {
  const double done = progress.done.load(std::memory_order_relaxed);
  const std::int64_t steps = progress.steps.load(std::memory_order_relaxed);
  std::string text = done > 0 ? fmt::format("running: {:.0f} %", std::floor(100 * done)) : "running";
  if (steps > 0) text += fmt::format(", step {} of {}", progress.step.load(std::memory_order_relaxed), steps);
  // The first moments say little of what is to come.
  if (done > 0 && seconds >= 1)
    text += fmt::format(", about {} left", duration(seconds * (1 - done) / done));
  else if (seconds >= 1)
    text += ", " + duration(seconds);
  return text;
}

std::string duration(double seconds) {
  constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
  const double s = std::round(seconds);
  if (s < minute) return fmt::format("{:.0f} s", s);
  if (s < hour) return fmt::format("{:.0f} min {:.0f} s", std::floor(s / minute), std::fmod(s, minute));
  if (s < 2 * day)
    return fmt::format("{:.0f} h {:.0f} min", std::floor(s / hour), std::floor(std::fmod(s, hour) / minute));
  if (s < 1000 * day) return fmt::format("{:.0f} days", s / day);
  return "years";
}

std::string joined(const std::vector<std::string>& items, const std::string& separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string one_of(const std::vector<std::string>& items) {
  if (items.size() < 2) return joined(items);
  return joined({items.begin(), items.end() - 1}) + " or " + items.back();
}

std::string milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return fmt::format("{:.{}f} ms", ms, ms < 0.1 ? 4 : ms < 1 ? 3 : ms < 100 ? 2 : 0);
}

}  // namespace weft::tools
