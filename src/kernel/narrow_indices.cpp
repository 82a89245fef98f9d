#include "kernel/narrow_indices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/value_ranges.h"
#include "kernel/visit.h"

namespace weft::kernel {

using ir::BinaryOp;

namespace {

bool fits(const ValueRange& range) { return range.within(range_of(Scalar::I32)); }

class IndexNarrowing {
 public:
  explicit IndexNarrowing(const kernel::Module& module) {
    for (const kernel::Array& array : module.arrays) {
      if (array.role == kernel::Array::Role::Input && array.extents.size() < 2) continue;
      for (const Expr& extent : array.extents) {
        if (const auto* name = std::get_if<kernel::Name>(&extent->op)) limited_.insert(name->name);
      }
    }
    // What a 1-D image calls its width is as long as it likes, whoever else has that width.
    for (const kernel::Array& array : module.arrays) {
      if (array.role != kernel::Array::Role::Input || array.extents.size() != 1) continue;
      if (const auto* name = std::get_if<kernel::Name>(&array.extents[0]->op)) limited_.erase(name->name);
    }
    std::set<Symbol> sizes;
    for (const kernel::Field& field : module.sizes) sizes.insert(field.name);
    std::erase_if(limited_, [&](const Symbol& name) { return !sizes.count(name); });
    for (const Launch* launch : launches_with_room(module)) rooms_.insert(launch->grid->room->field);
  }

  void run(kernel::Function& function) {
    known_.clear();
    used_.clear();
    assigned_ = assigned_in(function.body);
    for (const Symbol& size : limited_) known_[size] = {0, static_cast<double>(extent_limit)};
    for (const Symbol& room : rooms_) known_[room] = {0, static_cast<double>(Room::most)};
    block(function.body);
    for (const auto* names : {&limited_, &rooms_}) {
      for (const Symbol& name : *names) {
        if (used_.count(name)) function.narrow.push_back(name);
      }
    }
  }

 private:
  struct Narrow {
    Expr e;  // of type i32
    ValueRange range;
  };

  // ---- statements ----

  void block(Block& statements) {
    const auto outer = known_;
    for (kernel::Stmt& s : statements) {
      narrowed_.clear(), rewritten_.clear();
      rewrite(s);
    }
    known_ = outer;
  }

  void rewrite(kernel::Let& s) {
    const auto small = s.is_mutable ? narrow_throughout(s) : narrow(s.value);
    if (!small) {
      s.value = rewritten(s.value);
    } else {
      s.value = small->e;
      known_[s.name] = small->range;
    }
  }
  /// A variable that fits with all that is assigned to it, which is known here.
  std::optional<Narrow> narrow_throughout(const kernel::Let& s) {
    auto result = narrow(s.value);
    for (const Expr& later : assigned_[s.name]) {
      const auto next = result ? narrow(later) : std::nullopt;
      if (!next) return std::nullopt;
      result->range = hull(result->range, next->range);
    }
    return result;
  }
  void rewrite(kernel::Assign& s) {
    const auto small = known_.count(s.name) ? narrow(s.value) : std::nullopt;
    s.value = small ? small->e : rewritten(s.value);
  }
  /// Loops of a grid may go beyond their end by once the grid, which is about as large as the range.
  void rewrite(kernel::For& s) {
    const auto from = narrow(s.from), to = narrow(s.to), step = narrow(s.step ? s.step : kernel::literal(1));
    const auto outer = known_;
    const bool fits = from && to && step && to->range.high < std::numeric_limits<std::int32_t>::max() / 2;
    if (fits) {
      s.from = from->e, s.to = to->e;
      if (s.step) s.step = step->e;
      known_[s.variable] = {from->range.low, std::max(from->range.low, to->range.high - 1)};
    } else {
      s.from = rewritten(s.from), s.to = rewritten(s.to);
      if (s.step) s.step = rewritten(s.step);
    }
    block(s.body);
    known_ = outer;
  }
  void rewrite(kernel::Stmt& s) {
    if (auto* let = std::get_if<kernel::Let>(&s.op)) return rewrite(*let);
    if (auto* assign = std::get_if<kernel::Assign>(&s.op)) return rewrite(*assign);
    if (auto* loop = std::get_if<kernel::For>(&s.op)) return rewrite(*loop);
    kernel::each_operand(s, [&](Expr& e) { e = rewritten(e); });
    kernel::each_block(s, [&](Block& inside) { block(inside); });
  }

