#include "fibers.h"

#include "page_size.h"
#include "simt/simt.h"

#include <boost/context/detail/fcontext.hpp>

#include <cstdint>

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#endif

namespace simt {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// The odd lines keep the tops of the stacks, which are in use at the same time, in different cache sets.
constexpr std::size_t stack_size = 128 * 1024;
constexpr std::size_t stride = stack_size + 320;

/// Frames that were left without returning are forgotten: with a sanitizer in this program, by it, too.
void forget_frames([[maybe_unused]] char* low, [[maybe_unused]] std::size_t size) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(low, size);
#endif
}

}  // namespace

struct Fibers::Entry {
  static void begin(transfer_t from) {
    auto* fibers = static_cast<Fibers*>(from.data);
    fibers->left_->context = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    fibers->body_(fibers->argument_);
  }
};

Fibers::Fibers(std::size_t count, Body body, void* argument)
    : body_(body), argument_(argument), bytes_(count * stride), fibers_(count) {
  void* memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Failure("no memory for the stacks of a block's threads");
  memory_ = static_cast<char*>(memory);
  for (std::size_t i = 0; i < count; ++i) fibers_[i].stack = memory_ + i * stride;
  free_.reserve(count);
}

Fibers::~Fibers() {
  forget_frames(memory_, bytes_);
  ::munmap(memory_, bytes_);
}

void Fibers::prepare(Fiber& fiber) {
  if (!fiber.guarded) {
    // A thread that uses too much stack is stopped in the first whole page, before it reaches its
    // neighbour's.
    const auto low = reinterpret_cast<std::uintptr_t>(fiber.stack);
    const std::uintptr_t page = (low + page_size - 1) / page_size * page_size;
    ::mprotect(reinterpret_cast<void*>(page), page_size, PROT_NONE);
    fiber.guarded = true;
  }
  forget_frames(fiber.stack, stack_size);
  fiber.context = make_fcontext(fiber.stack + stack_size, stack_size, Entry::begin);
}

Fiber* Fibers::take() {
  if (!free_.empty()) {
    Fiber* fiber = free_.back();
    free_.pop_back();
    return fiber;
  }
  Fiber& fiber = fibers_.at(used_++);
  prepare(fiber);
  return &fiber;
}

void Fibers::reset() {
  running_ = nullptr;
  used_ = 0;
  free_.clear();
}

void Fibers::enter(Fiber* next) { switch_to(next); }
void Fibers::leave() { switch_to(nullptr); }

void Fibers::switch_to(Fiber* next) {
  Fiber* self = running_ ? running_ : &outside_;
  Fiber* target = next ? next : &outside_;
  running_ = next;
  left_ = self;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  const void* bottom = target->stack;
  std::size_t size = stack_size;
  if (!next) {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* low = nullptr;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    bottom = low;
  }
  __sanitizer_start_switch_fiber(&fake_stack, bottom, size);
#endif
  const transfer_t from = jump_fcontext(target->context, this);
  left_->context = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

bool Fibers::on_running_stack(const void* address) const {
  return running_ &&
         static_cast<std::size_t>(static_cast<const char*>(address) - running_->stack) < stack_size;
}

}  // namespace simt
