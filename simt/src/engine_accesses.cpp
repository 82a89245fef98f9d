// Every load and store of a text comes here: where it goes decides what is checked.
#include "engine.h"

#include "errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace simt {
namespace {

std::string accesses(bool write, std::size_t size) {
  return fmt::format("{} {} byte{}", write ? "writes" : "reads", size, size == 1 ? "" : "s");
}

bool inside(const Range& range, const void* address, std::size_t size) {
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - range.begin);
  return offset < range.size && size <= range.size - offset;
}

bool overlap(const Range& range, const void* address, std::size_t size) {
  const auto* begin = static_cast<const char*>(address);
  return begin < range.begin + range.size && range.begin < begin + size;
}

/// "12 bytes after the end of shared array 'tile' of 4096 bytes"
std::string beyond(const Range& range, const void* address, std::size_t size, const std::string& what) {
  const auto* end = static_cast<const char*>(address) + size;
  if (address < static_cast<const void*>(range.begin)) {
    return fmt::format("{} bytes before the beginning of {} of {} bytes",
                       range.begin - static_cast<const char*>(address), what, range.size);
  }
  return fmt::format("up to {} bytes after the end of {} of {} bytes", end - (range.begin + range.size), what,
                     range.size);
}

}  // namespace

void Engine::access(const void* address, std::size_t size, unsigned flags, const void* pc) {
  const bool write = flags & abi::is_write, atomic = flags & abi::is_atomic;
  const Lane* lane = executor_.current();
  if (!lane) return host_access(address, size, write, pc);
  if (write && atomic && options_.count) counters_.atomic(pc);
  if (kernel_.build == Build::fast) return;

  const Checked access{*lane, address, size, write, atomic, pc};
  const LoadedText& text = *kernel_.text->loaded;
  if (memory_.contains(address)) {
    device_access(access);
  } else if (text.shared.contains(address)) {
    shared_access(access, kernel_.text->shared, "shared memory");
  } else if (executor_.fibers().on_running_stack(address)) {
    return;
  } else if (text.dynamic_shared.contains(address)) {
    shared_access(access, kernel_.text->dynamic_shared, "dynamic shared memory");
  } else if (text.image.contains(address)) {
    variable_access(access);
  } else {
    illegal_access(access);
  }
}

void Engine::device_access(const Checked& access) {
  Buffer* buffer = memory_.near(access.address);
  if (!buffer || !inside(buffer->range, access.address, access.size)) {
    const std::string place = buffer ? describe_place(*buffer, access.address) : "where no buffer was ever";
    found(Kind::out_of_bounds, "an access outside of every buffer",
          thread(access, fmt::format("{}, {}", accesses(access.write, access.size), place)));
    return;
  }
  if (buffer->last_user != kernel_.operation) {
    use_buffer(*buffer, thread(access, fmt::format("{} {}", accesses(access.write, access.size),
                                                   describe_place(*buffer, access.address))));
  }
  if (!buffer->live) return;
  if (options_.count && !access.updates_atomically()) {
    counters_.access(access.lane, access.address, access.size, access.write, Space::device, access.pc);
  }
  if (kernel_.build == Build::race) {
    note(access, buffer->range, buffer->shadow, false,
         options_.check_uninitialised && buffer->watched_from_start, "device memory");
  }
}

void Engine::shared_access(const Checked& access, SharedMemory& memory, const char* what) {
  if (!pending_copies_.empty() && !is_copying_) check_pending_copies(access);
  const Range of_block{memory.range.begin, kernel_.dynamic_bytes};
  const bool is_static = &memory == &kernel_.text->shared;
  if (is_static && !inside_global(access)) return;
  if (!is_static && !inside(of_block, access.address, access.size)) {
    found(Kind::out_of_bounds, "an access outside of the block's dynamic shared memory",
          thread(access, fmt::format("{}, {}", accesses(access.write, access.size),
                                     beyond(of_block, access.address, access.size, what))));
    return;
  }
  if (options_.count && !access.updates_atomically()) {
    counters_.access(access.lane, access.address, access.size, access.write, Space::shared, access.pc);
  }
  if (kernel_.build == Build::race) note(access, memory.range, memory.shadow, true, true, what);
}

/// Variables of the text: __constant__ and __device__ ones.
void Engine::variable_access(const Checked& access) {
  if (!inside_global(access)) return;
  Buffer& variables = kernel_.text->variables;
  if (kernel_.build == Build::race && inside(variables.range, access.address, access.size)) {
    note(access, variables.range, variables.shadow, false, false, "a variable of the device");
  }
}

