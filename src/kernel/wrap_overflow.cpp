#include "kernel/wrap_overflow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/stage_ir.h"
#include "ir/value.h"
#include "kernel/build.h"
#include "kernel/narrow_indices.h"
#include "kernel/value_ranges.h"
#include "kernel/visit.h"

namespace weft::kernel {

using ir::BinaryOp;

namespace {

/// Whether exact results surely fit. Near the ends of 64 bits, rounding hides by how much they do not.
bool surely_fits(const ValueRange& exact, Scalar type) {
  const ValueRange all = range_of(type);
  if (size_of(type) < 8) return exact.within(all);
  return exact.within({std::nextafter(all.low, 0), std::nextafter(all.high, 0)});
}

/// The most pixels of a row: addresses have 57 bits.
constexpr double longest_row = static_cast<double>(std::int64_t{1} << 57);

Expr as(Scalar type, const Expr& e) { return kernel::cast(ir::CastMode::Convert, type, e); }

class Wrapping {
 public:
  explicit Wrapping(const kernel::Module& module) {
    for (const kernel::Field& param : module.params) values_.insert(param.name);
    for (const kernel::Field& size : module.sizes) sizes_.push_back(size.name);
  }

  void run(kernel::Function& function) {
    known_.clear();
    assigned_ = assigned_in(function.body);
    for (const Symbol& size : sizes_) known_[size] = {0, longest_row};
    for (const Symbol& size : function.narrow) known_[size] = {0, static_cast<double>(extent_limit)};
    block(function.body);
  }

 private:
  struct Result {
    Expr e;
    ValueRange range;
    bool is_value = true;  ///< Made of what may be any number: pixels, parameters, what overflowed.
  };

  /// What a loop counts: 25 / 8 = 3 parts of 8 begin at 0, 8 and 16, before the end of 25.
  struct Parts {
    Expr size;
    double end = 0;
  };

  // ---- statements ----

  void block(Block& statements) {
    const auto outer = known_;
    for (std::size_t s = 0; s < statements.size(); ++s) {
      if (const auto* array = std::get_if<kernel::LocalArray>(&statements[s].op))
        declare(*array, statements, s);
      rewrite(statements[s]);
    }
    known_ = outer;
  }

  /// What is in an array is known where one statement alone stores it, before it is loaded.
  void declare(const kernel::LocalArray& array, const Block& statements, std::size_t at) {
    stored_.erase(array.name), stored_once_.erase(array.name);
    int stores = 0;
    const Block rest(statements.begin() + static_cast<std::ptrdiff_t>(at) + 1, statements.end());
    kernel::visit_statements(rest, [&](const kernel::Stmt& s) {
      const kernel::Effects effects = kernel::effects_of(s);
      stores += static_cast<int>(std::count(effects.writes.begin(), effects.writes.end(), array.name));
      const auto* pointer = std::get_if<kernel::Pointer>(&s.op);
      if (pointer && (pointer->array == array.name || pointer->instead == array.name)) stores += 2;
    });
    if (stores == 1 && !array.is_zeroed) stored_once_.insert(array.name);
  }

  void rewrite(kernel::Let& s) {
    const Result value = wrapped(s.value);
    s.value = value.e;
    if (value.is_value) values_.insert(s.name);
    ValueRange throughout = value.range;  // of a variable that changes, by what is known here
    if (s.is_mutable) {
      for (const Expr& later : assigned_[s.name]) throughout = hull(throughout, wrapped(later).range);
      if (!surely_fits(throughout, s.value->type)) values_.insert(s.name);
    }
    known_[s.name] = throughout;
  }
  void rewrite(kernel::Assign& s) { s.value = wrapped(s.value).e; }
  void rewrite(kernel::For& s) {
    const Result from = wrapped(s.from), to = wrapped(s.to);
    s.from = from.e, s.to = to.e;
    if (s.step) s.step = wrapped(s.step).e;
    const auto outer = known_;
    known_[s.variable] = {from.range.low, std::max(from.range.low, to.range.high - 1)};
    const auto* quotient = std::get_if<kernel::Binary>(&to.e->op);
    const bool counts_parts = quotient && quotient->op == BinaryOp::Div && from.range.low >= 0;
    if (counts_parts) parts_[s.variable] = {quotient->b, wrapped(quotient->a).range.high};
    block(s.body);
    known_ = outer;
    parts_.erase(s.variable);
  }
  void rewrite(kernel::Store& s) {
    s.index = wrapped(s.index).e;
    const Result value = wrapped(s.value);
    s.value = value.e;
    if (stored_once_.count(s.array)) stored_[s.array] = value.range;
  }
  void rewrite(kernel::Stmt& s) {
    if (auto* store = std::get_if<kernel::Store>(&s.op)) return rewrite(*store);
    if (auto* let = std::get_if<kernel::Let>(&s.op)) return rewrite(*let);
    if (auto* assign = std::get_if<kernel::Assign>(&s.op)) return rewrite(*assign);
    if (auto* loop = std::get_if<kernel::For>(&s.op)) return rewrite(*loop);
    kernel::each_operand(s, [&](Expr& e) { e = wrapped(e).e; });
    kernel::each_block(s, [&](Block& inside) { block(inside); });
  }

  // ---- expressions ----

