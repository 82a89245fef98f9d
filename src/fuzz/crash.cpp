#include "fuzz/crash.h"

#include <array>
#include <atomic>
#include <csignal>

#include <unistd.h>

namespace weft::fuzz {
namespace {

/// A handler of signals can reach nothing but what is static, and may not allocate.
std::array<std::atomic<const std::string*>, 64> notes;

std::atomic_flag printing;

void print_notes(int signal) {
  // Of threads that crash together, the others wait for the end that the first brings.
  while (printing.test_and_set()) ::pause();
  for (const auto& note : notes) {
    const std::string* text = note.load();
    if (text == nullptr) continue;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text->data(), text->size());
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

bool set_handlers() {
  struct sigaction action {
  }, old{};
  action.sa_handler = print_notes;
  sigfillset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM}) {
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
      ::sigaction(signal, &action, nullptr);
  }
  return true;
}

}  // namespace

CrashNote::CrashNote(const std::string& text) : text_(text) {
  [[maybe_unused]] static const bool once = set_handlers();
  for (std::size_t i = 0; i < notes.size() && slot_ < 0; ++i) {
    const std::string* none = nullptr;
    if (notes[i].compare_exchange_strong(none, &text_)) slot_ = static_cast<int>(i);
  }
}

CrashNote::~CrashNote() {
  if (slot_ >= 0) notes[static_cast<std::size_t>(slot_)] = nullptr;
}

}  // namespace weft::fuzz