/// Whether a variable of the text contains the access; said only where the compiler has told us of them.
bool Engine::inside_global(const Checked& access) {
  const abi::Global* global = kernel_.text->loaded->checked_global_at(access.address);
  if (!global) return true;
  const Range range{static_cast<const char*>(global->begin), global->size};
  if (inside(range, access.address, access.size)) return true;
  const bool is_shared = kernel_.text->loaded->shared.contains(access.address);
  const std::string what =
      fmt::format("{} '{}'", is_shared ? "shared array" : "variable", variable_name(global->begin));
  found(Kind::out_of_bounds,
        is_shared ? "an access outside of a shared array" : "an access outside of a variable",
        thread(access, fmt::format("{}, {}", accesses(access.write, access.size),
                                   beyond(range, access.address, access.size, what))));
  return false;
}

/// The processor would stop us, or we would change the host's memory: the kernel is over.
void Engine::illegal_access(const Checked& access) {
  const bool on_a_stack = executor_.fibers().contains(access.address);
  found(Kind::illegal_address,
        on_a_stack ? "a thread uses another thread's local variables"
                   : "an access to memory that is not the device's",
        thread(access, fmt::format("{} at {}", accesses(access.write, access.size), access.address)));
  kernel_error_ = error::illegal_address;
  executor_.end_kernel();
}

void Engine::host_access(const void* address, std::size_t size, bool write, const void* pc) {
  if (memory_.contains(address)) {
    Participant who = host({}, fmt::format("{} at {}", accesses(write, size), address));
    const Text* text = text_of(pc);
    who.where = {text ? text->loaded.get() : nullptr, pc, {}};
    found(Kind::illegal_address, "the host uses device memory", std::move(who));
    return;
  }
  for (const HostRange& pending : host_ranges_) {
    if (!overlap(pending.range, address, size) || (!write && !pending.written)) continue;
    Participant who = host({}, accesses(write, size));
    const Text* text = text_of(pc);
    who.where = {text ? text->loaded.get() : nullptr, pc, {}};
    found(Kind::unsynchronised_host_use, "the host uses memory of a copy without waiting for it",
          std::move(who), operation(pending.operation, pending.written ? "writes there" : "reads there"));
    return;
  }
}

Stamp Engine::stamp_of(const Checked& access) const {
  Stamp stamp;
  stamp.operation = kernel_.operation;
  stamp.block = kernel_.block_number;
  stamp.thread = static_cast<std::uint16_t>(access.lane.linear);
  stamp.is_atomic = access.atomic;
  stamp.epoch = clocks_.epoch();
  stamp.clock = clocks_.clock(access.lane);
  stamp.place = static_cast<std::uint32_t>(kernel_.text->loaded->relative(access.pc));
  return stamp;
}

/// Remembers the access in the cells of the range, and reports what it conflicts with.
void Engine::note(const Checked& access, const Range& range, Shadow& shadow, bool of_block,
                  bool check_uninitialised, const std::string& where) {
  if (!shadow.cells) create(shadow, range.size);
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(access.address) - range.begin);
  if (shadow.shift && ((offset | access.size) & ((1u << shadow.shift) - 1))) refine(shadow, range.size);

  const Accessor accessor{timeline_, clocks_, &access.lane, stamp_of(access)};
  if (access.updates_atomically()) clocks_.atomic(access.lane, access.address);
  bool uninitialised = false;
  std::optional<Conflict> conflict;
  for (std::size_t i = offset >> shadow.shift; i <= (offset + access.size - 1) >> shadow.shift; ++i) {
    Cell& cell = shadow.cells[i];
    // A block's memory begins anew; what earlier blocks did is only recognised when it is met.
    const auto is_old = [&](const Stamp& stamp) {
      return stamp.operation && (stamp.operation != kernel_.operation || stamp.block != kernel_.block_number);
    };
    if (of_block && (is_old(cell.write) || is_old(cell.read))) cell = Cell{};
    if (check_uninitialised && (!access.write || access.atomic) && !cell.write.operation)
      uninitialised = true;
    auto met =
        access.write ? note_write(cell, accessor, access.address) : note_read(cell, accessor, access.address);
    if (met && !conflict) conflict = met;
  }
  if (conflict) report_race(access, *conflict, where);
  if (!uninitialised) return;
  const Location place{kernel_.text->loaded.get(), access.pc, {}};
  if (findings_.repeated(Kind::uninitialised_read, place)) return;
  std::string name = of_block ? variable_name(access.address) : "";
  if (!name.empty()) name = " of '" + name + "'";
  found(Kind::uninitialised_read, fmt::format("{} is read that nobody has written", where),
        thread(access, accesses(false, access.size) + name));
}

