#include "kernel/mutate.h"

#include <bit>
#include <cstdint>
#include <cstdlib>

#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

using ir::BinaryOp;

bool is_index(Scalar type) { return type == Scalar::I32 || type == Scalar::I64; }

/// e + by, of its type. Built as it is: what folds would not show where the fault is.
Expr moved(const Expr& e, std::int64_t by) {
  if (const auto value = literal_value(e)) return constant(e->type, {.i = *value + by});
  return binary(by < 0 ? BinaryOp::Sub : BinaryOp::Add, e, constant(e->type, {.i = std::abs(by)}));
}

/// The index of a row in a ring: row & 15 of 16 rows, or row % 3 of three.
Expr in_smaller_ring(const Node& node) {
  const auto* n = std::get_if<Binary>(&node.op);
  if (!n || !is_index(node.type)) return nullptr;
  const std::int64_t most = literal_value(n->b).value_or(0);
  if (n->op == BinaryOp::And && most > 0 && std::has_single_bit(static_cast<std::uint64_t>(most) + 1))
    return binary(n->op, n->a, constant(node.type, {.i = most >> 1}));
  if (n->op == BinaryOp::Rem && most > 1) return binary(n->op, n->a, constant(node.type, {.i = most - 1}));
  return nullptr;
}

Expr with_other_end(const Node& node) {
  const auto* n = std::get_if<Binary>(&node.op);
  if (!n || !is_index(n->a->type)) return nullptr;
  if (n->op == BinaryOp::Lt) return binary(BinaryOp::Le, n->a, n->b);
  if (n->op == BinaryOp::Le) return binary(BinaryOp::Lt, n->a, n->b);
  return nullptr;
}

/// Goes through a function and counts the faults that it can have. The one of the number is made.
class Mutator {
 public:
  explicit Mutator(int number = -1) : number_(number) {}

  void go_through(Block& block) {
    for (std::size_t s = 0; s < block.size(); ++s) {
      if (std::holds_alternative<Barrier>(block[s].op) && is_wanted(Fault::Barrier)) {
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(s));
        return;
      }
      statement(block[s]);
      each_block(block[s], [&](Block& inside) { go_through(inside); });
    }
  }

  const std::vector<Fault>& faults() const { return faults_; }

 private:
  /// Counts a fault; whether it is to be made.
  bool is_wanted(Fault fault) {
    faults_.push_back(fault);
    return static_cast<int>(faults_.size()) == number_ + 1;
  }

  void statement(Stmt& s) {
    if (auto* pointer = std::get_if<Pointer>(&s.op)) off_by_one(pointer->offset, Fault::Index);
    if (auto* store = std::get_if<Store>(&s.op)) off_by_one(store->index, Fault::Index);
    if (auto* load = std::get_if<LoadPack>(&s.op)) off_by_one(load->offset, Fault::Index);
    if (auto* store = std::get_if<StorePack>(&s.op)) off_by_one(store->offset, Fault::Index);
    if (auto* update = std::get_if<Atomic>(&s.op)) off_by_one(update->index, Fault::Index);
    if (auto* shuffle = std::get_if<Shuffle>(&s.op)) other_lane(*shuffle);
    if (auto* loop = std::get_if<For>(&s.op)) bounds(*loop);
    each_operand(s, [&](Expr& e) { e = rewritten(e, [&](const Expr& part) { return within(part); }); });
  }

  /// A part of an expression with the fault, or null.
  Expr within(const Expr& e) {
    if (const auto* read = std::get_if<Load>(&e->op)) {
      for (const int by : {-1, 1}) {
        if (is_wanted(Fault::Index)) return load(read->array, e->type, moved(read->index, by));
      }
    }
    if (Expr smaller = in_smaller_ring(*e); smaller && is_wanted(Fault::Ring)) return smaller;
    if (Expr other = with_other_end(*e); other && is_wanted(Fault::Guard)) return other;
    return nullptr;
  }

  void off_by_one(Expr& e, Fault fault) {
    const Expr right = e;
    for (const int by : {-1, 1}) {
      if (is_wanted(fault)) e = moved(right, by);
    }
  }

  void other_lane(Shuffle& shuffle) {
    if (shuffle.lane) return off_by_one(shuffle.lane, Fault::Lane);
    const int right = shuffle.distance;
    if (is_wanted(Fault::Lane)) shuffle.distance = -right;
    if (is_wanted(Fault::Lane)) shuffle.distance = right < 0 ? right - 1 : right + 1;
  }

  void bounds(For& loop) {
    // As many as a warp or a block has: there is no bound.
    if (loop.kind == LoopKind::Lanes || loop.kind == LoopKind::Warps) return;
    off_by_one(loop.from, Fault::Bound);
    if (!loop.has_block_each) off_by_one(loop.to, Fault::Bound);
  }

  const int number_;
  std::vector<Fault> faults_;
};

}  // namespace

std::string_view name_of(Fault fault) {
  constexpr std::string_view names[] = {"barrier", "ring", "index", "lane", "bound", "guard"};
  return names[static_cast<int>(fault)];
}

std::vector<Mutation> mutations_of(const Module& module) {
  std::vector<Mutation> all;
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    Mutator counting;
    Block body = module.functions[f].body;
    counting.go_through(body);
    int number = 0;
    for (const Fault fault : counting.faults()) all.push_back({fault, f, number++});
  }
  return all;
}

Module mutated(const Module& module, const Mutation& mutation) {
  Module with_fault = module;
  Mutator(mutation.number).go_through(with_fault.functions.at(mutation.function).body);
  return with_fault;
}

}  // namespace weft::kernel
