#include "engine.h"

#include "errors.h"

#include <fmt/format.h>

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>
#include <numeric>

namespace simt {
namespace {

constexpr int shared_poison = 0xcb;

std::uint64_t count(abi::Dim d) { return std::uint64_t{d.x} * d.y * d.z; }

abi::Dim index_in(abi::Dim extent, std::uint64_t linear) {
  return {static_cast<unsigned>(linear % extent.x), static_cast<unsigned>(linear / extent.x % extent.y),
          static_cast<unsigned>(linear / extent.x / extent.y)};
}

Dim3 public_dim(abi::Dim d) { return {d.x, d.y, d.z}; }

// A kernel that the processor stops leaves by way of its signal. A handler has no argument of ours, so what
// it needs is the thread's.
struct Guard {
  sigjmp_buf out;
  int signal;
  const void* address;
  const void* pc;
};
thread_local Guard* guard = nullptr;

constexpr int guarded_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction actions_before[std::size(guarded_signals)];

void leave_kernel(int signal, siginfo_t* info, void* context) {
  Guard* const to = guard;
  if (!to) {  // not a kernel's: it happens again, and whoever handled it before handles it
    for (std::size_t i = 0; i < std::size(guarded_signals); ++i) {
      if (guarded_signals[i] == signal) ::sigaction(signal, &actions_before[i], nullptr);
    }
    return;
  }
  to->signal = signal;
  to->address = info->si_addr;
  to->pc = reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  siglongjmp(to->out, 1);
}

/// Once for the program: handlers belong to all its threads.
void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = leave_kernel;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < std::size(guarded_signals); ++i) {
      ::sigaction(guarded_signals[i], &action, &actions_before[i]);
    }
  });
}

/// Until the end of the scope a kernel may be stopped; its handler runs on a stack of its own.
class GuardedScope {
 public:
  explicit GuardedScope(Guard& here) : stack_(std::make_unique<char[]>(stack_size)) {
    install_handlers();
    stack_t stack{};
    stack.ss_sp = stack_.get();
    stack.ss_size = stack_size;
    ::sigaltstack(&stack, &old_stack_);
    guard = &here;
  }
  ~GuardedScope() {
    guard = nullptr;
    ::sigaltstack(&old_stack_, nullptr);
  }
  GuardedScope(const GuardedScope&) = delete;
  GuardedScope& operator=(const GuardedScope&) = delete;

 private:
  static constexpr std::size_t stack_size = 64 * 1024;
  std::unique_ptr<char[]> stack_;
  stack_t old_stack_{};
};

}  // namespace

Engine::Engine(Options options)
    : options_(std::move(options)),
      random_(options_.seed),
      findings_(options_.most_reports),
      memory_(options_.memory),
      timeline_(random_),
      executor_(*this, random_) {}

Engine::~Engine() {
  for (const auto& [address, bytes] : pinned_) std::free(const_cast<void*>(address));
}

std::shared_ptr<LoadedText> Engine::load(const Compiled& compiled) {
  auto text = std::make_unique<Text>();
  text->loaded = std::make_shared<LoadedText>(compiled, *this);
  text->shared.range = text->loaded->shared;
  text->dynamic_shared.range = text->loaded->dynamic_shared;
  text->variables.range = text->loaded->writable;
  races_ |= compiled.build == Build::race;
  texts_.push_back(std::move(text));
  return texts_.back()->loaded;
}

void Engine::forget() {
  findings_.forget();
  counters_.forget();
}

Engine::Text* Engine::text_of(const void* address) {
  for (const auto& text : texts_) {
    if (text->loaded->image.contains(address)) return text.get();
  }
  return nullptr;
}

void Engine::run_kernel(OperationId operation, const abi::Launch& launch, abi::Invocation& invocation) {
  Text* text = text_of(launch.kernel);
  kernel_ = {text,         text->loaded->build(), operation, launch.kernel, launch.grid,
             launch.block, launch.dynamic_shared, 0};
  executor_.begin_kernel(launch.block, invocation);
  if (kernel_.build == Build::race) clocks_.begin_kernel(static_cast<unsigned>(count(launch.block)));
  if (options_.count) {
    counters_.begin_kernel(text->loaded.get(), launch.kernel, count(launch.grid) * count(launch.block));
  }
  shared_arrays_ = text->loaded->shared_arrays(launch.kernel);
  shared_arrays_.push_back({text->loaded->dynamic_shared.begin, launch.dynamic_shared});
  if (!run_guarded() && !kernel_error_) kernel_error_ = error::launch_failure;
  if (options_.count) counters_.end_kernel();
  kernel_ = {};
}

bool Engine::run_guarded() {
  Guard here{};
  const GuardedScope scope(here);
  if (sigsetjmp(here.out, 1) == 0) {
    const std::uint64_t blocks = count(kernel_.grid);
    // A walk through all blocks whose steps have no common divisor with their number meets each once.
    std::uint64_t step = random_.ordered() ? 1 : 1 + random_.below(blocks);
    while (std::gcd(step, blocks) != 1) ++step;
    std::uint64_t number = random_.below(blocks);
    for (std::uint64_t i = 0; i < blocks; ++i, number = (number + step) % blocks) {
      if (!run_block(number)) return false;
    }
    return true;
  }
  report_crash(here.signal, here.address, here.pc);
  executor_.abandon();
  return false;
}

