#include "kernel/narrow_arithmetic.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/stage_ir.h"
#include "kernel/build.h"
#include "kernel/value_ranges.h"
#include "kernel/visit.h"

namespace weft::kernel {

using ir::BinaryOp;
using ir::CastMode;

namespace {

/// The type of 16 bits that holds the values.
// An index and what is added to it fit 32 bits, and so does their sum.
constexpr std::int64_t most_index = 1 << 30;

std::optional<Scalar> small_type(const ValueRange& range) {
  for (const Scalar type : {Scalar::I16, Scalar::U16}) {
    if (range.within(range_of(type))) return type;
  }
  return std::nullopt;
}

bool is_small(Scalar type) { return !is_float(type) && size_of(type) <= 2; }

const Cast* as_conversion(const Expr& e) {
  const auto* cast = std::get_if<Cast>(&e->op);
  return cast && cast->mode == CastMode::Convert ? cast : nullptr;
}

/// Whether it has its type by a conversion or by itself, and no operation waits for it.
bool is_plain(const Expr& e) {
  if (const Cast* conversion = as_conversion(e)) return is_small(conversion->a->type);
  return std::holds_alternative<Const>(e->op) || std::holds_alternative<Name>(e->op) ||
         std::holds_alternative<Load>(e->op);
}

class ArithmeticNarrowing {
 public:
  explicit ArithmeticNarrowing(Function& function) : function_(function) {}

  void run() {
    look_at_arrays();
    // What is stored may itself be read from local arrays, so first their types' ranges hold.
    walk(function_.body, [&](Stmt& s) { note_stored(s); });
    ranges_.stored = std::move(found_);
    for (const auto& [name, range] : ranges_.stored) {
      const auto type = local_.count(name) && !pinned_.count(name) ? small_type(range) : std::nullopt;
      if (type && local_.at(name) == Scalar::I32) arrays_[name] = *type;
    }
    walk(function_.body, [&](Stmt& s) { rewrite(s); });
  }

 private:
  // ---- walking, with what is visible ----

  template <class Each>
  void walk(Block& block, const Each& each) {
    const auto names = ranges_.names;
    const auto points = ranges_.points;
    const auto types = names_;
    for (Stmt& s : block) {
      each(s);
      declare(s);
      const auto* loop = std::get_if<For>(&s.op);
      if (loop) ranges_.names.erase(loop->variable);
      const bool outer_loop = in_loop_, outer_small = in_small_;
      if (loop && loop->kind == LoopKind::Vector) in_loop_ = true, in_small_ = is_small_loop(loop->body);
      each_block(s, [&](Block& inside) { walk(inside, each); });
      in_loop_ = outer_loop, in_small_ = outer_small;
    }
    ranges_.names = names;
    ranges_.points = points;
    names_ = types;
  }

  void declare(const Stmt& s) {
    if (const auto* let = std::get_if<Let>(&s.op)) ranges_.declare(*let);
    if (const auto* pointer = std::get_if<Pointer>(&s.op)) {
      std::vector<Symbol> arrays = ranges_.arrays_of(pointer->array);
      if (pointer->unless)
        for (const Symbol& other : ranges_.arrays_of(pointer->instead)) arrays.push_back(other);
      ranges_.points[pointer->name] = arrays;
    }
  }

  /// Which arrays are local, and which of them keep their type: others point into them or use them whole.
  void look_at_arrays() {
    visit_statements(function_.body, [&](const Stmt& s) {
      if (const auto* array = std::get_if<LocalArray>(&s.op)) {
        if (local_.count(array->name)) pinned_.insert(array->name);
        local_[array->name] = array->type;
      } else if (std::holds_alternative<Store>(s.op) || std::holds_alternative<LookUp>(s.op)) {
        return;  // a place is one in any type
      } else {
        const Effects effects = effects_of(s);
        for (const auto* names : {&effects.reads, &effects.writes, &effects.mentions})
          pinned_.insert(names->begin(), names->end());
      }
    });
    visit_expressions(function_.body, [&](const Expr& e) {
      if (const auto* median = std::get_if<MedianOf>(&e->op)) pinned_.insert(median->array);
    });
  }

