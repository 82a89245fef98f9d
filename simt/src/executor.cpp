#include "executor.h"

#include <fmt/format.h>

#include <map>

namespace simt {

using abi::Barrier;
using abi::Collective;

namespace {

/// Of one of two calls, where lines do not tell them apart.
std::string column_beside(const abi::Site& site, const abi::Site& other) {
  const bool one_line = site.line == other.line && site.file == other.file;
  return one_line ? fmt::format(" in column {}", site.column) : "";
}

}  // namespace

Executor::Executor(MeetingListener& listener, Random& random)
    : listener_(listener),
      random_(random),
      fibers_(
          most_threads, [](void* self) { static_cast<Executor*>(self)->fiber_body(); }, this) {}

void Executor::begin_kernel(abi::Dim block, abi::Invocation& invocation) {
  invocation_ = &invocation;
  threads_ = block.x * block.y * block.z;
  warp_count_ = (threads_ + warp_size - 1) / warp_size;
  for (unsigned i = 0; i < threads_; ++i) {
    Lane& lane = lanes_[i];
    lane = {};
    lane.linear = i;
    lane.warp = i / warp_size;
    lane.lane = i % warp_size;
    lane.thread = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
  }
}

bool Executor::run_block(abi::Dim index) {
  block_index_ = index;
  at_barrier_ = exited_ = 0;
  failed_ = false;
  ready_warps_ = warp_count_ == most_warps ? ~0u : (1u << warp_count_) - 1;
  for (unsigned w = 0; w < warp_count_; ++w) {
    const unsigned size = std::min(warp_size, threads_ - w * warp_size);
    const std::uint32_t all = size == warp_size ? ~0u : (1u << size) - 1;
    warps_[w] = {all, all, 0, 0};
  }
  for (unsigned i = 0; i < threads_; ++i) {
    lanes_[i].state = Lane::State::fresh;
    lanes_[i].fiber = nullptr;
  }
  current_ = nullptr;
  assigned_ = pick();
  fibers_.enter(fibers_.take());
  current_ = nullptr;
  if (failed_) fibers_.reset();
  return !failed_;
}

void Executor::abandon() {
  current_ = nullptr;
  fibers_.reset();
}

/// A fiber runs one thread after another. Where a thread waits, its fiber waits with it.
void Executor::fiber_body() {
  for (;;) {
    Lane* lane = assigned_ ? assigned_ : pick();
    assigned_ = nullptr;
    Fiber* self = fibers_.running();
    if (!lane) {
      if (exited_ != threads_) {
        report_deadlock();
        end_kernel();
      }
      fibers_.give(self);
      fibers_.leave();
    } else if (lane->fiber) {
      fibers_.give(self);
      go_to(lane);
    } else {
      run(*lane);
    }
  }
}

void Executor::run(Lane& lane) {
  lane.fiber = fibers_.running();
  lane.state = Lane::State::ready;
  current_ = &lane;
  invocation_->run();

  sleep(lane, Lane::State::exited);
  ++exited_;
  warps_[lane.warp].exited |= 1u << lane.lane;
  if (warps_[lane.warp].in_collective) retry_collectives(lane.warp);
  if (at_barrier_ && at_barrier_ + exited_ == threads_) {
    barrier_without_all();
    release_barrier();
  }
}

/// The next thread that can go on, or null. In order: the lanes of the same warp first.
Lane* Executor::pick() {
  if (!ready_warps_) return nullptr;
  const unsigned warp = random_.bit_of(ready_warps_, current_ ? current_->warp : 0);
  const unsigned from = current_ && current_->warp == warp ? current_->lane + 1 : 0;
  return &lanes_[warp * warp_size + random_.bit_of(warps_[warp].ready, from)];
}

/// The running thread has to wait: another one goes on.
void Executor::wait() {
  Lane* self = current_;
  Lane* next = pick();
  if (next == self) return;
  if (!next) {
    report_deadlock();
    end_kernel();
  }
  go_to(next);
  current_ = self;
}

void Executor::go_to(Lane* next) {
  if (next->fiber) {
    current_ = next;
    fibers_.enter(next->fiber);
  } else {
    assigned_ = next;
    fibers_.enter(fibers_.take());
  }
}

void Executor::wake(Lane& lane) {
  lane.state = Lane::State::ready;
  warps_[lane.warp].ready |= 1u << lane.lane;
  ready_warps_ |= 1u << lane.warp;
}

void Executor::sleep(Lane& lane, Lane::State state) {
  lane.state = state;
  Warp& warp = warps_[lane.warp];
  warp.ready &= ~(1u << lane.lane);
  if (!warp.ready) ready_warps_ &= ~(1u << lane.warp);
}

void Executor::end_kernel() {
  failed_ = true;
  fibers_.leave();
}

std::uint64_t Executor::collective(Collective kind, unsigned mask, std::uint64_t value, int argument,
                                   int width, abi::Site site) {
  Lane& self = *current_;
  Warp& warp = warps_[self.warp];
  self.kind = kind;
  self.mask = mask & warp.exists;
  self.value = value;
  self.argument = argument;
  self.width = width;
  self.site = site;
  if (!(mask >> self.lane & 1u)) {
    listener_.complain(
        Kind::lane_outside_mask, "a lane takes part without being in its own mask", self,
        fmt::format("is lane {} and calls {} with mask {:#010x}", self.lane, name_of(kind), mask));
    return value;
  }
  sleep(self, Lane::State::in_collective);
  warp.in_collective |= 1u << self.lane;
  const bool done = try_finish_collective(self.warp, self.mask);
  if (!done || !random_.ordered()) wait();
  return self.value;
}

/// Finishes if all lanes of the mask that still run have come with the same mask.
bool Executor::try_finish_collective(unsigned warp_index, std::uint32_t mask) {
  const Warp& warp = warps_[warp_index];
  const std::uint32_t needed = mask & ~warp.exited;
  if ((warp.in_collective & needed) != needed || !needed) return false;
  for (std::uint32_t rest = needed; rest; rest &= rest - 1) {
    if (lanes_[warp_index * warp_size + std::countr_zero(rest)].mask != mask) return false;
  }
  finish_collective(warp_index, needed);
  return true;
}

void Executor::finish_collective(unsigned warp_index, std::uint32_t lanes) {
  check_same_place(warp_index, lanes);
  Lane* const first_lane = &lanes_[warp_index * warp_size];
  Warp& warp = warps_[warp_index];
  warp.in_collective &= ~lanes;
  warp.ready |= lanes;
  ready_warps_ |= 1u << warp_index;

  const Lane& first = first_lane[std::countr_zero(lanes)];
  listener_.collective_done(first.kind, warp_index, lanes, first.site);
  std::array<std::uint64_t, warp_size> values{};
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    first_lane[i].state = Lane::State::ready;
    values[i] = first_lane[i].value;
  }
  if (first.kind == Collective::syncwarp) return;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    Lane& lane = first_lane[std::countr_zero(rest)];
    int bad_source = -1;
    lane.value =
        collective_result(lane.kind, lane.lane, lanes, values, lane.argument, lane.width, bad_source);
    if (bad_source < 0) continue;
    const bool exited = warp.exited >> bad_source & 1u;
    listener_.complain(
        Kind::lane_outside_mask,
        exited ? "a shuffle reads a lane that has exited" : "a shuffle reads a lane that takes no part", lane,
        fmt::format("is lane {} and reads lane {} by {} with mask {:#010x}", lane.lane, bad_source,
                    name_of(lane.kind), lane.mask));
  }
}

