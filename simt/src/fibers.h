// Stacks to run threads of a kernel on, and switching from one to another. It uses the lower layer of
// Boost.Context: threads switch to one another directly, and a stack whose thread will never go on is simply
// used again, without unwinding it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace simt {

struct Fiber {
  void* context = nullptr;  ///< Where it goes on; of a fiber that does not run.
  char* stack = nullptr;    ///< The lower end.
  bool guarded = false;
};

class Fibers {
 public:
  using Body = void (*)(void* argument);  ///< Never returns.

  /// At most `count` fibers.
  Fibers(std::size_t count, Body body, void* argument);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// A fiber that begins, or goes on, at the top of the body's loop.
  Fiber* take();
  /// The running fiber says that it can be taken again when it is switched to.
  void give(Fiber* fiber) { free_.push_back(fiber); }
  /// All fibers begin anew.
  void reset();

  /// Leaves the running fiber (or the caller's own stack, if none runs) for another one.
  void enter(Fiber* next);
  /// Leaves the running fiber for the stack that entered the first one.
  void leave();
  Fiber* running() const { return running_; }

  bool contains(const void* address) const {
    return static_cast<std::size_t>(static_cast<const char*>(address) - memory_) < bytes_;
  }
  /// Whether the address is on the running fiber's stack.
  bool on_running_stack(const void* address) const;

 private:
  struct Entry;
  void switch_to(Fiber* next);
  void prepare(Fiber& fiber);

  Body body_;
  void* argument_;
  char* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<Fiber> fibers_;
  std::size_t used_ = 0;
  std::vector<Fiber*> free_;
  Fiber outside_;             ///< The stack that everything is started from.
  Fiber* running_ = nullptr;  ///< Null: outside.
  Fiber* left_ = nullptr;     ///< Who switched last.
};

}  // namespace simt
