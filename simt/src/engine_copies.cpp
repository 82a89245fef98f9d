// Asynchronous copies to shared memory. What a thread asks for is done when it waits, as late as can be: what does not
// wait finds the old values, and is reported.
#include "engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace simt {

void Engine::copy_to_shared(void* to, const void* from, std::size_t size, std::size_t zeros, const void* pc) {
  const Lane* lane = executor_.current();
  if (!lane) return;
  zeros = std::min(zeros, size);
  const Location where{kernel_.text->loaded.get(), pc, {}};
  const auto is_multiple = [&](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % size == 0;
  };
  if (size != 4 && size != 8 && size != 16) {
    found(Kind::misuse, "an asynchronous copy of other than 4, 8 or 16 bytes",
          thread(*lane, where, fmt::format("copies {} bytes", size)));
    return;
  }
  if (!is_multiple(to) || !is_multiple(from)) {
    found(Kind::misaligned_access, "an asynchronous copy at an address that is no multiple of its size",
          thread(*lane, where, fmt::format("copies {} bytes from {} to {}", size, from, to)));
    return;
  }
  is_copying_ = true;  // others may neither write the source nor use the place any more
  if (zeros < size) access(from, size - zeros, abi::is_read, pc);
  access(to, size, abi::is_write, pc);
  is_copying_ = false;
  pending_copies_.push_back({lane, static_cast<char*>(to), static_cast<const char*>(from), size, zeros, pc,
                             groups_of_copies_[lane->linear]});
}

void Engine::commit_copies() {
  if (const Lane* lane = executor_.current()) ++groups_of_copies_[lane->linear];
}

void Engine::wait_for_copies(unsigned groups_that_may_be_pending) {
  const Lane* lane = executor_.current();
  if (!lane) return;
  const unsigned groups = groups_of_copies_[lane->linear];
  const unsigned done = groups > groups_that_may_be_pending ? groups - groups_that_may_be_pending : 0;
  const auto is_done = [&](const PendingCopy& copy) { return copy.lane == lane && copy.group < done; };
  is_copying_ = true;
  for (const PendingCopy& copy : pending_copies_) {
    if (!is_done(copy)) continue;
    std::memcpy(copy.to, copy.from, copy.size - copy.zeros);
    std::memset(copy.to + copy.size - copy.zeros, 0, copy.zeros);
    access(copy.to, copy.size, abi::is_write, copy.pc);
  }
  is_copying_ = false;
  std::erase_if(pending_copies_, is_done);
}

void Engine::check_pending_copies(const Checked& access) {
  const auto* begin = static_cast<const char*>(access.address);
  for (const PendingCopy& copy : pending_copies_) {
    if (begin >= copy.to + copy.size || copy.to >= begin + access.size) continue;
    const Location where{kernel_.text->loaded.get(), copy.pc, {}};
    const std::string name = variable_name(access.address);
    found(Kind::race, "shared memory is used before a copy to it was waited for",
          thread(access, fmt::format("{} {} byte{}{}", access.write ? "writes" : "reads", access.size,
                                     access.size == 1 ? "" : "s", name.empty() ? "" : " of '" + name + "'")),
          thread(*copy.lane, where, fmt::format("copies {} bytes there", copy.size)));
    return;
  }
}

}  // namespace simt