void Executor::check_same_place(unsigned warp_index, std::uint32_t lanes) {
  const Lane* const first_lane = &lanes_[warp_index * warp_size];
  const Lane& first = first_lane[std::countr_zero(lanes)];
  for (std::uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
    const Lane& other = first_lane[std::countr_zero(rest)];
    if (other.kind == first.kind && other.site.is_at(first.site)) continue;
    listener_.complain(Kind::divergent_collective,
                       other.kind != first.kind ? "lanes of a warp meet in different operations"
                       : other.site.line == first.site.line
                           ? "lanes of a warp meet in one operation from different calls of a line"
                           : "lanes of a warp meet in one operation from different lines",
                       first,
                       fmt::format("is lane {} and calls {}{}", first.lane, name_of(first.kind),
                                   column_beside(first.site, other.site)),
                       &other,
                       fmt::format("is lane {} of the same warp and calls {}{}", other.lane,
                                   name_of(other.kind), column_beside(other.site, first.site)));
    return;
  }
}

/// Lanes that exit are waited for no longer.
void Executor::retry_collectives(unsigned warp_index) {
  for (std::uint32_t rest = warps_[warp_index].in_collective; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (warps_[warp_index].in_collective >> lane & 1u) {
      try_finish_collective(warp_index, lanes_[warp_index * warp_size + lane].mask);
    }
  }
}