  void note_stored(const Stmt& s) {
    const auto* store = std::get_if<Store>(&s.op);
    if (!store) return;
    const ValueRange range = ranges_.of(store->value);
    for (const Symbol& array : ranges_.arrays_of(store->array)) {
      if (!local_.count(array)) continue;
      const auto [known, is_new] = found_.emplace(array, range);
      if (!is_new) known->second = hull(known->second, range);
    }
  }

  /// Whether nothing that it loads or stores is wider than 16 bits.
  bool is_small_loop(const Block& body) const {
    bool small = true;
    const auto type_of = [&](const Symbol& array, Scalar type) {
      const auto found = arrays_.find(array);
      return found == arrays_.end() ? type : found->second;
    };
    visit_expressions(body, [&](const Expr& e) {
      if (const auto* load = std::get_if<Load>(&e->op)) small &= is_small(type_of(load->array, e->type));
      small &= !is_float(e->type);
    });
    visit_statements(body, [&](const Stmt& s) {
      if (const auto* store = std::get_if<Store>(&s.op))
        small &= is_small(type_of(store->array, store->value->type));
    });
    return small;
  }

  // ---- rewriting ----

  void rewrite(Stmt& s) {
    if (auto* array = std::get_if<LocalArray>(&s.op)) {
      if (const auto found = arrays_.find(array->name); found != arrays_.end()) array->type = found->second;
    } else if (auto* let = std::get_if<Let>(&s.op)) {
      names_.erase(let->name);
      const auto type = let->value->type == Scalar::I32 && in_small_ && !let->is_mutable
                            ? small_type(ranges_.of(let->value))
                            : std::nullopt;
      let->value = type ? as(*type, let->value) : narrow(let->value);
      if (type) names_[let->name] = *type;
    } else if (auto* store = std::get_if<Store>(&s.op)) {
      const auto found = arrays_.find(store->array);
      store->index = narrow(store->index);
      store->value = found == arrays_.end() ? narrow(store->value) : as(found->second, store->value);
    } else {
      each_operand(s, [&](Expr& e) { e = narrow(e); });
    }
  }

  /// The type of 16 bits in which both can be computed with, where that is worth it.
  std::optional<Scalar> common(const Expr& a, const Expr& b) const {
    if (!in_small_ || a->type != Scalar::I32) return std::nullopt;
    return small_type(hull(ranges_.of(a), ranges_.of(b)));
  }

  /// The same value of the same type, with narrow parts.
  Expr narrow(const Expr& e) {
    return std::visit(
        ir::overloaded{
            [&](const Const&) { return e; },
            [&](const Name& n) {
              const auto found = names_.find(n.name);
              return found == names_.end() ? e
                                           : cast(CastMode::Convert, e->type, name(n.name, found->second));
            },
            [&](const Unary& n) {
              const auto type = n.op == ir::UnaryOp::Abs ? common(n.a, e) : std::nullopt;
              return type ? cast(CastMode::Convert, e->type, as(*type, e)) : unary(n.op, narrow(n.a));
            },
            [&](const Binary& n) { return narrow(e, n); },
            [&](const Select& n) {
              const auto type = common(n.a, n.b);
              return type ? cast(CastMode::Convert, e->type, as(*type, e))
                          : select(narrow(n.condition), narrow(n.a), narrow(n.b));
            },
            [&](const Cast& n) {
              if (surely_holds(e->type, n)) return fitting_cast(e->type, narrow(n.a));
              const auto type = n.mode == CastMode::Saturate ? common(n.a, n.a) : std::nullopt;
              if (!type)
                return n.mode == CastMode::Convert ? converted(e->type, narrow(n.a))
                                                   : cast(n.mode, e->type, narrow(n.a));
              const bool fits = ranges_.of(n.a).within(range_of(e->type));
              return fits ? converted(e->type, narrow(n.a))
                          : cast(CastMode::Saturate, e->type, as(*type, n.a));
            },
            [&](const IndexCall& n) { return narrow(e, n); },
            [&](const Load& n) {
              const auto found = arrays_.find(n.array);
              const Scalar type = found == arrays_.end() ? e->type : found->second;
              return cast(CastMode::Convert, e->type, load(n.array, type, narrow(n.index)));
            },
            [&](const MedianOf&) { return e; },
            [&](const HalfOfSum&) { return e; },
        },
        e->op);
  }

