#include "kernel/registers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/visit.h"

namespace weft::kernel {
namespace {

constexpr int address = 2;  // registers of 64 bits

// What NVIDIA's compiler does with loops, and what it keeps beside a kernel's variables: thread and block
// numbers, bounds, offsets that it moves out of loops. Fitted to all kernels of all applications (NVRTC 13.0
// for sm_90; bench/results/2026-11-28-prices-of-code.md).
constexpr int overhead = 16;
constexpr int unrolled_iterations = 4;  // of an innermost loop of unknown length
constexpr int longest_unrolled = 8;     // a loop of fewer iterations is unrolled entirely
constexpr int most_unrolled = 40;       // registers of all its iterations, beyond which fewer are unrolled

// The most registers with which 64, 48, 40, 32, 24, 16 and 8 warps share a register file of 65,536: whole
// blocks of 8, 4 and 2 warps fill it.
constexpr int steps[] = {32, 40, 48, 64, 80, 128, 255};

/// Registers of a scalar; comparisons are kept as predicates.
int width(Scalar type) { return type == Scalar::Bool ? 0 : (size_of(type) + 3) / 4; }

/// The most registers alive at once, by a walk from a kernel's end to its beginning.
class Pressure {
 public:
  explicit Pressure(const kernel::Function& kernel) {
    declare(kernel.body);
    walk(kernel.body, {});
  }
  int most() const { return most_; }

 private:
  using Live = std::set<Symbol>;

  /// The registers that each variable takes. What is not among them, as sizes and parameters, is read from
  /// the bank of constants.
  void declare(const Block& block) {
    kernel::visit_statements(block, [&](const kernel::Stmt& statement) {
      std::visit(ir::overloaded{
                     [&](const kernel::Let& s) { widths_[s.name] = width(s.value->type); },
                     [&](const kernel::Pointer& s) {
                       widths_[s.name] = shared_.count(s.array) ? 1 : address;
                       if (shared_.count(s.array)) shared_.insert(s.name);
                     },
                     [&](const kernel::LocalArray& s) {
                       if (s.storage == kernel::Storage::Shared)
                         shared_.insert(s.name);
                       else
                         declare_array(s.name, s.count * width(s.type));
                     },
                     [&](const kernel::LoadPack& s) { declare_array(s.name, s.scalars() * width(s.type)); },
                     [&](const kernel::For& s) { widths_[s.variable] = width(s.from->type); },
                     [&](const kernel::ExceedsCaches& s) { widths_[s.name] = width(Scalar::Bool); },
                     [&](const kernel::IsAligned& s) { widths_[s.name] = width(Scalar::Bool); },
                     [&](const kernel::Shuffle& s) { widths_[s.name] = width(s.value->type); },
                     [](const kernel::Assign&) {},
                     [](const kernel::Store&) {},
                     [](const kernel::StorePack&) {},
                     [](const kernel::Prefetch&) {},
                     [](const kernel::LookUp&) {},
                     [](const kernel::PickPlanes&) {},
                     [](const kernel::StorePastCaches&) {},
                     [](const kernel::Atomic&) {},
                     [](const kernel::Barrier&) {},
                     [](const kernel::If&) {},
                     [](const kernel::IfVectors&) {},
                     [](const kernel::StepsInLanes&) {},
                     [](const kernel::Scope&) {},
                     [](const kernel::Continue&) {},
                     [](const kernel::CallFunction&) {},
                     [](const kernel::Order&) {},
                     [](const kernel::Comment&) {},
                 },
                 statement.op);
    });
  }

  void declare_array(const Symbol& name, int registers) {
    widths_[name] = registers;
    in_registers_.insert(name);
  }

  int width_of(const Live& live) const {
    int sum = 0;
    for (const Symbol& name : live) sum += widths_.at(name);
    return sum;
  }
  void read(const Symbol& name, Live& live) const {
    if (widths_.count(name)) live.insert(name);
  }
  void read(const Expr& e, Live& live) const {
    kernel::any_of(e, [&](const kernel::Node& node) {
      if (const auto* n = std::get_if<kernel::Name>(&node.op)) read(n->name, live);
      if (const auto* n = std::get_if<kernel::Load>(&node.op)) read(n->array, live);
      if (const auto* n = std::get_if<kernel::MedianOf>(&node.op)) read(n->array, live);
      return false;
    });
  }

  int address_of(const Symbol& array) const {
    return in_registers_.count(array) ? 0 : shared_.count(array) ? 1 : address;
  }
  /// What evaluating an expression needs beside the variables that it reads: its loads, and an address for
  /// each array that it loads from.
  int temporaries(const Expr& e) const {
    int sum = std::holds_alternative<kernel::Const>(e->op) ? 0 : width(e->type);
    std::set<Symbol> arrays;
    std::set<const kernel::Node*> seen;
    kernel::any_of(e, [&](const kernel::Node& node) {
      const auto* load = std::get_if<kernel::Load>(&node.op);
      if (load == nullptr || !seen.insert(&node).second) return false;
      if (in_registers_.count(load->array)) return false;
      sum += std::max(width(node.type), 1);
      if (arrays.insert(load->array).second) sum += address_of(load->array);
      return false;
    });
    return sum;
  }
  void reach(const Live& live, int beside = 0) { most_ = std::max(most_, width_of(live) + beside); }

  /// Returns what is alive before the block, given what is after it.
  Live walk(const Block& block, Live live) {
    for (auto s = block.rbegin(); s != block.rend(); ++s) live = walk(*s, std::move(live));
    return live;
  }