int Executor::barrier(Barrier kind, int predicate, abi::Site site) {
  Lane& self = *current_;
  self.barrier = kind;
  self.predicate = predicate;
  self.site = site;
  sleep(self, Lane::State::at_barrier);
  ++at_barrier_;
  bool released = at_barrier_ + exited_ == threads_;
  if (released) {
    if (exited_) barrier_without_all();
    release_barrier();
  }
  if (!released || !random_.ordered()) wait();
  return barrier_result_[static_cast<int>(kind)];
}

void Executor::barrier_without_all() {
  const Lane *waiting = &lanes_[0], *gone = &lanes_[0];
  for (unsigned i = 0; i < threads_; ++i) {
    if (lanes_[i].state == Lane::State::at_barrier) waiting = &lanes_[i];
    if (lanes_[i].state == Lane::State::exited) gone = &lanes_[i];
  }
  listener_.complain(
      Kind::divergent_barrier, "threads of a block left the kernel before a barrier of the block", *waiting,
      fmt::format("waits in __syncthreads for {} threads of its block that have exited, among them "
                  "thread ({},{},{})",
                  exited_, gone->thread.x, gone->thread.y, gone->thread.z));
}

void Executor::release_barrier() {
  const Lane *first = &lanes_[0], *elsewhere = nullptr;
  while (first->state != Lane::State::at_barrier) ++first;
  int count = 0, present = 0;
  for (unsigned i = 0; i < threads_; ++i) {
    Lane& lane = lanes_[i];
    if (lane.state != Lane::State::at_barrier) continue;
    ++present;
    count += lane.predicate != 0;
    if (!lane.site.is_at(first->site)) elsewhere = &lane;
    wake(lane);
  }
  if (elsewhere) {
    listener_.complain(
        Kind::divergent_barrier,
        elsewhere->site.line == first->site.line ? "threads of a block meet at different barriers of a line"
                                                 : "threads of a block meet at barriers of different lines",
        *first, "waits in __syncthreads" + column_beside(first->site, elsewhere->site), elsewhere,
        "of the same block waits in another one" + column_beside(elsewhere->site, first->site));
  }
  at_barrier_ = 0;
  barrier_result_[static_cast<int>(Barrier::count)] = count;
  barrier_result_[static_cast<int>(Barrier::conjunction)] = count == present;
  barrier_result_[static_cast<int>(Barrier::disjunction)] = count != 0;
  listener_.barrier_done(warp_count_, first->site);
}

unsigned Executor::active_mask() const {
  return warps_[current_->warp].exists & ~warps_[current_->warp].exited;
}

/// Nobody can go on: names two threads that wait for different things, the fewest first, as they are the ones
/// who strayed.
void Executor::report_deadlock() {
  using Where = std::pair<Lane::State, int>;
  std::map<Where, std::vector<const Lane*>> groups;
  for (unsigned i = 0; i < threads_; ++i) {
    if (lanes_[i].state == Lane::State::exited) continue;
    groups[{lanes_[i].state, lanes_[i].site.line}].push_back(&lanes_[i]);
  }
  const auto action = [](const std::vector<const Lane*>& group) {
    const Lane& lane = *group.front();
    if (lane.state == Lane::State::at_barrier)
      return fmt::format("and {} more wait in __syncthreads", group.size() - 1);
    return fmt::format("and {} more wait in {} with mask {:#010x}", group.size() - 1, name_of(lane.kind),
                       lane.mask);
  };
  const std::vector<const Lane*>*few = nullptr, *others = nullptr;
  bool at_barrier = false;
  for (const auto& [where, group] : groups) {
    at_barrier |= where.first == Lane::State::at_barrier;
    if (!few || group.size() < few->size()) {
      others = few;
      few = &group;
    } else if (!others) {
      others = &group;
    }
  }
  const Kind kind = at_barrier ? Kind::divergent_barrier : Kind::divergent_collective;
  std::string what = "threads wait for one another at different places, for ever";
  if (!others) what = fmt::format("threads wait for lanes that will not come; {} have exited", exited_);
  listener_.complain(kind, what, *few->front(), action(*few), others ? others->front() : nullptr,
                     others ? action(*others) : std::string());
}

}  // namespace simt
