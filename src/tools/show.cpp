#include "tools/show.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <weft/error.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tools/picture_codes.h"

namespace weft::tools {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// What the terminal answers to "primary device attributes", "\033[?62;4;22c", say; "" if it does not.
std::string device_attributes() {
  termios before{};
  if (isatty(STDIN_FILENO) != 1 || tcgetattr(STDIN_FILENO, &before) != 0) return "";
  termios raw = before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0, raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return "";
  std::fputs("\033[c", stdout);
  std::fflush(stdout);
  std::string answer;
  constexpr int patience = 500;  // milliseconds, also for one that is far away
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (answer.find('c') == std::string::npos && answer.size() < 256 && poll(&input, 1, patience) > 0) {
    char bytes[64];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count <= 0) break;
    answer.append(bytes, static_cast<std::size_t>(count));
  }
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
  return answer;
}

/// Whether one of the attributes, between "?" and "c", is that of sixel graphics.
bool has_sixel(const std::string& attributes) {
  const std::size_t begin = attributes.find('?'), end = attributes.find('c');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return false;
  return (";" + attributes.substr(begin + 1, end - begin - 1) + ";").find(";4;") != std::string::npos;
}

/// In pixels, with room for a few lines of text.
struct Room {
  std::int64_t width, height;
};
Room room_of_terminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    size.ws_col = 80, size.ws_row = 24;
  constexpr int usual_width = 8, usual_height = 16;  // of a character, if the terminal does not say
  const int width = size.ws_xpixel > 0 ? size.ws_xpixel : size.ws_col * usual_width;
  const int height = size.ws_ypixel > 0 ? size.ws_ypixel : size.ws_row * usual_height;
  const int lines_of_text = std::min<int>(4, size.ws_row / 2);
  return {width, height - height / size.ws_row * lines_of_text};
}

}  // namespace

TerminalPictures terminal_pictures(std::string& why) {
  if (isatty(STDOUT_FILENO) != 1) {
    why = "the standard output is no terminal";
    return TerminalPictures::None;
  }
  why = "this terminal shows no pictures, neither as sixel nor in kitty's way";
  const std::string term = environment("TERM"), program = environment("TERM_PROGRAM");
  if (term.empty() || term == "dumb") return TerminalPictures::None;
  // A multiplexer inherits the variables of the terminal it was started in, which it is not.
  const bool is_multiplexer = term.starts_with("screen") || term.starts_with("tmux");
  if (!is_multiplexer) {
    if (!environment("KITTY_WINDOW_ID").empty() || term == "xterm-kitty" || term == "xterm-ghostty" ||
        program == "ghostty")
      return TerminalPictures::Kitty;
    const bool by_name = term.find("sixel") != std::string::npos || term.starts_with("foot") ||
                         term.starts_with("mlterm") || term.starts_with("contour");
    if (by_name || program == "WezTerm" || program == "mintty") return TerminalPictures::Sixel;
  }
  return has_sixel(device_attributes()) ? TerminalPictures::Sixel : TerminalPictures::None;
}

void show_picture(const Buffer& picture, TerminalPictures how) {
  if (how == TerminalPictures::None) return;
  const Room room = room_of_terminal();
  const Buffer rgb = shrunk(as_rgb(picture), room.width, room.height);
  fmt::print("{}\n", how == TerminalPictures::Kitty ? kitty_code(rgb) : sixel_code(rgb));
  std::fflush(stdout);
}

TerminalPictures pictures_or_complaint(bool is_all) {
  std::string why;
  const TerminalPictures found = terminal_pictures(why);
  if (found != TerminalPictures::None) return found;
  if (is_all) throw Error("--show: " + why).help("-o FILE writes the picture");
  fmt::print(stderr, "weft: --show: {}\n", why);
  return found;
}

}  // namespace weft::tools