bool Engine::run_block(std::uint64_t number) {
  kernel_.block_number = static_cast<std::uint32_t>(number);
  pending_copies_.clear();
  groups_of_copies_.clear();
  is_copying_ = false;
  if (kernel_.build == Build::race) clocks_.begin_block(kernel_.block_number);
  for (const Range& array : shared_arrays_)
    std::memset(const_cast<char*>(array.begin), shared_poison, array.size);
  return executor_.run_block(index_in(kernel_.grid, number));
}

void Engine::report_crash(int signal, const void* address, const void* pc) {
  const Lane* lane = executor_.current();
  if (!lane) return;
  kernel_error_ = signal == SIGSEGV ? error::illegal_address : error::launch_failure;
  std::string action;
  switch (signal) {
    case SIGFPE: action = "divides by zero, or overflows in dividing"; break;
    case SIGILL: action = "comes to an instruction that is none: to code that it should not reach"; break;
    default:
      action = address ? fmt::format("uses the address {}, which is not the device's", address)
                       : "uses the null pointer, or a vector at an address that is no multiple of its size";
  }
  const Location where{kernel_.text->loaded.get(), static_cast<const char*>(pc) + 1, {}};
  found(Kind::crash, "the processor stopped the kernel", thread(*lane, where, action));
}

// In kernels.

std::uint64_t Engine::collective(abi::Collective kind, unsigned mask, std::uint64_t value, int argument,
                                 int width, abi::Site site) {
  return executor_.collective(kind, mask, value, argument, width, site);
}

int Engine::barrier(abi::Barrier kind, int predicate, abi::Site site) {
  return executor_.barrier(kind, predicate, site);
}

void Engine::fence(abi::Scope) {
  if (kernel_.build == Build::race) clocks_.fence(*executor_.current());
}

void Engine::trap(const char* why, abi::Site site) {
  if (!executor_.current()) return;
  const Location where{kernel_.text->loaded.get(), nullptr, site};
  found(Kind::crash, "the kernel stopped itself",
        thread(*executor_.current(), where, fmt::format("calls {}", why)));
  executor_.end_kernel();
}

void Engine::collective_done(abi::Collective kind, unsigned warp, std::uint32_t lanes, abi::Site site) {
  if (kind == abi::Collective::syncwarp && kernel_.build == Build::race) clocks_.join(warp, lanes);
  if (!options_.count) return;
  counters_.collective(kind, site);
  if (lanes == ~0u) counters_.lanes_met(warp);
}

void Engine::barrier_done(unsigned warps, abi::Site site) {
  if (kernel_.build == Build::race) clocks_.join_block();
  if (!options_.count) return;
  counters_.barrier(warps, site);
  for (unsigned warp = 0; warp < warps; ++warp) counters_.lanes_met(warp);
}

void Engine::complain(Kind kind, const std::string& what, const Lane& first, const std::string& first_action,
                      const Lane* second, const std::string& second_action) {
  const LoadedText* text = kernel_.text->loaded.get();
  found(kind, what, thread(first, Location{text, nullptr, first.site}, first_action),
        second ? thread(*second, Location{text, nullptr, second->site}, second_action) : Participant{});
}

// Who did it.

bool Engine::found(Kind kind, std::string what, Participant first, Participant second) {
  if (findings_.repeated(kind, first.where, second.where)) return false;
  findings_.add(kind, std::move(what), std::move(first), std::move(second));
  return true;
}

Participant Engine::thread(const Lane& lane, Location where, std::string action) const {
  Participant participant;
  participant.actor.kernel = kernel_.text->loaded->kernel_name(kernel_.function);
  participant.actor.block = public_dim(executor_.block_index());
  participant.actor.thread = public_dim(lane.thread);
  participant.actor.knows_thread = true;
  participant.actor.action = std::move(action);
  participant.where = where;
  participant.present = true;
  return participant;
}

Participant Engine::thread(const Checked& access, std::string action) const {
  return thread(access.lane, Location{kernel_.text->loaded.get(), access.pc, {}}, std::move(action));
}

Participant Engine::operation(OperationId id, std::string action) const {
  const OperationInfo& info = timeline_.info(id);
  Participant participant;
  participant.actor.kernel = info.kernel ? "kernel " + info.text->kernel_name(info.kernel) : info.what;
  participant.actor.action = std::move(action);
  participant.where = {info.text.get(), nullptr, info.site};
  participant.present = true;
  return participant;
}

Participant Engine::earlier(const Conflict& conflict) const {
  const Stamp& stamp = conflict.earlier;
  std::string action =
      conflict.earlier_wrote ? (stamp.is_atomic ? "changed it atomically" : "wrote it") : "read it";
  const OperationInfo& info = timeline_.info(stamp.operation);
  Participant participant = operation(stamp.operation, std::move(action));
  if (!info.kernel) return participant;
  participant.where = {info.text.get(), info.text->absolute(stamp.place), {}};
  if (stamp.epoch == 0) return participant;  // of a kernel whose threads were not kept
  participant.actor.kernel = info.text->kernel_name(info.kernel);
  participant.actor.block = public_dim(index_in(info.grid, stamp.block));
  participant.actor.thread = public_dim(index_in(info.block, stamp.thread));
  participant.actor.knows_thread = true;
  return participant;
}

Participant Engine::host(abi::Site site, std::string action) const {
  Participant participant;
  participant.actor.on_host = true;
  participant.actor.action = std::move(action);
  participant.where = {nullptr, nullptr, site};
  participant.present = true;
  return participant;
}

}  // namespace simt