  Result wrapped(const Expr& e) {
    Result r = std::visit(
        ir::overloaded{
            [&](const kernel::Const& n) {
              return Result{e, range_of_constant(e->type, n.value), false};
            },
            [&](const kernel::Name& n) {
              const auto found = known_.find(n.name);
              return Result{e, found == known_.end() ? range_of(e->type) : found->second,
                            values_.count(n.name) > 0};
            },
            [&](const kernel::Unary& n) {
              const Result a = wrapped(n.a);
              if (n.op != ir::UnaryOp::Neg)
                return Result{kernel::unary(n.op, a.e), range_of(e->type), a.is_value};
              return arithmetic(kernel::unary(n.op, a.e), {-a.range.high, -a.range.low}, {a});
            },
            [&](const kernel::Binary& n) {
              const Result a = wrapped(n.a), b = wrapped(n.b);
              const Expr same = kernel::binary(n.op, a.e, b.e);
              if (ir::is_comparison(n.op)) return Result{same, {0, 1}, a.is_value || b.is_value};
              const ValueRange exact = is_float(e->type) ? range_of_float_result(n, e->type, a.range, b.range)
                                                         : range_of_integers(n.op, a, b);
              return arithmetic(same, exact, {a, b});
            },
            [&](const kernel::Select& n) {
              const Result a = wrapped(n.a), b = wrapped(n.b), condition = wrapped(n.condition);
              return Result{kernel::select(condition.e, a.e, b.e), hull(a.range, b.range),
                            a.is_value || b.is_value || condition.is_value};
            },
            [&](const kernel::Cast& n) {
              const Result a = wrapped(n.a);
              return Result{kernel::cast(n.mode, e->type, a.e), range_of_cast(n, e->type, a.range),
                            a.is_value || is_float(n.a->type)};
            },
            [&](const kernel::IndexCall& n) {
              const Result a = wrapped(n.a), b = wrapped(n.b);
              const ValueRange range =
                  n.op == kernel::IndexOp::FloorDiv
                      ? ValueRange{std::min(a.range.low, 0.0), std::max(a.range.high, 0.0)}
                      : ValueRange{0, std::max(0.0, b.range.high - 1)};
              return Result{kernel::index_call(n.op, a.e, b.e), range, a.is_value};
            },
            [&](const kernel::Load& n) {
              const auto found = stored_.find(n.array);
              const ValueRange range = found == stored_.end() ? range_of(e->type) : found->second;
              return Result{kernel::load(n.array, e->type, wrapped(n.index).e), range};
            },
            [&](const kernel::MedianOf&) {
              return Result{e, range_of(e->type)};
            },
            [&](const kernel::HalfOfSum&) {
              return Result{e, range_of(e->type)};
            },
        },
        e->op);
    // Also what a conversion cut off.
    if (!r.range.within(range_of(e->type))) r.range = range_of(e->type);
    // As indices do, it fits with any stride.
    if (r.range.within({0, static_cast<double>(extent_limit)})) r.is_value = false;
    return r;
  }

  ValueRange range_of_integers(BinaryOp op, const Result& a, const Result& b) const {
    const auto* number = std::get_if<kernel::Name>(&a.e->op);
    const auto part = number && op == BinaryOp::Mul ? parts_.find(number->name) : parts_.end();
    if (part != parts_.end() && kernel::same(part->second.size, b.e)) return {0, part->second.end};
    return range_of_result(op, a.range, b.range);
  }

  /// The operation, by unsigned numbers if its exact result may not fit. Places in memory fit, and are made with strides: of
  /// all other numbers that are no values the ranges are known.
  static Result arithmetic(const Expr& e, const ValueRange& exact, std::initializer_list<Result> operands) {
    bool is_value = false, is_known = true;
    for (const Result& operand : operands) {
      is_value |= operand.is_value;
      is_known &= surely_fits(operand.range, operand.e->type);
    }
    const bool is_integer = e->type == Scalar::I32 || e->type == Scalar::I64;
    const bool is_place = e->type == Scalar::I64 && !is_value && !is_known;
    if (!is_integer || is_place || surely_fits(exact, e->type)) return {e, exact, is_value};
    const Scalar modular = e->type == Scalar::I32 ? Scalar::U32 : Scalar::U64;
    if (const auto* n = std::get_if<kernel::Unary>(&e->op)) {
      const Expr zero = kernel::constant(modular, {.i = 0});
      return {as(e->type, kernel::binary(BinaryOp::Sub, zero, as(modular, n->a))), exact};
    }
    const auto& n = std::get<kernel::Binary>(e->op);
    if (n.op != BinaryOp::Add && n.op != BinaryOp::Sub && n.op != BinaryOp::Mul) return {e, exact};
    return {as(e->type, kernel::binary(n.op, unsigned_part(modular, n.a), unsigned_part(modular, n.b))),
            exact};
  }

  /// Sums of sums do not go back and forth.
  static Expr unsigned_part(Scalar modular, const Expr& e) {
    const auto* cast = std::get_if<kernel::Cast>(&e->op);
    const bool was_wrapped = cast && cast->mode == ir::CastMode::Convert && cast->a->type == modular;
    if (was_wrapped) return cast->a;
    const auto* literal = std::get_if<kernel::Const>(&e->op);
    if (literal && literal->value.lane[0].i >= 0) return kernel::constant(modular, literal->value.lane[0]);
    return as(modular, e);
  }

  std::vector<Symbol> sizes_;
  std::map<Symbol, Parts> parts_;                 // whose number is a variable
  std::map<Symbol, ValueRange> known_;            // names that are visible here
  std::map<Symbol, std::vector<Expr>> assigned_;  // to those that change
  std::map<Symbol, ValueRange> stored_;           // in local arrays
  std::set<Symbol> stored_once_;                  // of these, by one statement
  std::set<Symbol> values_;                       // names of what may be any number
};

}  // namespace

void wrap_overflow(kernel::Module& module) {
  for (kernel::Function& function : module.functions) Wrapping(module).run(function);
}

}  // namespace weft::kernel