  /// Whether the type has the whole part of the float. (Ranges are too coarse for the ends of 64 bits.)
  bool surely_holds(Scalar type, const Cast& n) const {
    return n.mode == CastMode::Convert && is_float(n.a->type) && !is_float(type) && type != Scalar::Bool &&
           size_of(type) <= 4 && ranges_.of(n.a).within(range_of(type));
  }

  Expr narrow(const Expr& e, const Binary& n) {
    const bool chooses = n.op == BinaryOp::Min || n.op == BinaryOp::Max;
    const bool needs_all_bits = n.op == BinaryOp::Shr || n.op == BinaryOp::Div || n.op == BinaryOp::Rem;
    if (chooses) {
      if (const Expr whole = whole_of_clamped(e)) return whole;
      if (const auto type = common(n.a, n.b)) return cast(CastMode::Convert, e->type, as(*type, e));
    } else if (ir::is_comparison(n.op) && !(is_plain(n.a) && is_plain(n.b))) {
      if (const auto type = common(n.a, n.b)) return binary(n.op, as(*type, n.a), as(*type, n.b));
    } else if (const Binary* sum = halved_sum(n)) {
      return cast(CastMode::Convert, e->type, half_of_sum(as(Scalar::I16, sum->a), as(Scalar::I16, sum->b)));
    } else if (needs_all_bits && literal_value(n.b) && !is_plain(n.a)) {
      if (const auto type = common(n.a, n.a))
        return binary(n.op, cast(CastMode::Convert, e->type, as(*type, n.a)), n.b);
    }
    return binary(n.op, narrow(n.a), narrow(n.b));
  }

  /// min(max(whole part of a float, -3), 90) as the whole part of min(max(the float, -3), 90), which surely is within the
  /// integers. Of no number the whole part is 0, so that has to be between the two. Null: it is something else.
  Expr whole_of_clamped(const Expr& e) {
    constexpr std::int64_t most = 1 << 24;  // and all below are floats
    const auto bounded = [](const Expr& from, BinaryOp op) -> std::optional<std::pair<Expr, std::int64_t>> {
      const auto* n = std::get_if<Binary>(&from->op);
      const auto bound = n && n->op == op ? literal_value(n->b) : std::nullopt;
      if (!bound || std::abs(*bound) > most) return std::nullopt;
      return std::pair(n->a, *bound);
    };
    const auto high = bounded(e, BinaryOp::Min);
    const auto low = high ? bounded(high->first, BinaryOp::Max) : std::nullopt;
    const auto* whole = low ? std::get_if<Cast>(&low->first->op) : nullptr;
    const bool is_whole = whole && whole->mode == CastMode::Convert && is_float(whole->a->type);
    if (!is_whole || e->type != Scalar::I32 || low->second > 0 || high->second < 0) return nullptr;
    const auto number = [&](std::int64_t value) { return constant(whole->a->type, {.f = double(value)}); };
    const Expr clamped = binary(BinaryOp::Max, narrow(whole->a), number(low->second));
    return fitting_cast(e->type, binary(BinaryOp::Min, clamped, number(high->second)));
  }

  /// The sum that `n` is half of, if its two parts fit 16 bits and their sum may not: 30000 + 10000.
  const Binary* halved_sum(const Binary& n) const {
    const auto* sum = std::get_if<Binary>(&n.a->op);
    if (!in_small_ || n.a->type != Scalar::I32 || n.op != BinaryOp::Div || literal_value(n.b) != 2 || !sum ||
        sum->op != BinaryOp::Add || small_type(ranges_.of(n.a)))
      return nullptr;
    const ValueRange small = range_of(Scalar::I16);
    return ranges_.of(sum->a).within(small) && ranges_.of(sum->b).within(small) ? sum : nullptr;
  }