  // ---- expressions ----

  /// The i64 expression in 32 bits, if it fits all the way.
  std::optional<Narrow> narrow(const Expr& e) {
    if (e->type != Scalar::I64) return std::nullopt;
    const auto known = narrowed_.find(e);
    return known != narrowed_.end() ? known->second : narrowed_[e] = find_narrow(e);
  }
  std::optional<Narrow> find_narrow(const Expr& e) {
    auto result = std::visit(
        ir::overloaded{
            [&](const kernel::Const& n) -> std::optional<Narrow> {
              const ValueRange value = range_of_constant(e->type, n.value);
              if (!fits(value)) return std::nullopt;
              return Narrow{kernel::constant(Scalar::I32, n.value.lane[0]), value};
            },
            [&](const kernel::Name& n) -> std::optional<Narrow> {
              const auto found = known_.find(n.name);
              if (found == known_.end()) return std::nullopt;
              used_.insert(n.name);
              return Narrow{kernel::name(n.name, Scalar::I32), found->second};
            },
            [&](const kernel::Unary& n) -> std::optional<Narrow> {
              const auto a = n.op == ir::UnaryOp::Neg ? narrow(n.a) : std::nullopt;
              if (!a) return std::nullopt;
              return Narrow{kernel::unary(n.op, a->e), {-a->range.high, -a->range.low}};
            },
            [&](const kernel::Binary& n) -> std::optional<Narrow> {
              const auto a = narrow(n.a), b = a ? narrow(n.b) : std::nullopt;
              if (!b) return limited(n);
              // Places count modulo the bits that there are.
              const bool shifts = n.op == BinaryOp::Shl || n.op == BinaryOp::Shr;
              if (shifts && !b->range.within({0, 31})) return std::nullopt;
              return Narrow{kernel::binary(n.op, a->e, b->e), range_of_result(n.op, a->range, b->range)};
            },
            [&](const kernel::Select& n) -> std::optional<Narrow> {
              const auto a = narrow(n.a), b = a ? narrow(n.b) : std::nullopt;
              if (!b) return std::nullopt;
              return Narrow{kernel::select(rewritten(n.condition), a->e, b->e), hull(a->range, b->range)};
            },
            [&](const kernel::Cast& n) -> std::optional<Narrow> {
              const bool fits = size_of(n.a->type) <= 2 || n.a->type == Scalar::I32;
              if (is_float(n.a->type) || n.mode != ir::CastMode::Convert || !fits) return std::nullopt;
              return Narrow{kernel::cast(n.mode, Scalar::I32, rewritten(n.a)), range_of(n.a->type)};
            },
            [&](const kernel::IndexCall& n) -> std::optional<Narrow> {
              const auto a = narrow(n.a), b = a ? narrow(n.b) : std::nullopt;
              // Mirroring doubles the extent on its way, and all but clamping add it to the index.
              constexpr double half = std::numeric_limits<std::int32_t>::max() / 2;
              if (!b || b->range.high >= half) return std::nullopt;
              if (n.op != kernel::IndexOp::Clamp && std::max(-a->range.low, a->range.high) >= half)
                return std::nullopt;
              const Expr call = kernel::index_call(n.op, a->e, b->e);
              if (n.op == kernel::IndexOp::FloorDiv) {
                const double least = std::max(b->range.low, 1.);
                return Narrow{call,
                              {std::floor(std::min(a->range.low, 0.) / least),
                               std::floor(std::max(a->range.high, 0.) / least)}};
              }
              return Narrow{call, {0, std::max(0., b->range.high - 1)}};
            },
            [](const kernel::Load&) -> std::optional<Narrow> { return std::nullopt; },
            [](const kernel::MedianOf&) -> std::optional<Narrow> { return std::nullopt; },
            [](const kernel::HalfOfSum&) -> std::optional<Narrow> { return std::nullopt; },
        },
        e->op);
    return result && fits(result->range) ? result : std::nullopt;
  }

