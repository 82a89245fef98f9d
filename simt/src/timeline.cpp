#include "timeline.h"

#include <algorithm>

namespace simt {
namespace {

void* const per_thread_handle = reinterpret_cast<void*>(std::uintptr_t{2});  // cudaStreamPerThread

template <class T>
void unite(std::vector<T>& into, const std::vector<T>& more) {
  for (const T& item : more) {
    if (std::find(into.begin(), into.end(), item) == into.end()) into.push_back(item);
  }
}

template <class T>
T* find_handle(std::vector<std::unique_ptr<T>>& items, const void* handle) {
  for (const auto& item : items) {
    if (item.get() == handle) return item.get();
  }
  return nullptr;
}

template <class T>
bool erase_handle(std::vector<std::unique_ptr<T>>& items, const void* handle) {
  return std::erase_if(items, [&](const auto& item) { return item.get() == handle; }) > 0;
}

}  // namespace

void OperationSet::insert(OperationId id) {
  if (id < base_) return;
  const std::size_t bit = id - base_;
  if (bits_.size() <= bit / 64) bits_.resize(bit / 64 + 1);
  bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

void OperationSet::insert(const OperationSet& other) {
  insert_all_before(other.base_);
  for (std::size_t word = 0; word < other.bits_.size(); ++word) {
    if (other.base_ == base_) {
      if (bits_.size() < other.bits_.size()) bits_.resize(other.bits_.size());
      bits_[word] |= other.bits_[word];
      continue;
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
      if (other.bits_[word] >> bit & 1u) insert(static_cast<OperationId>(other.base_ + word * 64 + bit));
    }
  }
}

void OperationSet::compact() {
  std::size_t full = 0;
  while (full < bits_.size() && bits_[full] == ~std::uint64_t{0}) ++full;
  bits_.erase(bits_.begin(), bits_.begin() + static_cast<std::ptrdiff_t>(full));
  base_ += static_cast<OperationId>(64 * full);
}

void OperationSet::insert_all_before(OperationId id) {
  if (id <= base_) return;
  OperationSet moved;
  moved.base_ = id;
  for (std::size_t word = 0; word < bits_.size(); ++word) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      if (bits_[word] >> bit & 1u) moved.insert(static_cast<OperationId>(base_ + word * 64 + bit));
    }
  }
  *this = std::move(moved);
}

Stream* Timeline::stream_of(void* handle) {
  if (handle == nullptr) return &default_stream_;
  if (handle != per_thread_handle) return find_handle(streams_, handle);
  if (!per_thread_stream_) per_thread_stream_ = create_stream(true);
  return per_thread_stream_;
}

Stream* Timeline::create_stream(bool waits_for_default) {
  streams_.push_back(std::make_unique<Stream>());
  streams_.back()->waits_for_default = waits_for_default;
  return streams_.back().get();
}

bool Timeline::destroy_stream(void* handle) { return erase_handle(streams_, handle); }
Event* Timeline::event_of(void* handle) { return find_handle(events_, handle); }
bool Timeline::destroy_event(void* handle) { return erase_handle(events_, handle); }

Event* Timeline::create_event() {
  events_.push_back(std::make_unique<Event>());
  return events_.back().get();
}

/// The default stream waits for the others that wait for it.
std::vector<OperationId> Timeline::tails_with_default(const Stream& stream) const {
  std::vector<OperationId> tails = stream.tails;
  if (&stream == &default_stream_) {
    for (const auto& other : streams_) {
      if (other->waits_for_default) unite(tails, other->tails);
    }
  } else if (stream.waits_for_default) {
    unite(tails, default_stream_.tails);
  }
  return tails;
}

OperationId Timeline::add_after(std::vector<OperationId> after, OperationInfo info, Action action) {
  Operation operation{std::move(info), std::move(action), std::move(after), host_knows_, false};
  for (const OperationId id : operation.after) {
    operation.before.insert(operations_[id].before);
    operation.before.insert(id);
  }
  const auto id = static_cast<OperationId>(operations_.size());
  operations_.push_back(std::move(operation));
  pending_.push_back(id);
  return id;
}

OperationId Timeline::add(Stream& stream, OperationInfo info, Action action) {
  if (stream.capture) {
    stream.capture->nodes.push_back({std::move(info), std::move(action), stream.captured});
    stream.captured = {stream.capture->nodes.size() - 1};
    return 0;
  }
  const OperationId id = add_after(tails_with_default(stream), std::move(info), std::move(action));
  stream.tails = {id};
  return id;
}

