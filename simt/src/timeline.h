// What the device was asked to do, as a partial order. Operations of one stream follow one another; events,
// the default stream, graphs and the host's waiting add edges. Nothing runs until somebody waits for it; then
// the operations run one at a time in an order drawn from those that the edges allow. Whatever is right only
// in the order in which it was asked for goes wrong in another, or is seen by the checks, which know the
// edges.
#pragma once

#include "random.h"
#include "simt/abi.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace simt {

class LoadedText;

using OperationId = std::uint32_t;  ///< From 1; 0 is none.

/// A set of operations: all before some one, and others.
class OperationSet {
 public:
  bool contains(OperationId id) const {
    if (id < base_) return true;
    const std::size_t bit = id - base_;
    return bit / 64 < bits_.size() && (bits_[bit / 64] >> (bit % 64) & 1u);
  }
  void insert(OperationId id);
  void insert(const OperationSet& other);
  void insert_all_before(OperationId id);
  void compact();  ///< The same set in less memory.

 private:
  OperationId base_ = 1;
  std::vector<std::uint64_t> bits_;
};

/// What an operation is, for reports.
struct OperationInfo {
  const char* what = "";  ///< "copy", "fill", "release" …; kernels have a name.
  std::shared_ptr<const LoadedText> text;
  const void* kernel = nullptr;
  abi::Dim grid{}, block{};
  abi::Site site{};
};

/// Gets the operation's own number.
using Action = std::function<void(OperationId)>;

struct Graph {
  struct Node {
    OperationInfo info;
    Action action;
    std::vector<std::size_t> after;
  };
  std::vector<Node> nodes;
};

struct Stream {
  bool waits_for_default = true;
  std::vector<OperationId> tails;     ///< What its next operation follows.
  std::shared_ptr<Graph> capture;     ///< While it is captured;
  std::vector<std::size_t> captured;  ///< then its next node follows these.
  bool began_capture = false;
};

struct Event {
  std::vector<OperationId> tails;
  std::shared_ptr<Graph> capture;
  std::vector<std::size_t> captured;
};

class Timeline {
 public:
  explicit Timeline(Random& random) : random_(random) {}

  Stream& default_stream() { return default_stream_; }
  /// Null if the handle is no stream.
  Stream* stream_of(void* handle);
  Stream* create_stream(bool waits_for_default);
  bool destroy_stream(void* handle);
  Event* event_of(void* handle);
  Event* create_event();
  bool destroy_event(void* handle);

  /// Adds an operation to a stream, or a node to the graph that the stream is captured into.
  /// Returns the operation, 0 for a node.
  OperationId add(Stream& stream, OperationInfo info, Action action);
  void record(Event& event, const Stream& stream);
  bool wait(Stream& stream, const Event& event);  ///< False: an event of another capture.

  bool begin_capture(Stream& stream);
  std::shared_ptr<Graph> end_capture(Stream& stream);  ///< Null: not captured, or a branch was not joined.
  void launch(Stream& stream, const Graph& graph);

  /// Runs what these need, perhaps more; from then on the host knows that they are done.
  void synchronize(const std::vector<OperationId>& operations);
  void synchronize_all();

  // Order, as seen by the operation that runs, or by the host when none does.
  OperationId running() const { return running_; }
  bool is_before_running(OperationId id) const { return order_of(running_).contains(id); }
  bool host_knows(OperationId id) const { return host_knows_.contains(id); }
  bool is_done(OperationId id) const { return operations_[id].done; }
  const OperationInfo& info(OperationId id) const { return operations_[id].info; }

 private:
  struct Operation {
    OperationInfo info;
    Action action;
    std::vector<OperationId> after;
    OperationSet before;  ///< All that it follows, at any distance.
    bool done = false;
  };

  const OperationSet& order_of(OperationId id) const { return id ? operations_[id].before : host_knows_; }
  OperationId add_after(std::vector<OperationId> after, OperationInfo info, Action action);
  std::vector<OperationId> tails_with_default(const Stream& stream) const;
  void run(OperationId id);
  void run_until_done(const std::vector<OperationId>& wanted);

  Random& random_;
  Stream default_stream_;
  std::vector<std::unique_ptr<Stream>> streams_;
  Stream* per_thread_stream_ = nullptr;  ///< One of them.
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<Operation> operations_{1};
  std::vector<OperationId> pending_;
  OperationSet host_knows_;
  OperationId running_ = 0;
};

}  // namespace simt
