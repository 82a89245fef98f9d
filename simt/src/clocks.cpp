#include "clocks.h"

#include <algorithm>

namespace simt {

void Clocks::begin_kernel(unsigned threads) {
  threads_ = threads;
  variables_.clear();
}

void Clocks::begin_block(std::uint32_t block) {
  block_ = block;
  epoch_ = 1;
  block_taken_.clear();
  any_taken_ = false;
  for (unsigned i = 0; i < threads_; ++i) {
    Knowledge& thread = knowledge_[i];
    thread.clocks.fill(0);
    thread.clocks[i % warp_size] = 1;
    thread.taken.clear();
    thread.at_fence.reset();
  }
}

void Clocks::join(unsigned warp, std::uint32_t lanes) {
  Knowledge* const first = &knowledge_[warp * warp_size];
  WarpClocks joined{};
  std::uint32_t latest = 0;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    latest = std::max(latest, first[lane].clocks[lane]);
    for (unsigned i = 0; i < warp_size; ++i) joined[i] = std::max(joined[i], first[lane].clocks[i]);
  }
  // Clocks may skip: all lanes that meet go on from the latest of them, so that one number covers them all.
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) joined[std::countr_zero(rest)] = latest;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    first[lane].clocks = joined;
    first[lane].clocks[lane] = latest + 1;
  }
  if (!any_taken_) return;
  std::vector<Taken> together;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1)
    take(together, first[std::countr_zero(rest)].taken);
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) first[std::countr_zero(rest)].taken = together;
}

void Clocks::join_block() {
  ++epoch_;
  if (!any_taken_) return;
  for (unsigned i = 0; i < threads_; ++i) take(block_taken_, knowledge_[i].taken);
}

void Clocks::fence(const Lane& lane) {
  Knowledge& self = knowledge_[lane.linear];
  auto release = std::make_shared<Release>(Release{block_, epoch_, lane.warp, self.clocks, self.taken});
  take(release->taken, block_taken_);
  self.at_fence = std::move(release);
  ++self.clocks[lane.lane];  // what follows the fence is not released by it
}

void Clocks::atomic(const Lane& lane, const void* address) {
  Knowledge& self = knowledge_[lane.linear];
  auto& variable = variables_[address];
  if (!variable) variable = std::make_unique<Variable>();
  if (!variable->releases.empty()) {
    take(self.taken, {{variable.get(), variable->releases.size()}});
    any_taken_ = true;
  }
  if (!self.at_fence) {
    variable->has_unfenced = true;
    return;
  }
  variable->of_block[block_].push_back(variable->releases.size());
  variable->releases.push_back(*self.at_fence);
}

bool Clocks::knows(const Lane& lane, const Stamp& stamp) const {
  const Knowledge& self = knowledge_[lane.linear];
  if (stamp.block == block_) {
    if (stamp.thread == lane.linear || stamp.epoch < epoch_) return true;
    if (stamp.thread / warp_size == lane.warp && stamp.clock <= self.clocks[stamp.thread % warp_size])
      return true;
  }
  return any_taken_ && (says(self.taken, stamp, 0) || says(block_taken_, stamp, 0));
}

bool Clocks::knows_all_atomics(const Lane& lane, const void* address) const {
  const auto found = variables_.find(address);
  if (found == variables_.end() || found->second->has_unfenced) return false;
  const Variable* variable = found->second.get();
  // One's own release, the last of all perhaps, follows those that one took up with it.
  const auto knows_it = [&](const Taken& taken) {
    return taken.variable == variable && taken.version + 1 >= variable->releases.size();
  };
  const auto& own = knowledge_[lane.linear].taken;
  return std::any_of(own.begin(), own.end(), knows_it) ||
         std::any_of(block_taken_.begin(), block_taken_.end(), knows_it);
}

void Clocks::take(std::vector<Taken>& into, const std::vector<Taken>& more) {
  for (const Taken& item : more) {
    const auto same = std::find_if(into.begin(), into.end(),
                                   [&](const Taken& known) { return known.variable == item.variable; });
    if (same == into.end()) {
      into.push_back(item);
    } else {
      same->version = std::max(same->version, item.version);
    }
  }
}

bool Clocks::says(const std::vector<Taken>& taken, const Stamp& stamp, int depth) {
  constexpr int deepest = 8;  // hand-overs of hand-overs
  for (const auto& [variable, version] : taken) {
    if (const auto found = variable->of_block.find(stamp.block); found != variable->of_block.end()) {
      for (const std::size_t index : found->second) {
        if (index >= version) break;
        const Release& release = variable->releases[index];
        if (stamp.epoch < release.epoch) return true;
        if (stamp.epoch == release.epoch && stamp.thread / warp_size == release.warp &&
            stamp.clock <= release.clocks[stamp.thread % warp_size]) {
          return true;
        }
      }
    }
    if (depth == deepest) continue;
    for (std::size_t index = 0; index < version; ++index) {
      for (const Taken& earlier : variable->releases[index].taken) {
        // What was left with the same variable before is found above.
        if (earlier.variable != variable && says({earlier}, stamp, depth + 1)) return true;
      }
    }
  }
  return false;
}

}  // namespace simt