  Live walk(const kernel::Stmt& statement, Live live) {
    const auto evaluate = [&](std::initializer_list<Expr> expressions, int beside = 0) {
      for (const Expr& e : expressions) {
        beside += temporaries(e);
        read(e, live);
      }
      reach(live, beside);
    };
    std::visit(ir::overloaded{
                   [&](const kernel::Let& s) {
                     live.erase(s.name);
                     evaluate({s.value});
                   },
                   [&](const kernel::Assign& s) {
                     live.insert(s.name);
                     evaluate({s.value});
                   },
                   [&](const kernel::Pointer& s) {
                     live.erase(s.name);
                     evaluate({s.offset});
                   },
                   [&](const kernel::LocalArray& s) { live.erase(s.name); },
                   [&](const kernel::Store& s) {
                     read(s.array, live);
                     evaluate({s.index, s.value}, address_of(s.array));
                   },
                   [&](const kernel::LoadPack& s) {
                     live.erase(s.name);
                     evaluate({s.offset, s.valid});
                   },
                   [&](const kernel::StorePack& s) {
                     read(s.name, live);
                     evaluate({s.offset, s.valid});
                   },
                   [&](const kernel::Shuffle& s) {
                     live.erase(s.name);
                     evaluate({s.value});
                     if (s.lane) evaluate({s.lane});
                   },
                   [&](const kernel::IsAligned& s) {
                     live.erase(s.name);
                     evaluate({s.offset});
                   },
                   [&](const kernel::Atomic& s) {
                     read(s.array, live);
                     evaluate({s.index, s.value});
                   },
                   [&](const kernel::For& s) {
                     // What an iteration reads has to last for the next one.
                     for (const Symbol& name : kernel::names_in(s.body)) read(name, live);
                     read(s.to, live);
                     if (s.step) read(s.step, live);
                     Live inside = live;
                     inside.insert(s.variable);
                     for (const Symbol& name : declared_in(s.body)) inside.erase(name), live.erase(name);
                     const int around = width_of(inside), before = most_;
                     most_ = around;
                     walk(s.body, std::move(inside));
                     most_ = std::max(before, around + unrolled(s, most_ - around));
                     live.erase(s.variable);
                     evaluate({s.from});
                   },
                   [&](const kernel::If& s) {
                     Live otherwise = walk(s.otherwise, live);
                     live = walk(s.then, std::move(live));
                     live.merge(otherwise);
                     evaluate({s.condition});
                   },
                   [](const kernel::IfVectors&) {},  // of CPUs
                   [](const kernel::StepsInLanes&) {},
                   [&](const kernel::Scope& s) { live = walk(s.body, std::move(live)); },
                   [&](const kernel::Order& s) { read(s.array, live); },
                   [](const kernel::Barrier&) {},
                   [](const kernel::Continue&) {},
                   [](const kernel::Comment&) {},
                   // Of CPUs, whose registers nobody counts.
                   [](const kernel::Prefetch&) {},
                   [](const kernel::LookUp&) {},
                   [](const kernel::PickPlanes&) {},
                   [](const kernel::ExceedsCaches&) {},
                   [](const kernel::StorePastCaches&) {},
                   [](const kernel::CallFunction&) {},
               },
               statement.op);
    return live;
  }

  /// Registers of the iterations of a loop that are under way at a time, given those of one.
  static int unrolled(const kernel::For& loop, int registers) {
    if (loop.kind == LoopKind::Unrolled) return registers;
    bool is_innermost = true;
    kernel::visit_statements(loop.body, [&](const kernel::Stmt& statement) {
      const auto* inner = std::get_if<kernel::For>(&statement.op);
      is_innermost &= (inner == nullptr || inner->kind == LoopKind::Unrolled) &&
                      !std::holds_alternative<kernel::Barrier>(statement.op) &&
                      !std::holds_alternative<kernel::LoadPack>(statement.op);
    });
    if (!is_innermost) return registers;
    const auto from = kernel::literal_value(loop.from), to = kernel::literal_value(loop.to);
    const bool is_short = from && to && *to - *from <= longest_unrolled;
    const int iterations = is_short ? static_cast<int>(*to - *from) : unrolled_iterations;
    return std::max(registers, std::min(iterations * registers, most_unrolled));
  }

  static std::set<Symbol> declared_in(const Block& block) {
    std::set<Symbol> names;
    kernel::visit_statements(block, [&](const kernel::Stmt& statement) {
      const kernel::Effects effects = kernel::effects_of(statement);
      names.insert(effects.declares.begin(), effects.declares.end());
    });
    return names;
  }

  std::map<Symbol, int> widths_;
  std::set<Symbol> shared_, in_registers_;  // arrays
  int most_ = 0;
};

}  // namespace

RegisterRange estimated_registers(const kernel::Function& kernel) {
  const int count = std::min(overhead + Pressure(kernel).most(), steps[std::size(steps) - 1]);
  const auto step = std::lower_bound(std::begin(steps), std::end(steps), count);
  return {step == std::begin(steps) ? 1 : *(step - 1) + 1, *step};
}

std::int64_t shared_bytes(const kernel::Function& kernel) {
  std::int64_t bytes = 0;
  kernel::visit_statements(kernel.body, [&](const kernel::Stmt& statement) {
    const auto* array = std::get_if<kernel::LocalArray>(&statement.op);
    if (array == nullptr || array->storage != kernel::Storage::Shared) return;
    const std::int64_t size = size_of(array->type);
    bytes = (bytes + size - 1) / size * size + array->count * size;
  });
  return bytes;
}

}  // namespace weft::kernel