void Timeline::record(Event& event, const Stream& stream) {
  event.capture = stream.capture;
  event.captured = stream.captured;
  event.tails = stream.capture ? std::vector<OperationId>() : tails_with_default(stream);
}

bool Timeline::wait(Stream& stream, const Event& event) {
  if (!event.capture) {
    if (stream.capture && !event.tails.empty()) return false;
    unite(stream.tails, event.tails);
    return true;
  }
  if (stream.capture && stream.capture != event.capture) return false;
  stream.capture = event.capture;  // another stream's capture spreads along its events
  unite(stream.captured, event.captured);
  return true;
}

bool Timeline::begin_capture(Stream& stream) {
  if (stream.capture || &stream == &default_stream_) return false;
  stream.capture = std::make_shared<Graph>();
  stream.captured.clear();
  stream.began_capture = true;
  return true;
}

std::shared_ptr<Graph> Timeline::end_capture(Stream& stream) {
  if (!stream.began_capture) return nullptr;
  const std::shared_ptr<Graph> graph = stream.capture;

  std::vector<bool> joined(graph->nodes.size());
  for (const std::size_t node : stream.captured) joined[node] = true;
  for (std::size_t node = joined.size(); node-- > 0;) {
    if (!joined[node]) continue;
    for (const std::size_t earlier : graph->nodes[node].after) joined[earlier] = true;
  }
  const auto leave = [&](Stream& other) {
    other.capture.reset();
    other.captured.clear();
    other.began_capture = false;
  };
  for (const auto& other : streams_) {
    if (other->capture == graph) leave(*other);
  }
  return std::find(joined.begin(), joined.end(), false) == joined.end() ? graph : nullptr;
}

void Timeline::launch(Stream& stream, const Graph& graph) {
  const std::vector<OperationId> roots_follow = tails_with_default(stream);
  std::vector<OperationId> ids;
  std::vector<bool> is_leaf(graph.nodes.size(), true);
  for (const Graph::Node& node : graph.nodes) {
    std::vector<OperationId> after;
    for (const std::size_t earlier : node.after) {
      after.push_back(ids[earlier]);
      is_leaf[earlier] = false;
    }
    if (after.empty()) after = roots_follow;
    ids.push_back(add_after(std::move(after), node.info, node.action));
  }
  std::vector<OperationId> leaves;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_leaf[i]) leaves.push_back(ids[i]);
  }
  if (!leaves.empty()) stream.tails = leaves;
}

void Timeline::run(OperationId id) {
  running_ = id;
  const Action action = std::move(operations_[id].action);
  operations_[id].action = nullptr;
  action(id);
  running_ = 0;
  operations_[id].done = true;
  std::erase(pending_, id);
}

void Timeline::run_until_done(const std::vector<OperationId>& wanted) {
  const auto needed = [&](OperationId id) {
    return std::any_of(wanted.begin(), wanted.end(), [&](OperationId target) {
      return !operations_[target].done && (id == target || operations_[target].before.contains(id));
    });
  };
  const auto can_run = [&](OperationId id) {
    const auto& after = operations_[id].after;
    return std::all_of(after.begin(), after.end(),
                       [&](OperationId earlier) { return operations_[earlier].done; });
  };
  while (std::any_of(wanted.begin(), wanted.end(), [&](OperationId id) { return !operations_[id].done; })) {
    std::vector<OperationId> ready;
    for (const OperationId id : pending_) {
      // In order, only what is needed runs: what is not waited for runs as late as it may.
      if (can_run(id) && (!random_.ordered() || needed(id))) ready.push_back(id);
    }
    run(ready.at(random_.below(ready.size())));
  }
}

void Timeline::synchronize(const std::vector<OperationId>& operations) {
  run_until_done(operations);
  for (const OperationId id : operations) {
    host_knows_.insert(operations_[id].before);
    host_knows_.insert(id);
  }
  host_knows_.compact();  // later operations begin with a copy of it
}

void Timeline::synchronize_all() {
  const std::vector<OperationId> all = pending_;
  run_until_done(all);
  host_knows_.insert_all_before(static_cast<OperationId>(operations_.size()));
}

}  // namespace simt
