#include "host/verify.h"

#include <fmt/format.h>
#include <weft/error.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "host/dependences.h"
#include "ir/stage_ir.h"
#include "kernel/evaluate.h"
#include "kernel/visit.h"

namespace weft::host {
namespace {

using kernel::Array;
using kernel::Expr;
using kernel::is_literal;
using kernel::same;

constexpr std::int64_t most_tried = 20;  // steps

std::string text(const Place& place) {
  return "'" + place.array.spelling() + "'" +
         (place.device == the_host ? "" : fmt::format(" on device {}", place.device));
}

void require(bool condition, const std::string& what) {
  if (!condition) throw InternalError("the host plan: " + what);
}

/// "the release of 'a'", "'kernel'"
std::string title(const Node& node) {
  return std::visit(ir::overloaded{
                        [](const Allocate& n) { return "the allocation of '" + n.array.spelling() + "'"; },
                        [](const Free& n) { return "the release of '" + n.array.spelling() + "'"; },
                        [](const Copy& n) { return "the copy of '" + n.array.spelling() + "'"; },
                        [](const Launch& n) { return "'" + n.function.spelling() + "'"; },
                        [](const Repeat& n) { return "the repeat over '" + n.counter.spelling() + "'"; },
                    },
                    node.what);
}

// ---- order ------------------------------------------------------------------------------------------------

/// Of two nodes that depend on each other the first comes before the second.
void check_order(const kernel::Module& module, const std::vector<Node>& nodes) {
  std::vector<std::set<std::size_t>> before(nodes.size());
  std::map<std::pair<int, int>, std::size_t> last;  // of a device's stream
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (const auto* repeat = std::get_if<Repeat>(&node.what)) {
      for (const Turns& part : repeat->parts) check_order(module, part.nodes);
    }
    require(node.uses == uses_of(module, node), title(node) + " does not use what it says");
    const auto comes_after = [&](std::size_t other) {
      require(other < n, title(node) + " waits for a later node");
      before[n].insert(other);
      before[n].insert(before[other].begin(), before[other].end());
    };
    for (const std::size_t other : node.after) comes_after(other);
    if (const auto found = last.find({node.device, node.stream}); found != last.end())
      comes_after(found->second);
    last[{node.device, node.stream}] = n;
    for (std::size_t other = 0; other < n; ++other) {
      require(before[n].count(other) || !depend(nodes[other].uses, node.uses),
              title(nodes[other]) + " and " + title(node) + " have no order");
    }
  }
}

// ---- memory -----------------------------------------------------------------------------------------------

/// One kind of run, step by step: what memory is there, and what has been written.
class Run {
 public:
  struct Kind {
    int images;       ///< The device where the caller gives them.
    bool has_pixels;  ///< If not, all arrays that may be empty are.
  };

  Run(const kernel::Module& module, Kind kind) : module_(module), kind_(kind) {
    for (const Array& a : module.arrays) {
      const bool is_input = a.role == Array::Role::Input;
      if (a.role != Array::Role::Intermediate && (is_input || !is_empty(a.name)))
        memory_[{a.name, kind.images}] = {true, is_input};
    }
  }

  void verify(const Plan& plan) {
    const std::map<Place, Memory> given = memory_;
    run(plan.nodes);
    for (const auto& [place, memory] : memory_) {
      const bool is_given = given.count(place) > 0;
      const bool is_output = array_named(module_, place.array).role == Array::Role::Output;
      require(memory.is_there == is_given, text(place) + (is_given ? " is freed" : " is never freed"));
      require(!is_given || !is_output || memory.is_written, "nothing writes the output " + text(place));
    }
  }

 private:
  struct Memory {
    bool is_there = false, is_written = false;
  };

  bool is_empty(const kernel::Symbol& array) const {
    return !kind_.has_pixels && may_be_empty(array_named(module_, array));
  }
  bool takes_part(const Node& node) const {
    switch (node.when) {
      case When::Always: return true;
      case When::HostImage: return kind_.images == the_host;
      case When::EmptyImage: return kind_.images == node.device && is_empty(array_of(node));
    }
    return true;
  }

  void run(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (!takes_part(node)) continue;
      std::visit(ir::overloaded{
                     [&](const Allocate& n) { allocate(node, n); },
                     [&](const Free& n) { free(node, n); },
                     [&](const Copy&) { use(node); },
                     [&](const Launch&) { use(node); },
                     [&](const Repeat& n) { repeat(n); },
                 },
                 node.what);
    }
  }

  void allocate(const Node& node, const Allocate& n) {
    Memory& memory = memory_[{n.array, node.device}];
    require(!memory.is_there, text({n.array, node.device}) + " is allocated where it is there already");
    const Expr empty = host::is_empty(array_named(module_, n.array));
    const bool is_zeroed = is_literal(n.zeroed, 1) || (is_empty(n.array) && same(n.zeroed, empty));
    memory = {true, is_zeroed};
  }
  void free(const Node& node, const Free& n) {
    Memory& memory = memory_[{n.array, node.device}];
    require(memory.is_there, text({n.array, node.device}) + " is freed where it is not there");
    memory = {};
  }

  void use(const Node& node) {
    for (const Place& place : node.uses.reads) {
      const Memory memory = memory_[place];
      require(memory.is_there, title(node) + " reads " + text(place) + ", which has no memory" +
                                   (is_empty(place.array) ? " if it has no pixels" : ""));
      require(memory.is_written || node.uses.writes.count(place),
              title(node) + " reads " + text(place) + " before it is written");
    }
    for (const Place& place : node.uses.writes) {
      if (is_empty(place.array)) continue;  // nothing is stored
      Memory& memory = memory_[place];
      require(memory.is_there, title(node) + " writes " + text(place) + ", which has no memory");
      memory.is_written = true;
    }
  }