  /// clamp_index of what was no i64 before, or of a constant more.
  Expr narrow(const Expr& e, const IndexCall& n) {
    const auto [index_alone, more] = split_constant(n.a);
    const Cast* widened = as_conversion(index_alone);
    const auto extent = literal_value(n.b);
    const bool is_narrower = in_loop_ && widened && !is_float(widened->a->type) &&
                             widened->a->type != Scalar::Bool && size_of(widened->a->type) <= 4 &&
                             widened->a->type != Scalar::U32;
    if (n.op != IndexOp::Clamp || !is_narrower || !extent || *extent < 1 || *extent > most_index ||
        std::abs(more) > most_index)
      return index_call(n.op, narrow(n.a), narrow(n.b));
    const std::int64_t first = -more, last = *extent - 1 - more;
    const ValueRange inside{static_cast<double>(std::min<std::int64_t>(first, 0)),
                            static_cast<double>(std::max(last, *extent - 1))};
    const auto small = in_small_ ? small_type(hull(ranges_.of(widened->a), inside)) : std::nullopt;
    const Scalar type = small.value_or(Scalar::I32);
    const auto number = [&](std::int64_t value) { return constant(type, {.i = value}); };
    const Expr index = as(type, widened->a);
    const Expr from_first = ranges_.of(widened->a).low >= static_cast<double>(first)
                                ? index
                                : binary(BinaryOp::Max, index, number(first));
    const Expr clamped = binary(BinaryOp::Min, from_first, number(last));
    return cast(CastMode::Convert, e->type, offset(clamped, more));
  }

  /// The same value as a `type`, which holds its range.
  Expr as(Scalar type, const Expr& e) {
    if (e->type == type) return narrow(e);
    if (const Cast* conversion = as_conversion(e);
        conversion && !is_float(conversion->a->type) && ranges_.of(conversion->a).within(range_of(e->type)))
      return as(type, conversion->a);  // which changed nothing
    const auto fits = [&](const Expr& part) { return ranges_.of(part).within(range_of(type)); };
    const auto* n = std::get_if<Binary>(&e->op);
    if (n && (n->op == BinaryOp::Min || n->op == BinaryOp::Max) && fits(n->a) && fits(n->b))
      return binary(n->op, as(type, n->a), as(type, n->b));
    const auto* u = std::get_if<Unary>(&e->op);
    if (u && u->op == ir::UnaryOp::Abs && fits(u->a))
      return is_signed(type) ? unary(u->op, as(type, u->a)) : as(type, u->a);
    const auto* s = std::get_if<Select>(&e->op);
    if (s && fits(s->a) && fits(s->b)) return select(narrow(s->condition), as(type, s->a), as(type, s->b));
    return converted(type, narrow(e));
  }

  /// Without the way through a wider integer.
  static Expr converted(Scalar type, const Expr& e) {
    const Cast* widened = as_conversion(e);
    const bool is_detour = widened && !is_float(type) && !is_float(e->type) && !is_float(widened->a->type) &&
                           range_of(widened->a->type).within(range_of(e->type));
    return is_detour ? converted(type, widened->a) : cast(CastMode::Convert, type, e);
  }

  Function& function_;
  KnownRanges ranges_;
  std::map<Symbol, Scalar> local_;           // arrays, by the types that they had
  std::set<Symbol> pinned_;                  // arrays that keep it
  std::map<Symbol, ValueRange> found_;       // what is stored, so far
  std::map<Symbol, Scalar> arrays_, names_;  // those that have narrower types now
  bool in_loop_ = false, in_small_ = false;  // of vectors
};

}  // namespace

void narrow_arithmetic(Function& function) { ArithmeticNarrowing(function).run(); }

}  // namespace weft::kernel