void Engine::report_race(const Checked& access, const Conflict& conflict, const std::string& where) {
  const Stamp& other = conflict.earlier;
  const OperationInfo& info = timeline_.info(other.operation);
  const Location here{kernel_.text->loaded.get(), access.pc, {}};
  const Location there = info.kernel ? Location{info.text.get(), info.text->absolute(other.place), {}}
                                     : Location{info.text.get(), nullptr, info.site};
  if (findings_.repeated(Kind::race, here, there)) return;

  std::string between;
  if (other.operation != kernel_.operation) {
    between = "operations of the device that no stream, event or wait orders";
  } else if (other.block != kernel_.block_number) {
    between = "two blocks";
  } else if (other.thread / warp_size == access.lane.warp) {
    between = "two lanes of a warp";
  } else {
    between = "two warps of a block";
  }
  std::string action = fmt::format("{} of {}", accesses(access.write, access.size), where);
  if (const std::string name = variable_name(access.address); !name.empty()) action += " '" + name + "'";
  if (memory_.contains(access.address))
    action += ", " + describe_place(*memory_.near(access.address), access.address);
  if (access.atomic) action += ", atomically";
  findings_.add(Kind::race, fmt::format("{} meet in {} unordered", between, where), thread(access, action),
                earlier(conflict));
}

/// Notes that the running operation uses a buffer, which has to be there for it.
void Engine::use_buffer(Buffer& buffer, const Participant& user) {
  const OperationId running = timeline_.running();
  buffer.last_user = running;
  if (buffer.users.empty() || buffer.users.back() != running) buffer.users.push_back(running);
  if (buffer.allocation && !timeline_.is_before_running(buffer.allocation)) {
    found(Kind::race, "a buffer is used by a stream that does not wait for its allocation", user,
          operation(buffer.allocation, "allocates it"));
  }
  if (buffer.live) return;
  const bool after = !buffer.release || timeline_.is_before_running(buffer.release);
  Participant releaser =
      buffer.release ? operation(buffer.release, "released it") : host(buffer.released, "released it");
  if (found(Kind::use_after_free,
            after ? "a buffer is used after it was released"
                  : "nothing orders the release of a buffer and this use",
            user, std::move(releaser)) &&
      !kernel_error_) {
    kernel_error_ = error::illegal_address;
  }
  buffer.last_user = 0;  // every place that uses it is told
}

/// A copy or a fill, as the accesses of an operation without threads.
void Engine::note_range(Buffer& buffer, const char* begin, std::size_t size, bool write) {
  if (!races_ || !buffer.live || !size) return;
  Shadow& shadow = buffer.shadow;
  if (!shadow.cells) create(shadow, buffer.range.size);
  const auto offset = static_cast<std::size_t>(begin - buffer.range.begin);
  const bool ends_inside_word = ((offset + size) & 3u) && offset + size != buffer.range.size;
  if (shadow.shift && ((offset & 3u) || ends_inside_word)) refine(shadow, buffer.range.size);

  Stamp stamp;
  stamp.operation = timeline_.running();
  const Accessor accessor{timeline_, clocks_, nullptr, stamp};
  std::optional<Conflict> conflict;
  for (std::size_t i = offset >> shadow.shift; i <= (offset + size - 1) >> shadow.shift; ++i) {
    Cell& cell = shadow.cells[i];
    auto met = write ? note_write(cell, accessor, nullptr) : note_read(cell, accessor, nullptr);
    if (met && !conflict) conflict = met;
  }
  if (!conflict) return;
  found(Kind::race, "operations of the device that no stream, event or wait orders meet in device memory",
        operation(timeline_.running(),
                  fmt::format("{} {}", accesses(write, size), describe_place(buffer, begin))),
        earlier(*conflict));
}

void Engine::note_rows(const void* begin, std::size_t pitch, std::size_t width, std::size_t height,
                       bool write) {
  if (!width || !height) return;
  Text* text = memory_.contains(begin) ? nullptr : text_of(begin);
  if (text && !text->variables.range.contains(begin)) return;
  Buffer& buffer = text ? text->variables : *memory_.near(begin);
  use_buffer(buffer, operation(timeline_.running(), write ? "writes a buffer" : "reads a buffer"));
  const auto* row = static_cast<const char*>(begin);
  if (pitch == width) return note_range(buffer, row, width * height, write);
  for (std::size_t y = 0; y < height; ++y, row += pitch) note_range(buffer, row, width, write);
}

std::string Engine::variable_name(const void* address) const {
  const Symbol* variable = kernel_.text ? kernel_.text->loaded->variable_at(address) : nullptr;
  return variable ? variable->name : std::string();
}

}  // namespace simt