  /// After as many times as the rotations take together every array is where it was, and nothing new happens.
  /// How they stand the first time depends on how often they will have turned.
  void repeat(const Repeat& n) {
    std::int64_t period = 1;
    for (const kernel::Rotation& rotation : n.rotations)
      period = std::lcm(period, static_cast<std::int64_t>(rotation.size()));
    try_times(n, period, {});
    if (!runs_at_all(n)) return;
    std::vector<std::int64_t> once(n.parts.size(), 0);
    once.back() = 1;
    run_times(n, once);
  }
  /// All numbers of times that the parts may run, from those of the first ones on.
  void try_times(const Repeat& n, std::int64_t period, std::vector<std::int64_t> times) {
    if (times.size() == n.parts.size()) {
      const bool is_none = std::count(times.begin(), times.end(), 0) == std::ssize(times);
      if (!is_none || !runs_at_all(n)) run_times(n, times);
      return;
    }
    const Turns& part = n.parts[times.size()];
    const auto known = kernel::literal_value(times_of(part.from, part.to, part.by));
    times.push_back(0);
    if (known) {
      if (*known > 0) times.back() = std::min(*known, period + *known % period);
      try_times(n, period, times);
      return;
    }
    for (std::int64_t count = 0; count <= period; ++count) {
      const std::map<Place, Memory> before = memory_;
      times.back() = count;
      try_times(n, period, times);
      memory_ = before;  // it may be none at all
    }
  }
  /// Whether some part runs, as far as small values of all that they depend on say.
  bool runs_at_all(const Repeat& n) const {
    std::set<kernel::Symbol> names;
    for (const Turns& part : n.parts) {
      const Expr times = times_of(part.from, part.to, part.by);
      kernel::any_of(times, [&](const kernel::Node& node) {
        if (const auto* name = std::get_if<kernel::Name>(&node.op)) names.insert(name->name);
        return false;
      });
    }
    for (std::int64_t value = -most_tried; value <= most_tried; ++value) {
      kernel::FieldValues fields;
      for (const kernel::Symbol& name : names) fields[name] = {.i = value};
      const bool runs = std::any_of(n.parts.begin(), n.parts.end(), [&](const Turns& part) {
        return kernel::evaluate(times_of(part.from, part.to, part.by), fields) > 0;
      });
      if (!runs) return false;
    }
    return true;
  }
  void run_times(const Repeat& n, const std::vector<std::int64_t>& times) {
    std::int64_t places = 0;
    for (std::size_t p = 0; p < times.size(); ++p) places += times[p] * n.parts[p].places;
    for (const kernel::Rotation& rotation : n.rotations) {
      const auto arrays = static_cast<std::int64_t>(rotation.size());
      for (std::int64_t turn = (arrays - places % arrays) % arrays; turn > 0; --turn) rotate(rotation);
    }
    bool is_first = true;
    for (std::size_t p = 0; p < times.size(); ++p) {
      for (std::int64_t time = 0; time < times[p]; ++time) {
        for (int place = 0; place < n.parts[p].places; ++place) {
          for (const kernel::Rotation& rotation : n.rotations) rotate(rotation);
        }
        const std::map<Place, Memory> before = memory_;
        for (const kernel::StandIn& one : n.first) {
          if (is_first) stand_in(one, before);
        }
        run(n.parts[p].nodes);
        for (const kernel::StandIn& one : n.first) {
          if (is_first) restore(one.array, before);
        }
        is_first = false;
      }
    }
  }
  /// Nothing may write to it meanwhile.
  void stand_in(const kernel::StandIn& one, const std::map<Place, Memory>& before) {
    for (const auto& [place, memory] : before) {
      if (place.array == one.other) memory_[{one.array, place.device}] = memory;
    }
  }
  void restore(const kernel::Symbol& array, const std::map<Place, Memory>& before) {
    std::erase_if(memory_, [&](const auto& entry) { return entry.first.array == array; });
    for (const auto& [place, memory] : before) {
      if (place.array == array) memory_[place] = memory;
    }
  }
  void rotate(const kernel::Rotation& rotation) {
    std::map<Place, Memory> after;
    for (const auto& [place, memory] : memory_) {
      const auto found = std::find(rotation.begin(), rotation.end(), place.array);
      const auto index = static_cast<std::size_t>(found - rotation.begin());
      const bool rotates = found != rotation.end();
      after[{rotates ? rotation[(index + 1) % rotation.size()] : place.array, place.device}] = memory;
    }
    memory_ = std::move(after);
  }

  const kernel::Module& module_;
  const Kind kind_;
  std::map<Place, Memory> memory_;
};

}  // namespace

void verify(const kernel::Module& module, const Plan& plan) {
  check_order(module, plan.nodes);
  std::set<int> devices = {the_host};  // where images may be given
  for (const Node& node : plan.nodes) {
    if (node.device == 0) devices.insert(0);
    const auto* copy = std::get_if<Copy>(&node.what);
    if (!copy || (copy->from != the_host && copy->to != the_host)) continue;
    const Array& a = array_named(module, copy->array);
    const Expr last = a.extents.empty() ? kernel::literal(1) : a.extents.back();
    require(is_literal(copy->first, 0) && same(copy->last, last), title(node) + " is not of the whole image");
  }
  for (const int images : devices) {
    for (const bool has_pixels : {true, false}) Run(module, {images, has_pixels}).verify(plan);
  }
}

}  // namespace weft::host