  /// The lesser or the greater of two, where one of them does not fit, but brings the other nowhere that does not.
  std::optional<Narrow> limited(const kernel::Binary& n) {
    if (n.op != BinaryOp::Min && n.op != BinaryOp::Max) return std::nullopt;
    const ValueRange range = range_of_result(n.op, wide_range(n.a), wide_range(n.b));
    if (!fits(range)) return std::nullopt;
    const Expr wide = kernel::binary(n.op, rewritten(n.a), rewritten(n.b));
    return Narrow{kernel::cast(ir::CastMode::Convert, Scalar::I32, wide), range};
  }
  /// In 64 bits.
  ValueRange wide_range(const Expr& e) {
    const ValueRange all = range_of(Scalar::I64);
    if (const auto small = narrow(e)) return small->range;
    const auto* n = std::get_if<kernel::Binary>(&e->op);
    if (n == nullptr) return all;
    const ValueRange exact = range_of_result(n->op, wide_range(n->a), wide_range(n->b));
    return exact.within(all) ? exact : all;
  }

  /// Of the same type and value; what is narrow inside is widened.
  Expr rewritten(const Expr& e) {
    const auto known = rewritten_.find(e);
    return known != rewritten_.end() ? known->second : rewritten_[e] = find_rewritten(e);
  }
  Expr find_rewritten(const Expr& e) {
    if (const auto small = narrow(e)) {
      return kernel::literal_value(small->e) ? e : kernel::cast(ir::CastMode::Convert, Scalar::I64, small->e);
    }
    return std::visit(
        ir::overloaded{
            [&](const kernel::Unary& n) { return kernel::unary(n.op, rewritten(n.a)); },
            [&](const kernel::Binary& n) {
              const auto a = narrow(n.a), b = a ? narrow(n.b) : std::nullopt;
              if (b && ir::is_comparison(n.op)) return kernel::binary(n.op, a->e, b->e);
              return kernel::binary(n.op, rewritten(n.a), rewritten(n.b));
            },
            [&](const kernel::Select& n) {
              return kernel::select(rewritten(n.condition), rewritten(n.a), rewritten(n.b));
            },
            [&](const kernel::Cast& n) {
              const auto a = narrow(n.a);  // the same integer, so it converts to the same value
              const bool from_narrow = a && n.mode == ir::CastMode::Convert;
              return kernel::cast(n.mode, e->type, from_narrow ? a->e : rewritten(n.a));
            },
            [&](const kernel::IndexCall& n) {
              return kernel::index_call(n.op, rewritten(n.a), rewritten(n.b));
            },
            [&](const kernel::Load& n) { return kernel::load(n.array, e->type, rewritten(n.index)); },
            [&](const kernel::Const&) { return e; },
            [&](const kernel::Name&) { return e; },
            [&](const kernel::MedianOf&) { return e; },
            [&](const kernel::HalfOfSum& n) { return kernel::half_of_sum(rewritten(n.a), rewritten(n.b)); },
        },
        e->op);
  }

  std::set<Symbol> limited_, rooms_;
  std::map<Symbol, ValueRange> known_;  // names that are 32 bits wide here
  std::set<Symbol> used_;
  std::map<Symbol, std::vector<Expr>> assigned_;  // to variables that change
  // Found in the current statement. Either asks for the other: without these, twice for each level of it.
  std::unordered_map<Expr, std::optional<Narrow>> narrowed_;
  std::unordered_map<Expr, Expr> rewritten_;
};

}  // namespace

void narrow_indices(kernel::Module& module) {
  IndexNarrowing narrowing(module);
  for (kernel::Function& function : module.functions) narrowing.run(function);
  for (kernel::Field& size : module.sizes) {
    const bool used = std::any_of(module.functions.begin(), module.functions.end(), [&](const auto& f) {
      return std::find(f.narrow.begin(), f.narrow.end(), size.name) != f.narrow.end();
    });
    if (used) size.most = extent_limit;
  }
}

}  // namespace weft::kernel
