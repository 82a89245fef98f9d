// libpng and libjpeg report an error through a callback that must not return, and they are C: an exception
// must not pass through them. So the callback jumps back to where we called them, and we throw from there.
#pragma once

#include "io/codec.h"

#include <csetjmp>
#include <string>
#include <string_view>

namespace weft::io {

class Guard {
 public:
  /// `blame` starts the message: "the PNG is damaged".
  explicit Guard(std::string blame) : blame_(std::move(blame)) {}

  /// Runs code that may call fail(); turns that into a Fault. The jump skips destructors, so `body` keeps to
  /// plain calls and numbers: what owns something lives outside.
  template <class Body>
  void run(const Body& body) {
    if (setjmp(jump_) != 0) throw Fault{message_};
    body();
  }

  [[noreturn]] void fail(std::string_view detail) {
    message_ = blame_;
    message_ += ": ";
    message_ += detail;
    std::longjmp(jump_, 1);
  }
  [[noreturn]] void fail_as(std::string_view message) {
    message_ = message;
    std::longjmp(jump_, 1);
  }

 private:
  std::jmp_buf jump_;
  std::string blame_, message_;
};

}  // namespace weft::io
