#include "host/dependences.h"

#include <algorithm>

#include "base/orders.h"
#include "ir/stage_ir.h"
#include "kernel/visit.h"

namespace weft::host {
namespace {

bool meet(const std::set<Place>& a, const std::set<Place>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Place& place) { return b.count(place); });
}

std::set<Place> on(int device, const std::set<kernel::Symbol>& arrays) {
  std::set<Place> places;
  for (const kernel::Symbol& array : arrays) places.insert({array, device});
  return places;
}

/// Of arrays that rotate, what one name stands for now another one does later.
void add_rotated(const std::vector<kernel::Rotation>& rotations, std::set<Place>& places) {
  for (const Place& place : std::set(places)) {
    for (const kernel::Rotation& rotation : rotations) {
      if (!std::count(rotation.begin(), rotation.end(), place.array)) continue;
      for (const kernel::Symbol& array : rotation) places.insert({array, place.device});
    }
  }
}

}  // namespace

Uses uses_of(const kernel::Module& module, const Node& node) {
  return std::visit(ir::overloaded{
                        [&](const Allocate& n) {
                          return Uses{{}, {{n.array, node.device}}};
                        },
                        [&](const Free& n) {
                          return Uses{{}, {{n.array, node.device}}};
                        },
                        [&](const Copy& n) {
                          return Uses{{{n.array, n.from}}, {{n.array, n.to}}};
                        },
                        [&](const Launch& n) {
                          const kernel::Uses uses = kernel::uses_of(module, n.function);
                          return Uses{on(node.device, uses.reads), on(node.device, uses.writes)};
                        },
                        [&](const Repeat& n) {
                          Uses all;
                          for (const Turns& part : n.parts) {
                            for (const Node& inner : part.nodes) {
                              Uses uses = uses_of(module, inner);
                              all.reads.merge(uses.reads), all.writes.merge(uses.writes);
                            }
                          }
                          add_rotated(n.rotations, all.reads), add_rotated(n.rotations, all.writes);
                          for (const kernel::StandIn& one : n.first)
                            all.reads.insert({one.other, node.device});
                          return all;
                        },
                    },
                    node.what);
}

bool depend(const Uses& a, const Uses& b) {
  return meet(a.writes, b.reads) || meet(a.reads, b.writes) || meet(a.writes, b.writes);
}

void connect(const kernel::Module& module, std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    if (auto* repeat = std::get_if<Repeat>(&node.what)) {
      for (Turns& part : repeat->parts) connect(module, part.nodes);
    }
    node.uses = uses_of(module, node);
  }
  const auto orders = orders_of(nodes.size(), [&](std::size_t earlier, std::size_t later) {
    return depend(nodes[earlier].uses, nodes[later].uses);
  });
  for (std::size_t n = 0; n < nodes.size(); ++n) nodes[n].after.assign(orders[n].rbegin(), orders[n].rend());
}

}  // namespace weft::host
